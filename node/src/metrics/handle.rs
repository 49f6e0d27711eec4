//! The whole text.
//!
//! `gridbay_up` is 0 while the core thread does not answer: then only the figures outside it are
//! shown.

use super::facts::{Facts, in_credits};
use super::lease;
use super::meters::Names;
use super::net;
use super::process;
use super::text::Text;
use crate::api::Answer;
use crate::api::types::{AuctionKind, JobState};
use crate::backend::NodeBackend;
use crate::body::ask::peer_of;
use crate::market::Market;
use crate::outbound::Counts;
use crate::overlay::key_of_peer_id;
use crate::trace::Traces;
use crate::trouble::Kind;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;

impl NodeBackend {
    /// Metrics in Prometheus' text form.
    pub async fn metrics(&self) -> String {
        let mut text = Text::default();
        build(&mut text);
        process::metrics(&mut text, self.started_ms);
        let overlay = &self.parts.overlay;
        net::metrics(
            &mut text,
            &overlay.peers(),
            &overlay.whereabouts(),
            &overlay.stats(),
        );
        let discovery = self.discovery.counts();
        text.by(("gridbay_discovery_events_total", "kind"), discovery);
        web(&mut text, self.parts.gateway.counts());
        let asked = self.parts.owner.counts();
        text.by(("gridbay_owner_questions_total", "kind"), asked);
        traces(&mut text, &self.parts.traces);
        lease::metrics(&mut text, &self.networks().await);
        let refused = self.parts.clusters.streams_refused();
        let refused = refused.into_iter().map(|(of, count)| (of.name(), count));
        text.by(("gridbay_lease_streams_refused_total", "reason"), refused);
        self.health(&mut text);
        self.parts.meters.metrics(&mut text, &names());
        let node = self.parts.node;
        let facts: Answer<Facts> = self.query(move |core| Facts::of(core, node)).await;
        text.value("gridbay_up", u8::from(facts.is_ok()));
        if let Ok(facts) = facts {
            facts.metrics(&mut text);
            let reached = self.reached(&facts.validators);
            text.value("gridbay_ledger_validators_reached", reached);
            let last = |(market, _): &(Market, u32)| {
                let last = self.board.last(&market.id)?;
                Some((market.name.clone(), in_credits(last.price)))
            };
            let prices = facts.classes.iter().filter_map(last);
            text.by(("gridbay_market_price_credits", "class"), prices);
        }
        text.0
    }

    /// Troubles, and the room on the disk.
    fn health(&self, text: &mut Text) {
        let troubles = self.parts.body.troubles();
        let kinds: BTreeSet<Kind> = troubles.borrow().iter().map(|t| t.kind).collect();
        let halted = kinds.iter().any(|kind| kind.halts());
        text.value("gridbay_halted", u8::from(halted));
        let of = |kind: Kind| (kind.name(), u8::from(kinds.contains(&kind)));
        text.by(("gridbay_trouble", "kind"), Kind::ALL.into_iter().map(of));
        let room = &self.parts.room;
        text.value("gridbay_disk_floor_bytes", room.floor());
        if let Ok(free) = room.free() {
            text.value("gridbay_disk_free_bytes", free);
        }
    }

    /// How many of these nodes are connected, rest, or are this one.
    pub(crate) fn reached(&self, nodes: &[PublicKey]) -> usize {
        let peers = self.parts.overlay.peers();
        let keys = peers.iter().filter_map(|peer| key_of_peer_id(&peer.peer));
        let mut near: BTreeSet<[u8; 32]> = keys.collect();
        near.insert(*self.parts.node.as_bytes());
        let missed = |node: &&PublicKey| !near.contains(node.as_bytes()) && !self.rests(node);
        nodes.len() - nodes.iter().filter(missed).count()
    }
    /// Whether this node does without a validator's for now.
    pub(crate) fn rests(&self, node: &PublicKey) -> bool {
        peer_of(node).is_some_and(|peer| self.parts.overlay.rests(&peer))
    }
}

