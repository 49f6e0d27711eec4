//! The times at which the node's own record is put into the DHT. Pure: the time comes in.
//!
//! 1. At once when the addresses have changed, though never twice within [`RECORD_SETTLE`]: they
//!    change in groups.
//! 2. [`RECORD_AGAIN`] after the last time, since its keepers may have left, and it runs out.
//! 3. If nobody took it, after a pause that doubles from [`RECORD_SETTLE`] to [`RECORD_RETRY_MAX`]
//!    until somebody does. A peer that is admitted meanwhile may take it, and is asked without that
//!    pause.

use std::time::{Duration, Instant};

use gridbay_core::overlay::{RECORD_AGAIN, RECORD_RETRY_MAX, RECORD_SETTLE, longer};

/// The past puts, and their results.
#[derive(Debug, Default)]
pub(super) struct Telling {
    addresses: Vec<String>,
    at: Option<Instant>,
    pause: Option<Duration>,
    retry: Option<Instant>,
}

impl Telling {
    /// Whether a record with these addresses is to be put now.
    pub(super) fn is_due(&self, addresses: &[String], now: Instant) -> bool {
        let Some(at) = self.at else {
            return true;
        };
        let since = now.saturating_duration_since(at);
        let retry = self.retry.is_some_and(|at| at <= now);
        since >= RECORD_SETTLE && (addresses != self.addresses || since >= RECORD_AGAIN || retry)
    }

    /// A put began.
    pub(super) fn began(&mut self, addresses: Vec<String>, now: Instant) {
        self.addresses = addresses;
        self.at = Some(now);
        self.retry = None;
    }

    /// Somebody took it.
    pub(super) fn taken(&mut self) {
        (self.pause, self.retry) = (None, None);
    }

    /// Nobody took it.
    pub(super) fn failed(&mut self, now: Instant) {
        let pause = longer(self.pause, RECORD_SETTLE, RECORD_RETRY_MAX);
        self.pause = Some(pause);
        self.retry = Some(now + pause);
    }

    /// There is somebody new.
    pub(super) fn hurry(&mut self, now: Instant) {
        if let Some(retry) = &mut self.retry {
            *retry = now.min(*retry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn a_record_that_nobody_takes_is_put_ever_more_seldom() {
        let (mut telling, start) = (Telling::default(), Instant::now());
        let here = vec!["here".to_owned()];
        let mut puts = Vec::new();
        for second in 0..600 {
            let now = start + seconds(second);
            if telling.is_due(&here, now) {
                puts.push(second);
                telling.began(here.clone(), now);
                telling.failed(now);
            }
        }
        assert_eq!(puts[..7], [0, 1, 3, 7, 15, 31, 63]);
        assert_eq!(puts.len(), 15, "every minute from then on: {puts:?}");
        // Somebody new is asked at once, and when it takes the record there is peace.
        let now = start + seconds(601);
        telling.hurry(now);
        assert!(telling.is_due(&here, now));
        telling.began(here.clone(), now);
        telling.taken();
        assert!(!telling.is_due(&here, now + seconds(599)));
        assert!(telling.is_due(&here, now + seconds(600)));
    }

    #[test]
    fn new_addresses_are_told_at_once_but_not_twice_a_second() {
        let (mut telling, now) = (Telling::default(), Instant::now());
        telling.began(vec!["here".to_owned()], now);
        telling.failed(now);
        let there = vec!["there".to_owned()];
        assert!(!telling.is_due(&there, now + seconds(1) / 2));
        assert!(telling.is_due(&there, now + seconds(1)));
    }
}
