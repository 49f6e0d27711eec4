//! Proposes blocks that break the rules: another price, allocation or payment under the root of
//! effects, a bid that was opened missing from the clearing, other roots, another's name, another
//! reveal, another time, other validators, entries dropped, doubled or swapped, a quorum that never
//! was.
//!
//! Attacks I1, I5 and I16. Every validator executes the block before it votes; a block that differs
//! anywhere gets no vote, and the round goes to the next proposer.

use super::craft::{Instead, flip, said, say_instead, with_entries};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_ledger::{CheckedBlock, log};
use gridbay_protocol::block::Block;
use gridbay_protocol::effect::Effect as LedgerEffect;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::units::Credits;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct WrongClearing {
    instead: Instead,
    claims: u64,
}

fn more(amount: Credits) -> Credits {
    amount
        .checked_add(Credits::from_micros(1).unwrap_or_default())
        .unwrap_or_default()
}

/// Changes something in the effects; false if there is nothing of the kind.
fn forge(effects: &mut Vec<LedgerEffect>, kind: u64) -> bool {
    let clearing = effects.iter_mut().find_map(|effect| match effect {
        LedgerEffect::Clearing(record) => Some(record),
        _ => None,
    });
    match (kind, clearing) {
        (0, Some(record)) => {
            let award = record.awards.first_mut();
            award.map(|award| award.pay = more(award.pay)).is_some()
        }
        (1, Some(record)) => {
            let award = record.awards.first_mut();
            award.map(|award| award.units += 1).is_some()
        }
        (2, Some(record)) => record.bids.pop().is_some(),
        (3, Some(record)) => {
            let sold = record.sold.first_mut();
            sold.map(|sold| sold.earns = more(sold.earns)).is_some()
        }
        _ => effects.pop().is_some(),
    }
}

/// A block whose effects are forged, and its root of effects with them.
fn forged(puppet: &mut Puppet<'_>, block: &Block) -> Option<Block> {
    let network = puppet.network();
    let checked = CheckedBlock::check(&network, block.clone(), |_, _| None).ok()?;
    let mut effects = puppet.state().execute(&checked).ok()?.effects().to_vec();
    let kind = puppet.rng.below(5);
    if !forge(&mut effects, kind) {
        return None;
    }
    let leaves: Vec<[u8; 32]> = effects.iter().map(LedgerEffect::leaf).collect();
    let mut block = block.clone();
    block.header.effects_root = Hash32(log::merkle_root(&leaves));
    Some(block)
}

/// A block whose header says something else than its body does.
fn misnamed(puppet: &mut Puppet<'_>, block: &Block) -> Block {
    let mut block = block.clone();
    let (n, header) = (puppet.rng.bits(), &mut block.header);
    match puppet.rng.below(15) {
        0 => flip(&mut header.state_root, n),
        1 => flip(&mut header.effects_root, n),
        2 => flip(&mut header.log_root, n),
        3 => flip(&mut header.validators, n),
        4 => flip(&mut header.next_validators, n),
        5 => flip(&mut header.beacon_reveal, n),
        6 => flip(&mut header.entries_root, n),
        7 => flip(&mut header.last_commit, n),
        8 => flip(&mut header.evidence_root, n),
        9 => flip(&mut header.hints_root, n),
        10 => header.parent.0[0] ^= 1,
        11 => header.rules += 1,
        12 => header.time_ms = header.time_ms.saturating_add(1),
        13 => header.network.0[0] ^= 1,
        _ => {
            let members = puppet.core.state().validators().members();
            let other = members.iter().find(|m| m.id != header.proposer);
            header.proposer = other.map_or(header.proposer, |m| m.id);
        }
    }
    block
}

/// A block with other entries than its roots of state and effects come from.
fn meddled(puppet: &mut Puppet<'_>, block: &Block) -> Option<Block> {
    let entries = block.entries.len();
    let at = puppet.rng.index(entries);
    match puppet.rng.below(3) {
        0 if entries >= 1 => Some(with_entries(block.clone(), |e| drop(e.remove(at)))),
        1 if entries >= 2 => Some(with_entries(block.clone(), |e| e.swap(0, 1))),
        2 if entries >= 1 => Some(with_entries(block.clone(), |e| e.insert(at, e[at].clone()))),
        _ => None,
    }
}

impl WrongClearing {
    /// Says of some proposals that the block had a quorum of prevotes in a round, past or to come.
    fn claim(&mut self, puppet: &mut Puppet<'_>, mut effects: Vec<Effect>) -> Vec<Effect> {
        let own = puppet.validator();
        for effect in &mut effects {
            let Some(HostMessage::Proposal(offered)) = said(effect) else {
                continue;
            };
            let mut proposal = offered.signed.proposal;
            if proposal.validator != own || !puppet.rng.chance(200_000) {
                continue;
            }
            let round = proposal.round;
            let rounds = [0, round.saturating_sub(1), round, round + 1, u32::MAX];
            proposal.valid_round = puppet.rng.pick(&rounds).copied();
            let body = offered.body.map(|body| puppet.whole(&body));
            *effect = say_instead(effect, &puppet.proposal(proposal, body));
            self.claims += 1;
        }
        effects
    }
}

impl Lie for WrongClearing {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let effects = self.claim(puppet, effects);
        self.instead.bend(puppet, effects, |puppet, block| {
            if block.header.height != puppet.state().height() + 1 {
                return None;
            }
            let wrong = match puppet.rng.below(4) {
                // A block in four is right, so that it is not known for what it is.
                0 => return None,
                1 => forged(puppet, block),
                2 => meddled(puppet, block),
                _ => None,
            };
            wrong.or_else(|| Some(misnamed(puppet, block)))
        })
    }
    fn deeds(&self) -> u64 {
        self.instead.count + self.claims
    }
}
