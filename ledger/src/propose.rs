//! Making a block: every entry that may take effect as far as there is room (see `choice`), in
//! order, every hint that is taken, and the roots that follow.

use crate::checked::{self, CheckedBlock};
use crate::delta::Delta;
use crate::refusal::{Breach, Refusal};
use crate::sell::reservation::Hints;
use crate::state::State;
use crate::{choice, execute};
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block, Header};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::genesis::{FORMAT, RULES};
use gridbay_protocol::ids::{EntryId, Hash32, ValidatorId};
use gridbay_protocol::record::reservation::hint::{self, Hint};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::vote::Certificate;
use std::sync::Arc;

/// The proposer's input.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Itself.
    pub proposer: ValidatorId,
    /// Ledger time; later than the tip's.
    pub time_ms: u64,
    /// Preimage of its beacon tip.
    pub reveal: [u8; 32],
    /// Certificate of the tip; `None` for height 1.
    pub last_commit: Option<Certificate>,
    /// Evidence, each item convicting; items beyond the limit are left out.
    pub evidence: Vec<Evidence>,
    /// Entries, the longest waiting first. They may be more than a block takes: `choice` chooses
    /// among them.
    pub entries: Vec<Arc<Authentic>>,
    /// Better allocations for decisions that this block may make; those not taken stay out of it.
    pub hints: Vec<Hint>,
}

/// A block and its changes.
#[derive(Debug)]
pub struct Proposed {
    /// The block.
    pub block: CheckedBlock,
    /// Its changes.
    pub delta: Delta,
    /// Entries left out, and why.
    pub left_out: Vec<(EntryId, Refusal)>,
    /// Admissions that the choice among the entries took: one for each, two if not all fit.
    pub looks: usize,
    /// The invariant that the draft's entries and hints would have broken, which is a mistake in
    /// this program. The block then has none of them.
    pub breach: Option<Breach>,
}

impl State {
    /// The next block with the entries of the draft that may take effect and for which there is
    /// room. Never fails; a draft with a wrong time, reveal or certificate makes a block that
    /// everybody refuses.
    pub fn propose(&self, draft: Draft) -> Proposed {
        // Not a copy of the draft: that holds the whole mempool.
        let bare = Draft {
            proposer: draft.proposer,
            time_ms: draft.time_ms,
            reveal: draft.reveal,
            last_commit: draft.last_commit.clone(),
            evidence: draft.evidence.clone(),
            entries: Vec::new(),
            hints: Vec::new(),
        };
        match self.attempt(draft) {
            (proposed, Ok(())) => proposed,
            // A block that everybody refuses serves nobody. If the empty one is unsound as well, so
            // be it.
            (_, Err(breach)) => Proposed {
                breach: Some(breach),
                ..self.attempt(bare).0
            },
        }
    }
    fn attempt(&self, draft: Draft) -> (Proposed, Result<(), Breach>) {
        let Draft {
            proposer,
            time_ms,
            reveal,
            last_commit,
            mut evidence,
            entries,
            mut hints,
        } = draft;
        evidence.truncate(BLOCK_EVIDENCE);
        hints.sort_unstable_by_key(|hint| hint.class);
        if !hint::fit(&hints) {
            hints.clear();
        }
        let begin = || execute::begin(self, proposer, time_ms, &reveal);
        let choice = choice::choose(begin, entries);
        let (taken, left_out, looks) = (choice.taken, choice.left_out, choice.looks);
        let mut work = choice.work;
        work.hints = Hints::of(&hints);
        let outcome = execute::finish(self, work);
        let header = Header {
            format: FORMAT,
            rules: RULES,
            network: self.network(),
            height: outcome.chain.height,
            time_ms,
            parent: self.tip(),
            proposer,
            entries_root: checked::entries_root(taken.iter().map(|entry| entry.id())),
            effects_root: outcome.effects_root(),
            state_root: outcome.state_root(),
            validators: self.validators().hash(),
            next_validators: self.validators().hash(),
            log_root: self.log_root(),
            last_commit: checked::commit_hash(last_commit.as_ref()),
            beacon_reveal: Hash32(reveal),
            evidence_root: checked::evidence_root(&evidence),
            hints_root: checked::hints_root(outcome.hints()),
        };
        let block = Block {
            header,
            entries: taken.iter().map(|e| e.signed().clone()).collect(),
            last_commit,
            evidence,
            hints: outcome.hints().to_vec(),
        };
        let block = CheckedBlock::made(block, taken);
        let sound = outcome.sound.clone();
        let delta = outcome.into_delta(self.tip(), block.id());
        let proposed = Proposed {
            block,
            delta,
            left_out,
            looks,
            breach: None,
        };
        (proposed, sound)
    }
}
