//! The seller's part in the second copy of a checkpoint: when one is due, and who keeps it.
//!
//! 1. What the buyer's node is told of a run goes to its keeper as well.
//! 2. A run whose buyer's node has not asked for [`LATE_MS`] longer than the job wants is copied
//!    all the same, unless somebody is reading the last copy: that would go.

use super::{Job, Seller};
use crate::agent::{Phase, RunId};
use crate::effect::Effect;
use crate::keeper::{Known, keepers, members};
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;

/// Milliseconds by which the buyer's node may be late.
const LATE_MS: u64 = 2_000;
/// Milliseconds between two chunks that somebody reads.
const READING_MS: u64 = 2_000;

/// The copies of one run. Times are monotonic milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copying {
    /// When one was made last, or the run was first seen.
    made_ms: Option<u64>,
    /// When a chunk of it was read last.
    read_ms: u64,
}

impl Seller {
    /// The node that keeps the copies of a lease's runs here, by this ledger.
    pub(crate) fn keeper_of(&self, state: &State, lease: &LeaseId) -> Option<PublicKey> {
        let others = members(state, lease);
        let mut all = keepers((self.account, self.node), others).into_iter();
        all.next()
    }

    /// What the jobs of a lease here say about it to its keeper.
    pub(crate) fn knows(&self, lease: &LeaseId) -> Option<Known> {
        let theirs = self.jobs.iter().filter(|(id, _)| id.lease == *lease);
        let mut known = theirs.filter_map(|(_, job)| {
            let keeps = job.memo.spec.checkpoint.as_ref()?;
            Some(Known {
                buyer: job.memo.buyer,
                every_ms: keeps.every_ms(),
            })
        });
        known.next()
    }

    /// Notes that a copy is made for the buyer's node now.
    pub(crate) fn note_copy(&mut self, job: &RunId, now_ms: u64) {
        if let Some(job) = self.jobs.get_mut(job) {
            job.copying.made_ms = Some(now_ms);
        }
    }

    /// Whether `from` may read what was copied of a run: the buyer's node, and the keeper while it
    /// is one. Notes that it does.
    pub(crate) fn reads_copy(
        &mut self,
        state: &State,
        from: &PublicKey,
        job: &RunId,
        now_ms: u64,
    ) -> bool {
        let buyer = self.shows_checkpoint(from, job).is_some();
        let keeper = || self.keeper_of(state, &job.lease) == Some(*from);
        let keeps = self.checkpoint_of(job).is_some();
        let may = buyer || (keeps && keeper());
        if let Some(job) = self.jobs.get_mut(job).filter(|_| may) {
            job.copying.read_ms = now_ms;
        }
        may
    }

    /// Copies what nobody asked for in time.
    pub(crate) fn copy_unasked(&mut self, state: &State, now_ms: u64, effects: &mut Vec<Effect>) {
        let mut due = Vec::new();
        for (id, job) in self.jobs.iter_mut().filter(|(_, job)| job.serves()) {
            if let Some(folder) = due_now(job, now_ms) {
                due.push((*id, folder));
            }
        }
        for (job, folder) in due {
            if let Some(to) = self.keeper_of(state, &job.lease) {
                effects.push(Effect::OfferCopy { job, folder, to });
            }
        }
    }
}

/// The folder to be copied of a job whose time has come.
fn due_now(job: &mut Job, now_ms: u64) -> Option<String> {
    let keeps = job.memo.spec.checkpoint.as_ref()?;
    let runs = matches!(job.phase, Phase::Running { .. });
    let made_ms = *job.copying.made_ms.get_or_insert(now_ms);
    let late = now_ms >= made_ms + keeps.every_ms() + LATE_MS;
    if !runs || !late || now_ms < job.copying.read_ms + READING_MS {
        return None;
    }
    job.copying.made_ms = Some(now_ms);
    Some(keeps.folder.clone())
}
