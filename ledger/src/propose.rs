//! Making a block: every entry that may take effect, in order, every hint that is taken, and the roots that follow.

use crate::admit::Admitted;
use crate::checked::{self, CheckedBlock};
use crate::entry;
use crate::execute::{self, Delta};
use crate::refusal::Refusal;
use crate::reservation::Hints;
use crate::state::State;
use crate::unopened;
use crate::work::Work;
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block, Header};
use gridbay_protocol::codec;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::genesis::{FORMAT, RULES};
use gridbay_protocol::hint::{self, Hint};
use gridbay_protocol::ids::{EntryId, Hash32, ValidatorId};
use gridbay_protocol::limits;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::vote::Certificate;
use std::sync::Arc;

/// What a proposer brings.
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
    /// Evidence, each item convicting; what exceeds the limit is cut.
    pub evidence: Vec<Evidence>,
    /// Entries, in any order.
    pub entries: Vec<Arc<Authentic>>,
    /// Better allocations for decisions that this block may make; what is not taken stays out of it.
    pub hints: Vec<Hint>,
}

/// A block and what it does.
#[derive(Debug)]
pub struct Proposed {
    /// The block.
    pub block: CheckedBlock,
    /// What it does.
    pub delta: Delta,
    /// Entries left out, and why.
    pub left_out: Vec<(EntryId, Refusal)>,
}

/// Room for header, brackets and lengths beside entries, certificate and evidence.
const FRAME_BYTES: usize = 4 * 1024;

impl State {
    /// The next block with all entries of the draft that may take effect. Never fails; a draft with a wrong
    /// time, reveal or certificate makes a block that everybody refuses.
    pub fn propose(&self, draft: Draft) -> Proposed {
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
        let mut work = Work::begin(self, time_ms, &reveal);
        work.tables.beacons.insert(proposer, Hash32(reveal));
        unopened::note_auctioneer(&mut work, proposer);
        hints.sort_unstable_by_key(|hint| hint.class);
        if !hint::fit(&hints) {
            hints.clear();
        }
        work.hints = Hints::of(&hints);
        let frame = codec::encode(&(&last_commit, &evidence, &hints)).len() + FRAME_BYTES;
        let (taken, left_out) = take(&mut work, entries, frame);
        let outcome = execute::finish(self, work);
        let header = Header {
            format: FORMAT,
            rules: RULES,
            network: self.network(),
            height: outcome.chain.height,
            time_ms,
            parent: self.tip(),
            proposer,
            entries_root: checked::entries_root(&taken),
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
        let delta = outcome.into_delta(self.tip(), block.id());
        Proposed {
            block,
            delta,
            left_out,
        }
    }
}

type LeftOut = Vec<(EntryId, Refusal)>;

/// Applies what may take effect, in the order of a block.
fn take(
    work: &mut Work<'_>,
    mut entries: Vec<Arc<Authentic>>,
    frame: usize,
) -> (Vec<Arc<Authentic>>, LeftOut) {
    entries.sort_by_cached_key(|entry| execute::place(work, entry));
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    let mut bytes = frame;
    for entry in entries {
        let size = codec::encode(entry.signed()).len();
        if taken.len() == limits::BLOCK_ENTRIES || bytes + size > limits::BLOCK_BYTES {
            left_out.push((entry.id(), Refusal::BlockFull(work.height())));
            continue;
        }
        match Admitted::check(work, &entry) {
            Ok(admitted) => {
                entry::apply(work, &admitted);
                bytes += size;
                taken.push(entry);
            }
            Err(refusal) => left_out.push((entry.id(), refusal)),
        }
    }
    (taken, left_out)
}
