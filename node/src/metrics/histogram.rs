//! Times counted by how long they took, by many threads at once.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Times by upper bounds.
#[derive(Debug)]
pub(super) struct Histogram {
    /// Upper bounds in microseconds, ascending.
    bounds: &'static [u64],
    /// One count for each bound, and a last one for what is above them all.
    counts: Box<[AtomicU64]>,
    /// Microseconds in all.
    sum: AtomicU64,
}

/// The figures of a histogram at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Times up to each bound, in microseconds: each count holds those before it.
    pub(super) up_to: Vec<(u64, u64)>,
    /// All times.
    pub(super) count: u64,
    /// Microseconds in all.
    pub(super) sum: u64,
}

impl Histogram {
    /// Nothing counted yet.
    pub(super) fn new(bounds: &'static [u64]) -> Histogram {
        Histogram {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a time.
    pub(super) fn observe(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let place = self.bounds.partition_point(|bound| *bound < took);
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add(took, Relaxed);
    }

    /// The figures of now. The count is the sum of the counts read, so that they agree whatever is
    /// counted meanwhile.
    pub(super) fn read(&self) -> Reading {
        let mut count = 0;
        let mut up_to = Vec::with_capacity(self.bounds.len());
        for (place, of) in self.counts.iter().enumerate() {
            count += of.load(Relaxed);
            up_to.extend(self.bounds.get(place).map(|bound| (*bound, count)));
        }
        Reading {
            up_to,
            count,
            sum: self.sum.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_in_every_bound_that_it_does_not_pass() {
        let times = Histogram::new(&[10, 20, 40]);
        for took in [5, 10, 11, 40, 41, 1_000] {
            times.observe(Duration::from_micros(took));
        }
        let expected = Reading {
            up_to: vec![(10, 2), (20, 3), (40, 4)],
            count: 6,
            sum: 1_107,
        };
        assert_eq!(times.read(), expected);
    }
}
