//! The private networks of leases.

use super::text::Text;
use gridbay_protocol::ids::LeaseId;
use gridbay_vnet::engine::{LeaseStatus, PairStatus, Volume};
use std::collections::BTreeMap;
use std::time::Duration;

/// A time of a pair.
type Span = fn(&PairStatus) -> Option<Duration>;

/// Times of which the longest of all pairs is told.
const TIMES: [(&str, Span); 2] = [
    ("gridbay_lease_round_trip_seconds", |pair| pair.round_trip),
    ("gridbay_lease_handshake_age_seconds", |pair| {
        pair.handshake_age
    }),
];

/// One value for each lease, reason or path.
pub(super) fn metrics(text: &mut Text, networks: &[(LeaseId, LeaseStatus)]) {
    text.value("gridbay_lease_networks", networks.len());
    let pairs = || networks.iter().flat_map(|(_, status)| &status.pairs);
    let mut by_path: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in pairs() {
        *by_path.entry(path(pair)).or_default() += 1;
    }
    text.by(("gridbay_lease_pairs", "path"), by_path);
    let bytes = |of: fn(&PairStatus) -> Volume| {
        let sum = move |(lease, status): &(LeaseId, LeaseStatus)| {
            let bytes = status.pairs.iter().map(|pair| of(pair).bytes);
            (lease.to_string(), bytes.sum::<u64>())
        };
        networks.iter().map(sum)
    };
    text.by(
        ("gridbay_lease_sent_bytes_total", "lease"),
        bytes(|p| p.sent),
    );
    text.by(
        ("gridbay_lease_received_bytes_total", "lease"),
        bytes(|p| p.received),
    );
    for (name, of) in TIMES {
        let worst = |(lease, status): &(LeaseId, LeaseStatus)| {
            let longest = status.pairs.iter().filter_map(of).max()?;
            Some((lease.to_string(), longest.as_secs_f64()))
        };
        text.by((name, "lease"), networks.iter().filter_map(worst));
    }
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    let own = networks.iter().map(|(_, status)| &status.drops);
    let all = own.chain(pairs().map(|pair| &pair.drops));
    for (reason, count) in all.flat_map(|drops| drops.seen()) {
        *refused.entry(reason.text()).or_default() += count;
    }
    text.by(("gridbay_lease_packets_refused_total", "reason"), refused);
}

fn path(pair: &PairStatus) -> &'static str {
    let way = pair.path.map(|path| crate::cluster::reach::way(path.kind));
    way.map_or("none", gridbay_core::presence::Way::word)
}
