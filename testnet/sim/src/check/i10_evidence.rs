//! I10: injected equivocation yields verifiable evidence naming the signers; an honest node is
//! never named.
//!
//! 1. Evidence in a block names liars only. (That no honest node is blamed by a peer, the world
//!    itself watches.)
//! 2. If two rightly signed votes of a liar for one step reach an honest validator from the liar
//!    itself while that validator runs their height, it is a witness until its process ends. A deed
//!    that most of the honest validators witnessed, long enough before the end for each of them to
//!    have had turns, has convicted the liar in a block at the end: of this deed or of another at
//!    that height, as consensus keeps three deeds of a validator and height.

use super::i09_one_statement::{Statement, Step, statement};
use super::{Check, Sight};
use crate::found::validator_key;
use crate::world::World;
use gridbay_host::message::HostMessage;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::{BlockId, ValidatorId};
use gridbay_protocol::validator::validator_id;
use std::collections::{BTreeMap, BTreeSet};

/// A deed: who, at which step.
type Deed = (ValidatorId, (u64, u32, Step));

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Convictions {
    /// The first vote of each deed that each validator heard.
    heard: BTreeMap<(usize, Deed), Option<BlockId>>,
    witnesses: BTreeMap<Deed, BTreeSet<usize>>,
    /// The validators convicted of something at a height.
    convicted: BTreeSet<(ValidatorId, u64)>,
    height: u64,
}

impl Convictions {
    fn evidence(&mut self, item: &Evidence, honest: &[ValidatorId]) -> Result<(), String> {
        let vote = item.first;
        if honest.contains(&vote.validator) {
            let (height, round) = (vote.height, vote.round);
            return Err(format!(
                "evidence names honest {} for {height}/{round}",
                vote.validator
            ));
        }
        self.convicted.insert((vote.validator, vote.height));
        Ok(())
    }
    /// A validator that runs a vote's height hears it.
    fn heard(&mut self, node: usize, liar: ValidatorId, (place, what, by): Statement) {
        if by != liar || place.2 == Step::Proposal {
            return;
        }
        let deed = (by, place);
        let first = *self.heard.entry((node, deed)).or_insert(what.0);
        if first != what.0 {
            self.witnesses.entry(deed).or_default().insert(node);
        }
    }
    fn forget(&mut self, node: usize) {
        self.heard.retain(|(n, _), _| *n != node);
        for witnesses in self.witnesses.values_mut() {
            witnesses.remove(&node);
        }
    }
    /// Step 2, of `honest` validators out of `validators`.
    fn judge(&self, honest: usize, validators: usize) -> Result<(), String> {
        let turns = 4 * validators as u64;
        for ((liar, place), witnesses) in &self.witnesses {
            let seen = 2 * witnesses.len() > honest && place.0 + turns < self.height;
            if seen && !self.convicted.contains(&(*liar, place.0)) {
                return Err(format!(
                    "{liar} equivocated at {place:?}, {witnesses:?} saw it, no block says so"
                ));
            }
        }
        Ok(())
    }
}

fn id(node: usize) -> ValidatorId {
    validator_id(&validator_key(node).public())
}

/// Whether a liar's vote is signed as it should be: one with a worthless signature convicts nobody.
fn is_signed(world: &World, liar: usize, bytes: &[u8]) -> bool {
    let Ok(HostMessage::Vote(signed)) = HostMessage::decode(bytes) else {
        return false;
    };
    let key = validator_key(liar).public();
    signed.verify(&world.network(), &key).is_ok()
}

impl Check for Convictions {
    fn id(&self) -> &'static str {
        "I10"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => {
                self.height = fact.height;
                let evidence = &fact.decided.block.evidence;
                if evidence.is_empty() {
                    return Ok(());
                }
                let honest: Vec<_> = world
                    .honest()
                    .filter(|n| *n < world.plan.validators)
                    .collect();
                let honest: Vec<_> = honest.into_iter().map(id).collect();
                evidence.iter().try_for_each(|e| self.evidence(e, &honest))
            }
            Sight::Heard { node, liar, bytes }
                if *node < world.plan.validators && *liar < world.plan.validators =>
            {
                let Some(found) = statement(bytes) else {
                    return Ok(());
                };
                let core = world.core(*node);
                let here = core.filter(|c| c.state().height() + 1 == found.0.0);
                let round = here.and_then(|core| core.host().round());
                let runs = round.is_some_and(|round| found.0.1 == round);
                if runs && is_signed(world, *liar, bytes) {
                    self.heard(*node, id(*liar), found);
                }
                Ok(())
            }
            Sight::Down { node } => {
                self.forget(*node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        let validators = world.plan.validators;
        let honest = world.honest().filter(|n| *n < validators).count();
        self.judge(honest, validators)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::Signature;
    use gridbay_protocol::vote::{Vote, VoteKind};

    fn vote(block: u8) -> Vote {
        Vote {
            kind: VoteKind::Prevote,
            height: 5,
            round: 0,
            block: Some(BlockId([block; 32])),
            validator: id(1),
        }
    }
    fn said(block: u8) -> Statement {
        let what = (Some(BlockId([block; 32])), None);
        ((5, 0, Step::Prevote), what, id(1))
    }
    fn evidence() -> Evidence {
        let signature = Signature([0; 64]);
        Evidence::new((vote(1), signature), (vote(2), signature))
    }

    #[test]
    fn an_honest_node_named_is_reported() {
        let mut check = Convictions::default();
        assert_eq!(check.evidence(&evidence(), &[id(0)]), Ok(()));
        assert!(check.evidence(&evidence(), &[id(0), id(1)]).is_err());
    }

    #[test]
    fn a_deed_without_evidence_is_reported() {
        let mut check = Convictions {
            height: 100,
            ..Convictions::default()
        };
        for node in [0, 2, 3] {
            check.heard(node, id(1), said(1));
            check.heard(node, id(1), said(1));
        }
        assert_eq!(check.judge(3, 4), Ok(()), "one vote is no deed");
        for node in [0, 2] {
            check.heard(node, id(1), said(2));
        }
        assert!(check.judge(3, 4).is_err());
        check.forget(0);
        assert_eq!(check.judge(3, 4), Ok(()), "too few witnesses are left");
        check.heard(3, id(1), said(2));
        assert!(check.judge(3, 4).is_err());
        assert_eq!(check.evidence(&evidence(), &[]), Ok(()));
        assert_eq!(check.judge(3, 4), Ok(()));
    }
}
