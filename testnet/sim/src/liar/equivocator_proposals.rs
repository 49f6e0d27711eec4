//! Makes two blocks of its own for one round, both right by the ledger's rules, and shows each to
//! one half of the validators; one node sees both. Its votes agree with whatever each peer was
//! shown.
//!
//! Attacks I2 and I3. Honest nodes notice because every proposal is relayed to all: two for one
//! round are an equivocation, neither block gets a quorum unless all who hear both prefer the same,
//! and the next round has another proposer.

use super::craft::said;
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::block::Block;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::vote::{Proposal, Vote};
use std::collections::BTreeSet;

/// The two blocks of one height.
#[derive(Debug)]
struct Pair {
    made: BlockId,
    other: BlockId,
    /// Nodes that are shown the other block.
    fooled: BTreeSet<usize>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct EquivocatorProposals {
    pair: Option<Pair>,
    deeds: u64,
}

/// Another right block: of another time, or without one entry or one piece of evidence.
fn other_block(puppet: &mut Puppet<'_>, block: &Block) -> Option<Block> {
    let (later, which) = (puppet.rng.chance(500_000), puppet.rng.bits() as usize);
    puppet.redraft(block, |draft| {
        if later || draft.entries.is_empty() {
            draft.time_ms += 1;
        } else {
            draft.entries.remove(which % draft.entries.len());
        }
    })
}

impl EquivocatorProposals {
    fn show(
        &mut self,
        puppet: &mut Puppet<'_>,
        proposal: Proposal,
        block: &Block,
    ) -> Option<Vec<Effect>> {
        let other = other_block(puppet, block).filter(|other| other.id() != block.id())?;
        let voters = puppet.voters();
        let mut fooled = BTreeSet::new();
        fooled.extend(
            voters
                .iter()
                .copied()
                .filter(|_| puppet.rng.chance(500_000)),
        );
        let rival = Proposal {
            block: other.id(),
            ..proposal
        };
        let one = puppet.proposal(proposal, Some(block.clone()));
        let two = puppet.proposal(rival, Some(other));
        let both = puppet.rng.pick(&voters).copied();
        let mut out = Vec::new();
        for to in voters {
            let shown = if fooled.contains(&to) { &two } else { &one };
            out.push(puppet.send(to, shown));
            if both == Some(to) {
                let unshown = if fooled.contains(&to) { &one } else { &two };
                out.push(puppet.send(to, unshown));
            }
        }
        self.deeds += 1;
        self.pair = Some(Pair {
            made: proposal.block,
            other: rival.block,
            fooled,
        });
        Some(out)
    }
    /// Tells each half what it wants to hear.
    fn vote(&self, puppet: &Puppet<'_>, vote: Vote) -> Option<Vec<Effect>> {
        let pair = self.pair.as_ref()?;
        if vote.block != Some(pair.made) {
            return None;
        }
        let block = Some(pair.other);
        let (one, two) = (puppet.vote(vote), puppet.vote(Vote { block, ..vote }));
        let said = |to: &usize| if pair.fooled.contains(to) { &two } else { &one };
        let voters = puppet.voters();
        Some(voters.iter().map(|to| puppet.send(*to, said(to))).collect())
    }
}

impl Lie for EquivocatorProposals {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let own = puppet.validator();
        let mut out = Vec::new();
        for effect in effects {
            let lie = match said(&effect) {
                Some(HostMessage::Proposal(offered))
                    if offered.signed.proposal.validator == own =>
                {
                    let proposal = offered.signed.proposal;
                    let whole = offered.body.map(|body| puppet.whole(&body));
                    whole.and_then(|block| self.show(puppet, proposal, &block))
                }
                Some(HostMessage::Vote(signed)) if signed.vote.validator == own => {
                    self.vote(puppet, signed.vote)
                }
                _ => None,
            };
            out.extend(lie.unwrap_or_else(|| vec![effect]));
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
