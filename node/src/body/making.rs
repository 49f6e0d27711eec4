//! Which copies of checkpoints are being made, or wait to be told.

use crate::store::snapshot::{SnapshotError, Taken};
use gridbay_core::agent::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The copies that are being made, or wait to be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Making(Arc<Mutex<BTreeMap<RunId, Option<Made>>>>);

pub(super) type Made = Result<Taken, SnapshotError>;

impl Making {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<RunId, Option<Made>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether the asker is the one to begin.
    pub(super) fn begin(&self, job: RunId) -> bool {
        let mut begun = false;
        self.lock().entry(job).or_insert_with(|| {
            begun = true;
            None
        });
        begun
    }
    pub(super) fn end(&self, job: RunId, made: Made) {
        if let Some(waiting) = self.lock().get_mut(&job) {
            *waiting = Some(made);
        }
    }
    /// The copy, once it is made; it is told once.
    pub(super) fn take(&self, job: &RunId) -> Option<Made> {
        let mut all = self.lock();
        let made = all.get_mut(job)?.take();
        if made.is_some() {
            all.remove(job);
        }
        made
    }
    pub(super) fn forget(&self, job: &RunId) {
        self.lock().remove(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::LeaseId;

    #[test]
    fn one_copy_is_made_at_a_time_and_told_once() {
        let job = RunId {
            lease: LeaseId([7; 32]),
            task: 0,
            attempt: 0,
        };
        let making = Making::default();
        assert!(making.begin(job) && !making.begin(job));
        assert!(making.take(&job).is_none());
        making.end(job, Err(SnapshotError::Nothing));
        assert!(!making.begin(job), "it is told before the next is made");
        assert!(making.take(&job).is_some() && making.take(&job).is_none());
        assert!(making.begin(job));
        making.forget(&job);
        making.end(job, Err(SnapshotError::Nothing));
        assert!(making.take(&job).is_none());
    }
}
