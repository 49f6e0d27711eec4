//! Ledger times of blocks, which never change: read once, for statements, charts and searches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Times kept; those of the lowest heights go first.
const KEPT: usize = 65_536;

/// The times of blocks that were read, by their heights.
#[derive(Debug, Default)]
pub(crate) struct Times(Mutex<BTreeMap<u64, u64>>);

impl Times {
    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The times that are known of these heights, and the heights of the others.
    pub(super) fn of(&self, heights: impl Iterator<Item = u64>) -> (BTreeMap<u64, u64>, Vec<u64>) {
        let (known, heights) = (self.known(), heights.collect::<BTreeSet<u64>>());
        let (found, missing): (Vec<_>, Vec<_>) = heights
            .into_iter()
            .partition(|height| known.contains_key(height));
        let time = |height: u64| Some((height, *known.get(&height)?));
        (found.into_iter().filter_map(time).collect(), missing)
    }

    /// Keeps times that were read.
    pub(super) fn keep(&self, times: &[(u64, u64)]) {
        let mut known = self.known();
        known.extend(times.iter().copied());
        while known.len() > KEPT {
            known.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_the_lowest_heights_go_first() {
        let times = Times::default();
        let most = KEPT as u64;
        let all: Vec<_> = (1..=most + 9).map(|height| (height, 2 * height)).collect();
        times.keep(&all);
        let known = times.known();
        assert_eq!(known.len(), KEPT);
        assert_eq!(known.first_key_value(), Some((&10, &20)));
        drop(known);
        let (found, missing) = times.of([11, 9, 11, 10, 8].into_iter());
        assert_eq!(found, [(10, 20), (11, 22)].into());
        assert_eq!(missing, [8, 9]);
    }
}
