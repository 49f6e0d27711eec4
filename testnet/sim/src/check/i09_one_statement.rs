//! I9: an honest node never signs two different statements for one height, round and step, also
//! across a crash and a restart.
//!
//! Every own vote and proposal of a node is compared with its earlier ones, in all of its lives. A
//! node has its statements safe on disk before it sends them, so a power loss is no excuse.

use super::{Check, Sight};
use crate::found::validator_key;
use crate::world::World;
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::ids::{BlockId, ValidatorId};
use gridbay_protocol::validator::validator_id;
use std::collections::BTreeMap;

/// The statement's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Proposal,
    Prevote,
    Precommit,
}

/// A statement: where, what, by whom.
pub(super) type Statement = (
    (u64, u32, Step),
    (Option<BlockId>, Option<u32>),
    ValidatorId,
);

/// The vote or proposal that bytes are; nothing else is parsed.
pub(super) fn statement(bytes: &[u8]) -> Option<Statement> {
    const VOTE: &[u8] = b"\xa1\x64vote";
    const PROPOSAL: &[u8] = b"\xa1\x68proposal";
    if !bytes.starts_with(VOTE) && !bytes.starts_with(PROPOSAL) {
        return None;
    }
    match HostMessage::decode(bytes).ok()? {
        HostMessage::Vote(signed) => {
            use gridbay_protocol::vote::VoteKind;
            let vote = signed.vote;
            let step = match vote.kind {
                VoteKind::Prevote => Step::Prevote,
                VoteKind::Precommit => Step::Precommit,
            };
            let place = (vote.height, vote.round, step);
            Some((place, (vote.block, None), vote.validator))
        }
        HostMessage::Proposal(offered) => {
            let proposal = offered.signed.proposal;
            let place = (proposal.height, proposal.round, Step::Proposal);
            let what = (Some(proposal.block), proposal.valid_round);
            Some((place, what, proposal.validator))
        }
        _ => None,
    }
}

type Said = BTreeMap<(u64, u32, Step), (Option<BlockId>, Option<u32>)>;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct OneStatement {
    nodes: BTreeMap<usize, (ValidatorId, Said)>,
}

impl OneStatement {
    fn said(&mut self, node: usize, (place, what, by): Statement) -> Result<(), String> {
        let own = || (validator_id(&validator_key(node).public()), Said::new());
        let (id, said) = self.nodes.entry(node).or_insert_with(own);
        if *id != by {
            return Ok(());
        }
        let before = *said.entry(place).or_insert(what);
        if before != what {
            return Err(format!(
                "validator {node} says {what:?} for {place:?} and has said {before:?}"
            ));
        }
        Ok(())
    }
}

impl Check for OneStatement {
    fn id(&self) -> &'static str {
        "I9"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                for effect in *effects {
                    let (Effect::Broadcast { bytes } | Effect::Send { bytes, .. }) = effect else {
                        continue;
                    };
                    if let Some(statement) = statement(bytes) {
                        self.said(*node, statement)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_host::message::SignedVote;
    use gridbay_protocol::ids::NetworkId;
    use gridbay_protocol::vote::{Vote, VoteKind};

    fn vote(block: Option<u8>, round: u32) -> Statement {
        let key = validator_key(2);
        let vote = Vote {
            kind: VoteKind::Precommit,
            height: 5,
            round,
            block: block.map(|n| BlockId([n; 32])),
            validator: validator_id(&key.public()),
        };
        let signed = SignedVote::new(vote, &NetworkId([1; 32]), &key);
        statement(&HostMessage::Vote(signed).encode()).unwrap()
    }

    #[test]
    fn two_votes_for_one_step_are_reported() {
        let mut check = OneStatement::default();
        assert_eq!(check.said(2, vote(Some(1), 0)), Ok(()));
        assert_eq!(check.said(2, vote(Some(1), 0)), Ok(()), "repeated");
        assert_eq!(check.said(2, vote(None, 1)), Ok(()), "another round");
        assert!(check.said(2, vote(Some(2), 0)).is_err());
        assert!(check.said(2, vote(None, 0)).is_err());
        assert_eq!(check.said(3, vote(Some(2), 0)), Ok(()), "passed on");
    }
}
