//! Rates of messages of one kind, by token buckets ([`Buckets`]).
//!
//! A bucket holds [`Rate::burst`] tokens and gains [`Rate::per_second`] each second. A message that
//! costs more tokens than the bucket holds is refused and costs nothing. A full bucket lets any
//! message pass, even one larger than the bucket.

use gridbay_protocol::buckets::Buckets;
use std::time::{Duration, Instant};

/// How much may come: tokens are messages, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Tokens that a bucket gains in a second; at least 1.
    pub per_second: u32,
    /// Tokens in a full bucket; at least 1.
    pub burst: u32,
}

impl Rate {
    /// So many tokens each second, and so many at once.
    pub const fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second, burst }
    }

    /// Time in which so many tokens come.
    fn time(self, tokens: u32) -> Duration {
        let nanos = u64::from(tokens) * 1_000_000_000 / u64::from(self.per_second.max(1));
        Duration::from_nanos(nanos)
    }
}

/// The buckets.
#[derive(Debug)]
pub(crate) struct Rates<Key>(Buckets<Key, Instant>);

impl<Key: Ord + Clone> Rates<Key> {
    /// At most so many buckets.
    pub(crate) fn new(most: usize) -> Self {
        Self(Buckets::new(most))
    }

    /// Takes tokens out of a bucket. Returns whether it held them.
    pub(crate) fn take(&mut self, key: Key, tokens: u32, rate: Rate, now: Instant) -> bool {
        let (cost, whole) = (rate.time(tokens), rate.time(rate.burst.max(1)));
        let held = self.0.holds(&key, cost, whole, now);
        if held {
            self.0.take(key, cost, now);
        }
        held
    }

    /// Forgets the buckets that are full.
    pub(crate) fn forget_full(&mut self, now: Instant) {
        self.0.forget_full(now);
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::new(10, 5);
    const SECOND: Duration = Duration::from_secs(1);

    /// How many single tokens are taken before the first refusal.
    fn drain(rates: &mut Rates<u8>, key: u8, now: Instant) -> usize {
        (0..1000)
            .take_while(|_| rates.take(key, 1, RATE, now))
            .count()
    }

    #[test]
    fn a_burst_then_the_rate_and_nobody_pays_for_another() {
        let (mut rates, now) = (Rates::new(8), Instant::now());
        assert_eq!(drain(&mut rates, 1, now), 5);
        assert_eq!(drain(&mut rates, 1, now), 0, "a refusal costs nothing");
        assert_eq!(drain(&mut rates, 2, now), 5);
        assert_eq!(drain(&mut rates, 1, now + SECOND / 10), 1);
        assert_eq!(
            drain(&mut rates, 1, now + SECOND * 9),
            5,
            "never more than it holds"
        );
    }

    #[test]
    fn over_a_long_time_no_more_than_the_rate_passes() {
        let (mut rates, start) = (Rates::new(8), Instant::now());
        let step = SECOND / 1000;
        let passed = (0..60_000u32)
            .filter(|i| rates.take(1, 1, RATE, start + step * *i))
            .count();
        assert!((595..=606).contains(&passed), "{passed} in a minute");
    }

    #[test]
    fn what_is_larger_than_the_bucket_passes_alone() {
        let (mut rates, now) = (Rates::new(8), Instant::now());
        assert!(rates.take(1, 50, RATE, now));
        assert!(!rates.take(1, 1, RATE, now + SECOND * 4));
        assert!(!rates.take(1, 50, RATE, now + SECOND * 4));
        assert!(rates.take(1, 50, RATE, now + SECOND * 5));
    }

    #[test]
    fn buckets_are_bounded_and_the_drained_ones_stay() {
        let (mut rates, now) = (Rates::new(4), Instant::now());
        assert_eq!(drain(&mut rates, 0, now), 5);
        for key in 1..100 {
            assert!(rates.take(key, 1, RATE, now));
            assert!(rates.len() <= 4);
        }
        assert_eq!(
            drain(&mut rates, 0, now),
            0,
            "not washed out by many others"
        );
        rates.forget_full(now + SECOND);
        assert_eq!(rates.len(), 0);
    }
}
