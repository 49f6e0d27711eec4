//! How durations spread.

use serde::Serialize;

/// Count, median, 95th percentile and maximum, in milliseconds. A percentile is the smallest value
/// that at least that share of all values does not exceed; 0 of no values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Spread {
    /// Values.
    pub(crate) n: usize,
    /// Median.
    pub(crate) p50_ms: u64,
    /// 95th percentile.
    pub(crate) p95_ms: u64,
    /// Maximum.
    pub(crate) max_ms: u64,
}

impl Spread {
    /// Of some durations.
    pub(crate) fn of(mut values: Vec<u64>) -> Spread {
        values.sort_unstable();
        let percentile = |percent: usize| percentile(&values, percent);
        Spread {
            n: values.len(),
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            max_ms: percentile(100),
        }
    }
}

/// The smallest of ascending values that at least so many in a hundred of them do not exceed; 0 of
/// none.
pub(crate) fn percentile(ascending: &[u64], percent: usize) -> u64 {
    let rank = (ascending.len() * percent).div_ceil(100);
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let spread = Spread::of((1..=200).rev().collect());
        let expected = Spread {
            n: 200,
            p50_ms: 100,
            p95_ms: 190,
            max_ms: 200,
        };
        assert_eq!(spread, expected);
        let one = Spread::of(vec![7]);
        assert_eq!((one.p50_ms, one.p95_ms, one.max_ms), (7, 7, 7));
        assert_eq!(Spread::of(vec![]), Spread::default());
    }
}
