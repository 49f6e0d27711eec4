//! Which copies of checkpoints are being made, or wait to be told.

use crate::store::snapshot::{SnapshotError, Taken};
use gridbay_core::agent::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long a copy may wait until it is told, in milliseconds: the next question is no later, but
/// of an asker that was away.
const FRESH_MS: u64 = 10_000;

/// The copies that are being made, or wait to be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Making(Arc<Mutex<BTreeMap<RunId, Copying>>>);

pub(super) type Made = Result<Taken, SnapshotError>;

/// A copy. All times are milliseconds since 1970.
#[derive(Debug)]
struct Copying {
    begun_ms: u64,
    /// When it was made, while it waits.
    made: Option<(u64, Made)>,
    /// The job has ended since it was begun.
    stale: bool,
}

impl Making {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<RunId, Copying>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether the asker is the one to begin. A copy that waited too long, or was begun before the
    /// job ended, is none of what is there now, and is not told.
    pub(super) fn begin(&self, job: RunId, now_ms: u64, ended_ms: Option<u64>) -> bool {
        let mut all = self.lock();
        if let Some(copy) = all.get_mut(&job) {
            copy.stale |= ended_ms.is_some_and(|ended| copy.begun_ms <= ended);
            let made_ms = copy.made.as_ref().map(|(made_ms, _)| *made_ms);
            let old = |made_ms| copy.stale || now_ms.saturating_sub(made_ms) > FRESH_MS;
            if !made_ms.is_some_and(old) {
                return false;
            }
        }
        let copy = Copying {
            begun_ms: now_ms,
            made: None,
            stale: false,
        };
        all.insert(job, copy);
        true
    }
    /// A copy is made, and waits; one that is stale by now is dropped.
    pub(super) fn end(&self, job: RunId, made: Made, now_ms: u64) {
        let mut all = self.lock();
        if let Some(copy) = all.get_mut(&job) {
            copy.made = Some((now_ms, made));
            if copy.stale {
                all.remove(&job);
            }
        }
    }
    /// The copy, once it is made; it is told once.
    pub(super) fn take(&self, job: &RunId) -> Option<Made> {
        let mut all = self.lock();
        let (_, made) = all.get_mut(job)?.made.take()?;
        all.remove(job);
        Some(made)
    }
    pub(super) fn forget(&self, job: &RunId) {
        self.lock().remove(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::LeaseId;

    const JOB: RunId = RunId {
        lease: LeaseId([7; 32]),
        task: 0,
        attempt: 0,
    };
    const NONE: Made = Err(SnapshotError::Nothing);

    #[test]
    fn one_copy_is_made_at_a_time_and_told_once() {
        let making = Making::default();
        let begin = || making.begin(JOB, 1_000, None);
        assert!(begin() && !begin());
        assert!(making.take(&JOB).is_none());
        making.end(JOB, NONE, 1_000);
        assert!(!begin(), "it is told before the next is made");
        assert!(making.take(&JOB).is_some() && making.take(&JOB).is_none());
        assert!(begin());
        making.forget(&JOB);
        making.end(JOB, NONE, 1_000);
        assert!(making.take(&JOB).is_none());
    }

    #[test]
    fn a_copy_that_is_no_more_what_is_there_is_not_told() {
        let making = Making::default();
        // It took long, and waited long.
        assert!(making.begin(JOB, 1_000, None));
        making.end(JOB, NONE, 50_000);
        assert!(!making.begin(JOB, 50_000 + FRESH_MS, None));
        assert!(making.begin(JOB, 50_001 + FRESH_MS, None));
        assert!(making.take(&JOB).is_none(), "it is made anew");
        making.end(JOB, NONE, 61_000);
        // The job ended while it waited.
        assert!(making.begin(JOB, 62_000, Some(61_500)));
        assert!(making.take(&JOB).is_none());
        making.end(JOB, NONE, 62_000);
        assert!(
            !making.begin(JOB, 62_100, Some(61_500)),
            "this one is right"
        );
        assert!(making.take(&JOB).is_some());
        // The job ended while it was made.
        assert!(making.begin(JOB, 70_000, None));
        assert!(!making.begin(JOB, 70_200, Some(70_100)), "one at a time");
        making.end(JOB, NONE, 70_300);
        assert!(making.take(&JOB).is_none());
        assert!(making.begin(JOB, 70_400, Some(70_100)));
    }
}
