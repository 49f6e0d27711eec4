//! News of others' jobs on this machine, from where they happen to where they are told.

use gridbay_core::agent::{Phase, RunId};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// News that wait at the most; a look takes them several times a second.
const NEWS: usize = 4_096;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunNews {
    /// The run.
    pub(super) run: RunId,
    /// When it was heard, milliseconds since 1970.
    pub(super) at_ms: u64,
    /// Where it stands; `None`: it is to be staged.
    pub(super) phase: Option<Phase>,
}

/// News that wait to be told. Nothing is kept unless somebody follows.
#[derive(Debug, Default)]
pub(crate) struct RunLog {
    followed: AtomicBool,
    news: Mutex<Vec<RunNews>>,
}

impl RunLog {
    /// Keeps news from now on.
    pub(super) fn follow(&self) {
        self.followed.store(true, Relaxed);
    }
    /// A run is to be staged.
    pub(crate) fn stages(&self, run: RunId) {
        self.note(run, None);
    }
    /// A run has come to a phase.
    pub(crate) fn phase(&self, run: RunId, phase: Phase) {
        self.note(run, Some(phase));
    }
    /// What waits.
    pub(super) fn take(&self) -> Vec<RunNews> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *news)
    }

    fn note(&self, run: RunId, phase: Option<Phase>) {
        if !self.followed.load(Relaxed) {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let at_ms = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if news.len() < NEWS {
            news.push(RunNews { run, at_ms, phase });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::LeaseId;

    #[test]
    fn news_are_kept_for_a_follower_alone_and_within_a_bound() {
        let (log, lease) = (RunLog::default(), LeaseId([1; 32]));
        let (task, attempt) = (0, 0);
        let run = RunId {
            lease,
            task,
            attempt,
        };
        log.stages(run);
        assert_eq!(log.take(), []);
        log.follow();
        log.stages(run);
        log.phase(run, Phase::Running { started_ms: 5 });
        let told = log.take();
        assert_eq!(told.len(), 2);
        assert_eq!((told[0].run, told[0].phase), (run, None));
        for _ in 0..NEWS + 5 {
            log.stages(run);
        }
        assert_eq!((log.take().len(), log.take().len()), (NEWS, 0));
    }
}
