//! The counts of a running world, and their quantiles.
//!
//! Bytes are estimates of messages on the line with their headers. The cost of idle connections
//! (signs of life and pings) is told apart, since it is the greater part.

use super::Millis;
use serde::Serialize;

/// A request of the DHT.
pub const REQUEST_BYTES: u64 = 150;
/// An answer: twenty peers with their addresses.
pub const ANSWER_BYTES: u64 = 2_600;
/// A signed record, put or brought.
pub const RECORD_BYTES: u64 = 500;
/// A handshake, both directions, with the greetings after it.
pub const HANDSHAKE_BYTES: u64 = 8_000;
/// The cost of an idle connection a second at each of its ends, both directions: pings from both
/// ends every 4 s.
pub const LINK_BYTES: u64 = 180;

/// One measured lookup. The default is one that could not begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// It brought the newest record.
    pub found: bool,
    /// It brought one at all.
    pub stale: bool,
    /// It ended for its time was over.
    pub late: bool,
    /// Requests, one after the other, up to the peer that had it.
    pub hops: u32,
    /// Peers asked, or dialled for it in vain.
    pub requests: u32,
    /// Until the first record was there, ms.
    pub first_ms: Millis,
    /// Until it ended, ms.
    pub end_ms: Millis,
}

/// Counts over the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests that reached a peer.
    pub requests: u64,
    /// Records sent to be kept.
    pub puts: u64,
    /// Own records put with at least one peer.
    pub put: u64,
    /// Puts that reached nobody.
    pub not_put: u64,
    /// Handshakes that ended in a connection.
    pub connected: u64,
    /// Dials that nobody answered.
    pub dead_dials: u64,
    /// Connections refused at once, by a peer that was full.
    pub refused: u64,
    /// Dials given up, since this node was full.
    pub own_full: u64,
    /// Connections closed to make room.
    pub closed_for_room: u64,
    /// Nodes that left.
    pub left: u64,
    /// Nodes that came back.
    pub back: u64,
    /// New nodes.
    pub new: u64,
}

/// Mean and quantiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95 of 100 are not above.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of some numbers; all 0 of none.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Spread {
        let mut all: Vec<u64> = numbers.into_iter().collect();
        if all.is_empty() {
            return Spread::default();
        }
        all.sort_unstable();
        let at = |percent: usize| all[(all.len() - 1) * percent / 100] as f64;
        Spread {
            mean: all.iter().sum::<u64>() as f64 / all.len() as f64,
            p50: at(50),
            p95: at(95),
            max: at(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_numbers() {
        let spread = Spread::of((0..=100).rev());
        assert_eq!(
            (spread.mean, spread.p50, spread.p95, spread.max),
            (50.0, 50.0, 95.0, 100.0)
        );
        assert_eq!(Spread::of([]), Spread::default());
    }
}
