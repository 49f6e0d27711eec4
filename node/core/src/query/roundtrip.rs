//! Round trips between nodes that never measured one another.
//!
//! Every node measures its round trips to the same few landmarks (the validators' nodes) and says
//! them in its advert, in [`STEPS`] of milliseconds, rounded up. Between two nodes the packets
//! could always go by a landmark that both named, so
//!
//! ```text
//! rtt(a, b) <= min over common landmarks l of rtt(a, l) + rtt(l, b)
//! ```
//!
//! and that is taken as the pair's round trip. It is never too short if both told the truth, and it
//! can be too long by as much as both are away from the nearest landmark. Nobody verifies these
//! statements. A pair without a common landmark is unknown.

use gridbay_protocol::advert::RoundTrip;

/// The steps in which round trips are told, in milliseconds: coarse, so that adverts change seldom.
pub const STEPS: [u16; 18] = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1_000, 2_000,
];

/// The bound by common landmarks in microseconds. Both lists ascend by landmark.
pub fn between(a: &[RoundTrip], b: &[RoundTrip]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    let mut shortest: Option<u64> = None;
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.to.cmp(&y.to) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                let sum = (u64::from(x.ms) + u64::from(y.ms)) * 1_000;
                shortest = Some(shortest.map_or(sum, |s| s.min(sum)));
                i += 1;
                j += 1;
            }
        }
    }
    shortest
}

/// The step to tell for a measured round trip: the one at or above it, but the `before` one while
/// it is less than half a step away. `None` if it is longer than all steps.
pub fn coarse(micros: u64, before: Option<u16>) -> Option<u16> {
    let above = |ms: &u16| u64::from(*ms) * 1_000 >= micros;
    let index = STEPS.iter().position(above)?;
    let now = STEPS[index];
    let next = STEPS.get(index + 1).copied();
    // One step above the right one is kept until the measurement is well below the right one.
    let lower = index.checked_sub(1).map_or(0, |i| u64::from(STEPS[i])) * 1_000;
    let middle = (lower + u64::from(now) * 1_000) / 2;
    match before {
        Some(said) if Some(said) == next && micros > middle => next,
        _ => Some(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::{PublicKey, SecretKey};

    fn key(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    fn trips(list: &[(u8, u16)]) -> Vec<RoundTrip> {
        let trip = |(n, ms): &(u8, u16)| RoundTrip {
            to: key(*n),
            ms: *ms,
        };
        let mut trips: Vec<RoundTrip> = list.iter().map(trip).collect();
        trips.sort_by_key(|trip| trip.to);
        trips
    }

    #[test]
    fn the_shortest_way_by_a_common_landmark() {
        let (a, b) = (
            trips(&[(1, 10), (2, 3), (3, 50)]),
            trips(&[(1, 5), (3, 1), (4, 1)]),
        );
        assert_eq!(between(&a, &b), Some(15_000));
        assert_eq!(between(&a, &trips(&[(4, 1)])), None);
        assert_eq!(between(&[], &b), None);
    }

    #[test]
    fn what_is_said_is_never_below_what_was_measured_and_does_not_flicker() {
        assert_eq!(coarse(0, None), Some(1));
        assert_eq!(coarse(10_001, None), Some(15));
        assert_eq!(coarse(2_000_001, None), None);
        // Around 10 ms: up at once, down only when it is clearly less.
        assert_eq!(coarse(10_100, Some(10)), Some(15));
        assert_eq!(coarse(9_900, Some(15)), Some(15));
        assert_eq!(coarse(8_000, Some(15)), Some(10));
        for before in STEPS {
            for micros in (0..2_000_000).step_by(7_919) {
                let said = coarse(micros, Some(before)).unwrap();
                assert!(u64::from(said) * 1_000 >= micros);
                assert_eq!(coarse(micros, Some(said)), Some(said), "settled");
            }
        }
    }
}
