//! How long the network of a lease takes: from the moment at which the buyer's node sees the lease
//! until every member reaches every other.
//!
//! Members tell for how long they have reached one another, so that the figure does not depend on
//! when they are asked. It is written down once a lease, with the order.

use crate::presence::Reach;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Set-ups that an order keeps; the last ones.
const KEPT: usize = 16;

/// The network of a lease that came to stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The lease.
    pub lease: LeaseId,
    /// Its members then.
    pub members: u32,
    /// Milliseconds from the lease to the last pair.
    pub ms: u64,
}

/// Keeps a new one.
pub(super) fn keep(setups: &mut Vec<Setup>, new: Setup) {
    setups.push(new);
    let more = setups.len().saturating_sub(KEPT);
    setups.drain(..more);
}

/// What a member told, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// How it reaches the others.
    pub reach: Vec<Reach>,
    /// Bytes per second sent to each of them since the answer before.
    pub rates: Vec<Option<u64>>,
    /// By this node's clock, which starts with it.
    pub at_ms: u64,
}

impl Told {
    /// An answer after the one `before`.
    pub(super) fn now(before: Option<&Told>, reach: Vec<Reach>, at_ms: u64) -> Told {
        let rate = |now: &Reach| {
            let Told {
                reach, at_ms: then, ..
            } = before?;
            let last = reach.iter().find(|last| last.rank == now.rank)?;
            let bytes = now.sent.checked_sub(last.sent)?;
            bytes
                .saturating_mul(1_000)
                .checked_div(at_ms.saturating_sub(*then))
        };
        let rates = reach.iter().map(rate).collect();
        Told {
            reach,
            rates,
            at_ms,
        }
    }
}

/// When a member came to reach the last of the others; none while it does not reach one.
/// `members` has the lowest rank of each.
pub(super) fn reached_ms(
    members: &BTreeMap<PublicKey, u32>,
    node: &PublicKey,
    Told { reach, at_ms, .. }: &Told,
) -> Option<u64> {
    let others = members.iter().filter(|(other, _)| *other != node);
    others.map(|(_, rank)| rank).try_fold(0, |last, rank| {
        let seen = reach.iter().find(|r| r.rank == *rank && r.way.is_some())?;
        Some(last.max(at_ms.saturating_sub(seen.reached_ms?)))
    })
}

/// When the last pair came to reach each other; none while one does not.
pub(super) fn complete_ms<'a>(
    members: &BTreeMap<PublicKey, u32>,
    told: impl Fn(&PublicKey) -> Option<&'a Told>,
) -> Option<u64> {
    let mut nodes = members.keys();
    nodes.try_fold(0, |last, node| {
        Some(reached_ms(members, node, told(node)?)?.max(last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::Way;
    use gridbay_protocol::keys::SecretKey;

    fn key(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    fn reach(rank: u32, reached_ms: Option<u64>) -> Reach {
        Reach {
            rank,
            way: reached_ms.map(|_| Way::Lan),
            reached_ms,
            round_trip_us: None,
            mtu: None,
            handshake_ms: None,
            sent: 0,
            received: 0,
            probes: (0, 0),
        }
    }

    #[test]
    fn the_last_pair_counts_whenever_it_is_told() {
        let members = BTreeMap::from([(key(1), 0), (key(2), 4)]);
        let told = |at_ms, reach| Told::now(None, reach, at_ms);
        let mut all = BTreeMap::from([(key(1), told(1_000, vec![reach(4, Some(300))]))]);
        assert_eq!(complete_ms(&members, |n| all.get(n)), None, "one is silent");
        all.insert(key(2), told(9_000, vec![reach(0, None)]));
        assert_eq!(complete_ms(&members, |n| all.get(n)), None, "no way back");
        all.insert(key(2), told(9_000, vec![reach(0, Some(8_250))]));
        assert_eq!(complete_ms(&members, |n| all.get(n)), Some(750));
    }

    #[test]
    fn a_rate_is_what_was_sent_between_two_answers() {
        let sent = |sent| {
            vec![Reach {
                sent,
                ..reach(4, Some(1))
            }]
        };
        let first = Told::now(None, sent(1_000), 5_000);
        assert_eq!(first.rates, [None]);
        let next = Told::now(Some(&first), sent(3_000), 5_500);
        assert_eq!(next.rates, [Some(4_000)]);
        let anew = Told::now(Some(&next), sent(10), 6_000);
        assert_eq!(anew.rates, [None], "it was restarted");
        assert_eq!(Told::now(Some(&next), sent(9_000), 5_500).rates, [None]);
    }

    #[test]
    fn an_order_keeps_the_last_ones() {
        let mut setups = Vec::new();
        for ms in 0..20 {
            let lease = LeaseId([1; 32]);
            keep(
                &mut setups,
                Setup {
                    lease,
                    members: 2,
                    ms,
                },
            );
        }
        assert_eq!(setups.len(), KEPT);
        assert_eq!(setups.last().map(|s| s.ms), Some(19));
    }
}
