//! Metrics of the overlay.

use super::text::Text;
use crate::overlay::{Count, Nat, OverlayStats, PeerInfo, Reach, TopicStats, Whereabouts, is_quic};

/// Counts of bytes, which are no events.
const BYTES: [(&str, Count); 2] = [
    ("gridbay_net_received_bytes_total", Count::BytesIn),
    ("gridbay_net_sent_bytes_total", Count::BytesOut),
];

pub(crate) fn metrics(
    text: &mut Text,
    peers: &[PeerInfo],
    now: &Whereabouts,
    stats: &OverlayStats,
) {
    connections(text, peers);
    ourselves(text, now);
    for (name, kind) in BYTES {
        let bytes = stats.counts.get(kind.name()).copied();
        text.value(name, bytes.unwrap_or(0));
    }
    let bytes = BYTES.map(|(_, kind)| kind.name());
    let events = stats
        .counts
        .iter()
        .filter(|(kind, _)| !bytes.contains(kind));
    text.by(("gridbay_net_events_total", "kind"), events);
    gossip(text, stats);
}

fn connections(text: &mut Text, peers: &[PeerInfo]) {
    text.value("gridbay_net_peers", peers.len());
    let relayed = peers.iter().filter(|p| p.via.is_some()).count();
    let direct = peers.iter().filter(|p| p.via.is_none());
    let quic = direct.filter(|p| is_quic(&p.address)).count();
    let tcp = peers.len() - relayed - quic;
    let paths = [("quic", quic), ("tcp", tcp), ("relayed", relayed)];
    text.by(("gridbay_net_peers_by_path", "path"), paths);
    let mesh = peers.iter().filter(|p| p.in_mesh).count();
    text.value("gridbay_net_mesh_peers", mesh);
}

fn ourselves(text: &mut Text, now: &Whereabouts) {
    let reach = Reach::ALL.map(|of| (of.name(), u8::from(now.reach == of)));
    text.by(("gridbay_net_reach", "state"), reach);
    let nat = Nat::ALL.map(|of| (of.name(), u8::from(now.nat == of)));
    text.by(("gridbay_net_nat", "kind"), nat);
    text.value("gridbay_net_relay_places_held", now.relays.len());
    text.value("gridbay_net_relay_places_given", now.places_given);
    text.value("gridbay_net_relay_circuits", now.circuits);
    text.value("gridbay_net_banned", now.banned);
    text.by(("gridbay_net_queue", "queue"), now.queues.named());
}

fn gossip(text: &mut Text, stats: &OverlayStats) {
    type Read = fn(&TopicStats) -> u64;
    let singles: [(&str, Read); 2] = [
        ("gridbay_net_gossip_received_total", |t| t.received),
        ("gridbay_net_gossip_published_total", |t| t.published),
    ];
    for (name, read) in singles {
        let topics = stats.topics.iter();
        text.by((name, "topic"), topics.map(|(topic, t)| (topic, read(t))));
    }
    type Readers<'a> = &'a [(&'a str, Read)];
    let pairs: [(&str, &str, Readers<'_>); 2] = [
        (
            "gridbay_net_gossip_total",
            "verdict",
            &[
                ("accepted", |t| t.accepted),
                ("ignored", |t| t.ignored),
                ("rejected", |t| t.rejected),
                ("dropped", |t| t.dropped),
                ("limited", |t| t.limited),
            ],
        ),
        (
            "gridbay_net_gossip_bytes_total",
            "direction",
            &[("in", |t| t.bytes_in), ("out", |t| t.bytes_out)],
        ),
    ];
    for (name, label, readers) in pairs {
        text.head(name);
        for (topic, counters) in &stats.topics {
            for (of, read) in readers {
                let labels = [("topic", topic.as_str()), (label, *of)];
                text.labelled(name, labels, read(counters));
            }
        }
    }
}