fn names() -> Names {
    let last = JobState::ALL.into_iter().filter(|state| state.is_final());
    Names {
        auctions: AuctionKind::ALL.map(AuctionKind::name).to_vec(),
        ends: last.map(JobState::name).collect(),
    }
}

/// The program.
fn build(text: &mut Text) {
    let name = "gridbay_build_info";
    text.head(name);
    let labels = [("version", env!("CARGO_PKG_VERSION"))];
    text.labelled(name, labels, 1);
}

/// What jobs' connections to the web came to.
fn web(text: &mut Text, counts: &Counts) {
    text.value("gridbay_jobs_web_connections_total", counts.connections());
    text.value("gridbay_jobs_web_sent_bytes_total", counts.sent());
    text.value("gridbay_jobs_web_received_bytes_total", counts.received());
    text.by(
        ("gridbay_jobs_web_refused_total", "reason"),
        counts.refused(),
    );
}

/// What became of traces.
fn traces(text: &mut Text, traces: &Traces) {
    text.by(("gridbay_traces_spans_total", "outcome"), traces.spans());
    text.value("gridbay_traces_spans_waiting", traces.waiting());
    text.value("gridbay_traces_failures_total", traces.failures());
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::facts;
    use super::*;
    use crate::metrics::Meters;
    use crate::overlay::{OverlayStats, Reach, TopicStats, Whereabouts};

    /// All that is told without a node, which the tests of the API start.
    fn some() -> Text {
        let mut text = Text::default();
        let stats = OverlayStats {
            counts: [("bytes_in", 7), ("punched", 4)].into(),
            topics: [("adverts".to_owned(), TopicStats::default())].into(),
        };
        let whereabouts = Whereabouts {
            reach: Reach::Private,
            places_given: 3,
            ..Whereabouts::default()
        };
        net::metrics(&mut text, &[], &whereabouts, &stats);
        lease::metrics(&mut text, &[]);
        build(&mut text);
        process::metrics(&mut text, 1);
        Meters::default().metrics(&mut text, &names());
        facts().metrics(&mut text);
        text
    }

    #[test]
    fn every_metric_is_declared_once_before_its_values() {
        let text = some();
        let mut declared = BTreeSet::new();
        for line in text.0.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(declared.insert(name.to_owned()), "{name} twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                let parts = ["_bucket", "_sum", "_count"];
                let whole = parts.iter().find_map(|part| name.strip_suffix(part));
                let known = |name: &str| declared.contains(name);
                assert!(known(name) || whole.is_some_and(known), "{line}");
                assert!(
                    line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(),
                    "{line}"
                );
            }
        }
        for line in [
            "gridbay_ledger_height 17",
            "gridbay_ledger_block_timestamp_seconds 0.005",
            "gridbay_ledger_block_interval_least_seconds 0.25",
            "gridbay_orders_next_end_seconds 90.5",
            "gridbay_orders_by_state{state=\"running\"} 2",
            "gridbay_orders_by_state{state=\"queued\"} 0",
            "gridbay_jobs_hosted 3",
            "gridbay_copies_kept 2",
            "gridbay_copies_refused_total 5",
            "gridbay_account_balance_credits -1.500000",
            "gridbay_net_received_bytes_total 7",
            "gridbay_net_sent_bytes_total 0",
            "gridbay_net_events_total{kind=\"punched\"} 4",
            "gridbay_net_reach{state=\"private\"} 1",
            "gridbay_net_reach{state=\"public\"} 0",
            "gridbay_net_nat{kind=\"unknown\"} 1",
            "gridbay_net_relay_places_given 3",
            "gridbay_net_peers_by_path{path=\"relayed\"} 0",
            "gridbay_net_gossip_total{topic=\"adverts\",verdict=\"rejected\"} 0",
            "gridbay_market_units_free{class=\"small\"} 3",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line}");
        }
        assert!(
            !text.0.contains("{kind=\"bytes_in\"}"),
            "bytes are no events"
        );
    }
}
