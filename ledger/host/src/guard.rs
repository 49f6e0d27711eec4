//! The sign-guard: the only holder of the consensus key.
//!
//! Consensus signs in ascending order of (height, round, step) with the steps proposal, prevote,
//! precommit. The guard knows every statement signed at the current height. It
//!
//! 1. refuses heights below the current one;
//! 2. gives the same statement the same signature again;
//! 3. refuses a different statement for a (round, step) already signed;
//! 4. refuses a (round, step) below the highest one signed.
//!
//! Every statement goes to the journal before its signature leaves the node, and [`Guard::recall`]
//! feeds the journal back after a restart, so the rules hold across crashes.

use crate::fault::Fault;
use crate::message::{SignedProposal, SignedVote};
use gridbay_protocol::ids::{BlockId, EntryId, NetworkId, ValidatorId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::{Proposal, Vote, VoteKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that a validator signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Statement {
    /// A proposal.
    Proposal(SignedProposal),
    /// A vote.
    Vote(SignedVote),
}

impl Statement {
    /// Its round.
    pub(crate) fn round(&self) -> u32 {
        match self {
            Statement::Proposal(signed) => signed.proposal.round,
            Statement::Vote(signed) => signed.vote.round,
        }
    }
    /// The block that it precommits, if it does.
    pub(crate) fn precommits(&self) -> Option<BlockId> {
        match self {
            Statement::Vote(signed) if signed.vote.kind == VoteKind::Precommit => signed.vote.block,
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Proposal,
    Prevote,
    Precommit,
}

/// The contents of a statement besides its (height, round, step).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    block: Option<BlockId>,
    valid_round: Option<u32>,
}

/// The key and the memory of what it signed.
#[derive(Debug)]
pub(crate) struct Guard {
    network: NetworkId,
    key: SecretKey,
    height: u64,
    said: BTreeMap<(u32, Step), Said>,
}

fn of_vote(vote: &Vote) -> (u64, (u32, Step), Said) {
    let step = match vote.kind {
        VoteKind::Prevote => Step::Prevote,
        VoteKind::Precommit => Step::Precommit,
    };
    let said = Said {
        block: vote.block,
        valid_round: None,
    };
    (vote.height, (vote.round, step), said)
}

fn of_proposal(proposal: &Proposal) -> (u64, (u32, Step), Said) {
    let said = Said {
        block: Some(proposal.block),
        valid_round: proposal.valid_round,
    };
    (proposal.height, (proposal.round, Step::Proposal), said)
}

impl Guard {
    /// A guard that has signed nothing from `height` on.
    pub(crate) fn new(network: NetworkId, key: SecretKey, height: u64) -> Guard {
        Guard {
            network,
            key,
            height,
            said: BTreeMap::new(),
        }
    }
    /// The validator whose key this is.
    pub(crate) fn validator(&self) -> ValidatorId {
        validator_id(&self.key.public())
    }
    /// The public half of the key.
    pub(crate) fn public(&self) -> PublicKey {
        self.key.public()
    }
    /// The lowest height it signs for.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }
    /// Moves on: statements below `height` are refused from now on.
    pub(crate) fn advance(&mut self, height: u64) {
        if height > self.height {
            self.height = height;
            self.said.clear();
        }
    }
    /// Takes note of a statement signed before a restart.
    pub(crate) fn recall(&mut self, statement: &Statement) {
        let (height, place, said) = match statement {
            Statement::Proposal(signed) => of_proposal(&signed.proposal),
            Statement::Vote(signed) => of_vote(&signed.vote),
        };
        self.advance(height);
        if height == self.height {
            self.said.insert(place, said);
        }
    }
    fn permit(&mut self, statement: (u64, (u32, Step), Said)) -> Result<(), Fault> {
        let (height, place, said) = statement;
        let conflict = Fault::WouldEquivocate {
            height,
            round: place.0,
        };
        if height < self.height {
            return Err(conflict);
        }
        self.advance(height);
        if let Some(before) = self.said.get(&place) {
            return if *before == said {
                Ok(())
            } else {
                Err(conflict)
            };
        }
        if self
            .said
            .last_key_value()
            .is_some_and(|(last, _)| *last > place)
        {
            return Err(conflict);
        }
        self.said.insert(place, said);
        Ok(())
    }
    /// Signs a receipt. Two receipts of one entry contradict nothing.
    pub(crate) fn sign_receipt(&self, entry: EntryId, height: u64) -> SignedReceipt {
        let receipt = Receipt {
            entry,
            height,
            validator: self.validator(),
        };
        SignedReceipt::new(receipt, &self.network, &self.key)
    }
    /// Signs a vote, unless that could contradict anything signed before.
    pub(crate) fn sign_vote(&mut self, vote: Vote) -> Result<SignedVote, Fault> {
        self.permit(of_vote(&vote))?;
        Ok(SignedVote::new(vote, &self.network, &self.key))
    }
    /// Signs a proposal, unless that could contradict anything signed before.
    pub(crate) fn sign_proposal(&mut self, proposal: Proposal) -> Result<SignedProposal, Fault> {
        self.permit(of_proposal(&proposal))?;
        Ok(SignedProposal::new(proposal, &self.network, &self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard::new(NetworkId([1; 32]), SecretKey::from_seed(&[2; 32]), 5)
    }
    fn vote(kind: VoteKind, height: u64, round: u32, block: Option<u8>) -> Vote {
        Vote {
            kind,
            height,
            round,
            block: block.map(|b| BlockId([b; 32])),
            validator: guard().validator(),
        }
    }

    #[test]
    fn only_one_statement_per_step_and_never_backwards() {
        use VoteKind::{Precommit, Prevote};
        let mut guard = guard();
        let first = guard.sign_vote(vote(Prevote, 5, 1, Some(1))).unwrap();
        let again = guard.sign_vote(vote(Prevote, 5, 1, Some(1))).unwrap();
        assert_eq!(first, again);
        for refused in [
            vote(Prevote, 5, 1, Some(2)),
            vote(Prevote, 5, 1, None),
            vote(Precommit, 5, 0, Some(1)),
            vote(Precommit, 4, 9, Some(1)),
        ] {
            assert!(guard.sign_vote(refused).is_err(), "{refused:?}");
        }
        assert!(guard.sign_vote(vote(Precommit, 5, 1, None)).is_ok());
        assert!(guard.sign_vote(vote(Prevote, 6, 0, Some(3))).is_ok());
        assert!(guard.sign_vote(vote(Precommit, 5, 1, None)).is_err());
    }

    #[test]
    fn a_restarted_guard_remembers_what_the_journal_held() {
        use VoteKind::{Precommit, Prevote};
        let mut before = guard();
        let signed = before.sign_vote(vote(Prevote, 7, 2, Some(1))).unwrap();
        let mut after = guard();
        after.recall(&Statement::Vote(signed));
        assert!(after.sign_vote(vote(Prevote, 7, 2, Some(2))).is_err());
        assert!(after.sign_vote(vote(Precommit, 6, 0, Some(2))).is_err());
        assert_eq!(after.sign_vote(signed.vote).unwrap(), signed);
        assert!(after.sign_vote(vote(Precommit, 7, 2, Some(1))).is_ok());
    }
}
