//! Pacing: when the next height starts and how long consensus waits.
//!
//! A height starts
//! 1. [`Pace::interval`] after the start of the one before, if work is due;
//! 2. at the heartbeat, if not;
//! 3. when a validator shows that it has started, but never before half the interval has passed, so
//!    that one eager validator cannot drive the others.
//!
//! The first height after the program's start also waits until more than two thirds of the voting
//! power, this node's own included, are connected, or a validator shows that it has started.

use crate::consensus::{Timer, TimerKind};
use crate::limits;
use gridbay_protocol::genesis::Policy;

/// What decides when the next height starts. Times are monotonic milliseconds.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: u64,
    heartbeat: u64,
    propose: u64,
    /// When the last height started here; `None` right after the program's start.
    started: Option<u64>,
    /// Whether a quorum has been connected since the program's start.
    gathered: bool,
    /// Whether another validator has started the next height.
    called: bool,
}

impl Pace {
    pub(crate) fn new(policy: &Policy) -> Pace {
        Pace {
            interval: policy.block_interval_ms,
            heartbeat: policy.heartbeat_ms,
            propose: policy.propose_timeout_ms,
            started: None,
            gathered: false,
            called: false,
        }
    }
    /// A quorum is connected.
    pub(crate) fn gather(&mut self) {
        self.gathered = true;
    }
    /// Another validator has started the next height.
    pub(crate) fn call(&mut self) {
        self.called = true;
    }
    /// A height starts.
    pub(crate) fn start(&mut self, now: u64) {
        self.started = Some(now);
        self.called = false;
    }
    /// A height was decided by others, without a start of our own.
    pub(crate) fn follow(&mut self, now: u64) {
        self.start(now);
    }
    /// When the next height starts, as things stand; `None` while too few are connected.
    pub(crate) fn due(&self, work: bool) -> Option<u64> {
        if !self.gathered && !self.called {
            return None;
        }
        let Some(started) = self.started else {
            return Some(0);
        };
        let wait = if self.called {
            self.interval / 2
        } else if work {
            self.interval
        } else {
            self.heartbeat
        };
        Some(started.saturating_add(wait))
    }
    /// How long a timer runs, in milliseconds: linear in the round.
    pub(crate) fn timeout_ms(&self, timer: Timer) -> u64 {
        let vote = limits::VOTE_TIMEOUT_MS.max(self.propose / 2);
        let (base, growth) = match timer.kind {
            TimerKind::Propose => (self.propose, self.propose / 2),
            TimerKind::Prevote | TimerKind::Precommit => (vote, vote / 2),
            TimerKind::Rebroadcast => (limits::REBROADCAST_MS, 0),
        };
        base.saturating_add(growth.saturating_mul(u64::from(timer.round)))
            .min(limits::LONGEST_TIMEOUT_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_the_heartbeat_and_a_call_start_a_height_in_their_time() {
        let mut pace = Pace::new(&Policy::local());
        assert_eq!(pace.due(true), None, "nobody is there");
        pace.gather();
        assert_eq!(
            pace.due(false),
            Some(0),
            "the first height waits for nothing else"
        );
        pace.start(1_000);
        assert_eq!(pace.due(true), Some(1_250));
        assert_eq!(pace.due(false), Some(11_000));
        pace.call();
        assert_eq!(pace.due(false), Some(1_125));
        pace.start(1_200);
        assert_eq!(pace.due(false), Some(11_200));
    }

    #[test]
    fn a_call_is_enough_for_a_lonely_node() {
        let mut pace = Pace::new(&Policy::local());
        pace.call();
        assert_eq!(pace.due(false), Some(0));
    }
}
