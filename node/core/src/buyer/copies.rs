//! The second copy of a checkpoint, for a run whose seller says nothing more: the other nodes of
//! its lease are asked for it before its task starts anew.
//!
//! They are those that other tasks of the order were placed at under the same lease: a node keeps
//! copies only where it runs a task itself. The wait is bounded; what the buyer has counts then.
//! What the seller's node was asked for before may still come meanwhile, and counts if it does.

use super::Buyer;
use super::attempts::Kept;
use super::leaving::{Leaving, SEEK_MS};
use super::run::Run;
use super::tasks::Tasks;
use crate::agent::RunId;
use crate::effect::Effect;
use crate::input::Now;
use crate::keeper::keepers;
use crate::key::OrderKey;
use gridbay_protocol::checkpoint::KEEPERS_ASKED;
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::keys::PublicKey;

/// The seller of an offer, by the ledger.
pub(super) type Sellers<'a> = &'a dyn Fn(&OfferId) -> Option<AccountId>;

/// A run to ask the other nodes of its lease about.
pub(super) struct Seek {
    run: Run,
    keepers: Vec<PublicKey>,
    newer_than: Option<u64>,
}

/// The time that a copy of a run has to be newer than, if any: what an earlier attempt had kept is
/// older than all that the run kept, since it began with it.
fn newer_than(kept: Option<Kept>, attempt: u32) -> Option<u64> {
    let kept = kept.filter(|kept| kept.attempt >= attempt)?;
    Some(if kept.attempt == attempt {
        kept.taken_ms
    } else {
        u64::MAX
    })
}

impl Leaving {
    fn seek(&mut self, now: Now) {
        (self.given_up, self.sought) = (false, true);
        self.run.last_asked = true;
        self.fetch_wall_ms = self.run.asking.since_wall_ms.replace(now.wall_ms);
        self.most_ms = now.mono_ms + SEEK_MS;
    }
}

impl Tasks {
    /// Nothing more is to be had of a run at its seller: others may have a copy.
    pub(super) fn give_up(&mut self, task: u32) {
        if let Some(left) = self.leaving.get_mut(&task) {
            left.given_up = true;
        }
    }

    /// When a run was asked for the checkpoint that is here now, or was not to be had, milliseconds
    /// since 1970; `None` if it was not. Others are asked for a `copy`: while they are, a fetch
    /// from the seller's node that fails says nothing of what they have.
    pub(super) fn answered(&mut self, job: &RunId, copy: bool, whole: bool) -> Option<u64> {
        let left = self.leaving.get_mut(&job.task);
        if let Some(left) = left.filter(|left| left.run.job == *job && left.sought) {
            if copy {
                return left.run.asking.since_wall_ms.take();
            }
            return left.fetch_wall_ms.take().filter(|_| whole);
        }
        let run = self.any_run(job).filter(|_| !copy)?;
        run.asking.since_wall_ms.take()
    }

    /// The nodes that may keep a copy of a run, the likeliest first.
    fn keepers_of(&self, run: &Run, seller: Sellers<'_>) -> Vec<PublicKey> {
        let attempts = self.records.iter().flat_map(|r| &r.history.attempts);
        let beside = attempts.filter(|a| a.lease == Some(run.job.lease));
        let beside = beside.map(|a| (seller(&a.offer), a.node));
        let mut all = keepers((seller(&run.offer), run.node), beside);
        all.truncate(KEEPERS_ASKED);
        all
    }

    /// Begins to ask others about a run that leaves, once, if there are any.
    pub(super) fn seek(&mut self, task: u32, seller: Sellers<'_>, now: Now) -> Option<Seek> {
        let run = self.leaving.get(&task).filter(|l| !l.sought)?.run;
        let keepers = self.keepers_of(&run, seller);
        let left = self
            .leaving
            .get_mut(&task)
            .filter(|_| !keepers.is_empty())?;
        left.seek(now);
        let record = self.records.get(task as usize)?;
        Some(Seek {
            run,
            keepers,
            newer_than: newer_than(record.history.checkpoint, run.job.attempt),
        })
    }
}

impl Buyer {
    pub(super) fn ask_keepers(key: OrderKey, seeks: Vec<Seek>, effects: &mut Vec<Effect>) {
        effects.extend(seeks.into_iter().map(|seek| Effect::FetchCopy {
            order: key,
            job: seek.run.job,
            seller: seek.run.node,
            keepers: seek.keepers,
            newer_than: seek.newer_than,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::checkpoint::Snapshot;
    use gridbay_protocol::ids::ContentId;

    #[test]
    fn a_copy_has_to_be_newer_than_what_the_buyer_has() {
        let snapshot = Snapshot {
            manifest: ContentId([9; 32]),
            manifest_bytes: 1,
            files: 1,
            bytes: 1,
        };
        let kept = |attempt| Kept {
            snapshot,
            attempt,
            taken_ms: 500,
        };
        for (has, than) in [
            (None, None),
            (Some(kept(1)), None),
            (Some(kept(2)), Some(500)),
            (Some(kept(3)), Some(u64::MAX)),
        ] {
            assert_eq!(newer_than(has, 2), than);
        }
    }
}
