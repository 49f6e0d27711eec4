//! How this node reaches the other members of a network, as it tells the buyer's node.

use std::time::Duration;

use gridbay_core::presence::{Reach, Way};
use gridbay_vnet::engine::{LeaseStatus, PairStatus};
use gridbay_vnet::path::Kind;

pub(crate) fn of(status: &LeaseStatus) -> Vec<Reach> {
    status.pairs.iter().filter_map(pair).collect()
}

fn pair(pair: &PairStatus) -> Option<Reach> {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let us = |time: Duration| u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
    Some(Reach {
        rank: *pair.ranks.first()?,
        way: pair.path.map(|path| way(path.kind)),
        reached_ms: pair.reached.map(ms),
        round_trip_us: pair.round_trip.map(us),
        mtu: pair.mtu,
        handshake_ms: pair.handshake_age.map(ms),
        sent: pair.sent.bytes,
        received: pair.received.bytes,
        probes: pair.probes,
    })
}

/// The kind of a way, as the core knows it.
pub(crate) fn way(kind: Kind) -> Way {
    match kind {
        Kind::Lan => Way::Lan,
        Kind::Direct => Way::Direct,
        Kind::Punched => Way::Punched,
        Kind::Relay | Kind::RelayStream => Way::Relay,
        Kind::Stream => Way::Stream,
    }
}
