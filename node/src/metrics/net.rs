//! Metrics of the overlay.

use super::text::Text;
use crate::overlay::{Nat, OverlayStats, PeerInfo, Reach, TopicStats, Whereabouts, is_quic};

pub(crate) fn metrics(
    text: &mut Text,
    peers: &[PeerInfo],
    now: &Whereabouts,
    stats: &OverlayStats,
) {
    connections(text, peers);
    ourselves(text, now);
    text.head(
        "gridbay_net_events_total",
        "counter",
        "What the overlay counts, by kind.",
    );
    for (kind, n) in &stats.counts {
        text.labelled("gridbay_net_events_total", "kind", kind, n);
    }
    gossip(text, stats);
}

fn connections(text: &mut Text, peers: &[PeerInfo]) {
    text.gauge("gridbay_net_peers", "Peers connected.", peers.len());
    let name = "gridbay_net_peers_by_path";
    text.head(name, "gauge", "Peers connected, by how they are reached.");
    let relayed = peers.iter().filter(|p| p.via.is_some()).count();
    let direct = peers.iter().filter(|p| p.via.is_none());
    let quic = direct.filter(|p| is_quic(&p.address)).count();
    let tcp = peers.len() - relayed - quic;
    for (path, n) in [("quic", quic), ("tcp", tcp), ("relayed", relayed)] {
        text.labelled(name, "path", path, n);
    }
    text.gauge(
        "gridbay_net_mesh_peers",
        "Peers that pass gossip on to this node.",
        peers.iter().filter(|p| p.in_mesh).count(),
    );
}

fn ourselves(text: &mut Text, now: &Whereabouts) {
    let name = "gridbay_net_reach";
    text.head(name, "gauge", "How this node is reached: 1 for what holds.");
    for (state, of) in [
        ("local", Reach::Local),
        ("unknown", Reach::Unknown),
        ("public", Reach::Public),
        ("private", Reach::Private),
    ] {
        text.labelled(name, "state", state, u8::from(now.reach == of));
    }
    let name = "gridbay_net_nat";
    text.head(name, "gauge", "The NAT before this node: 1 for what holds.");
    for (kind, of) in [
        ("unknown", Nat::Unknown),
        ("none", Nat::None),
        ("cone", Nat::Cone),
        ("symmetric", Nat::Symmetric),
    ] {
        text.labelled(name, "kind", kind, u8::from(now.nat == of));
    }
    text.gauge(
        "gridbay_net_relay_places_held",
        "Relays at which this node has a place.",
        now.relays.len(),
    );
    text.gauge(
        "gridbay_net_relay_places_given",
        "Nodes that have a place here.",
        now.places_given,
    );
    text.gauge(
        "gridbay_net_relay_circuits",
        "Circuits through this node.",
        now.circuits,
    );
    text.gauge("gridbay_net_banned", "Peers banned.", now.banned);
    let name = "gridbay_net_queue";
    text.head(name, "gauge", "What waits in the overlay, by queue.");
    for (queue, n) in now.queues.named() {
        text.labelled(name, "queue", queue, n);
    }
}

fn gossip(text: &mut Text, stats: &OverlayStats) {
    type Read = fn(&TopicStats) -> u64;
    let singles: [(&str, &str, Read); 2] = [
        (
            "gridbay_net_gossip_received_total",
            "First receipts, by topic.",
            |t| t.received,
        ),
        (
            "gridbay_net_gossip_published_total",
            "Own publications, by topic.",
            |t| t.published,
        ),
    ];
    for (name, help, read) in singles {
        text.head(name, "counter", help);
        for (topic, counters) in &stats.topics {
            text.labelled(name, "topic", topic, read(counters));
        }
    }
    type Readers<'a> = &'a [(&'a str, Read)];
    let pairs: [(&str, &str, &str, Readers<'_>); 2] = [
        (
            "gridbay_net_gossip_total",
            "What became of received messages, by topic.",
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
            "Payload bytes, by topic.",
            "direction",
            &[("in", |t| t.bytes_in), ("out", |t| t.bytes_out)],
        ),
    ];
    for (name, help, label, readers) in pairs {
        text.head(name, "counter", help);
        for (topic, counters) in &stats.topics {
            for (of, read) in readers {
                let labels = [("topic", topic.as_str()), (label, *of)];
                text.twice(name, labels, read(counters));
            }
        }
    }
}
