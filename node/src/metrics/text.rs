//! Prometheus' text form, as it grows.

use std::fmt::{Display, Write as _};

/// Every metric: its name, its kind and its help.
const CATALOGUE: &str = "\
gridbay_account_balance_credits gauge Own free balance.
gridbay_account_held_credits gauge Own money locked.
gridbay_adverts_known gauge Adverts of other nodes that count now.
gridbay_copies_kept gauge Copies of the checkpoints of other sellers' jobs that lie here.
gridbay_copies_refused_total counter Such copies that were refused.
gridbay_discovery_events_total counter Questions for sellers and what came of them, by kind.
gridbay_halted gauge Whether the node acknowledges nothing until its disk works again.
gridbay_jobs_hosted gauge Jobs of others that run here.
gridbay_jobs_web_connections_total counter Connections of jobs to the web.
gridbay_jobs_web_received_bytes_total counter Bytes that jobs received from the web.
gridbay_jobs_web_refused_total counter Connections to the web that jobs were refused, by reason.
gridbay_jobs_web_sent_bytes_total counter Bytes that jobs sent to the web.
gridbay_ledger_accounts gauge Accounts.
gridbay_ledger_block_time_ms gauge Ledger time of the last block.
gridbay_ledger_escrow_credits gauge Locked for orders.
gridbay_ledger_height gauge Height of the last block.
gridbay_ledger_minted_credits gauge Money minted.
gridbay_ledger_pool_entries gauge Entries that wait for a block.
gridbay_market_leases gauge Running leases.
gridbay_market_orders gauge Live orders on the ledger.
gridbay_market_orders_open gauge Own orders not over.
gridbay_market_orders_waiting gauge Standing orders without units, by class.
gridbay_market_price_credits gauge Last mean price per node-hour.
gridbay_market_round gauge Round of the next height.
gridbay_market_slot gauge Slot of the next height.
gridbay_market_units_free gauge Units nobody holds, by class.
gridbay_market_units_offered gauge Units for sale, by class.
gridbay_net_banned gauge Peers banned.
gridbay_net_events_total counter What the overlay counts, by kind.
gridbay_net_gossip_bytes_total counter Payload bytes, by topic.
gridbay_net_gossip_published_total counter Own publications, by topic.
gridbay_net_gossip_received_total counter First receipts, by topic.
gridbay_net_gossip_total counter What became of received messages, by topic.
gridbay_net_mesh_peers gauge Peers that pass gossip on to this node.
gridbay_net_nat gauge The NAT before this node: 1 for what holds.
gridbay_net_peers gauge Peers connected.
gridbay_net_peers_by_path gauge Peers connected, by how they are reached.
gridbay_net_queue gauge What waits in the overlay, by queue.
gridbay_net_reach gauge How this node is reached: 1 for what holds.
gridbay_net_relay_circuits gauge Circuits through this node.
gridbay_net_relay_places_given gauge Nodes that have a place here.
gridbay_net_relay_places_held gauge Relays at which this node has a place.
gridbay_node_units_leased gauge Units of those leased.
gridbay_node_units_offered gauge Units this node offers.
gridbay_up gauge Whether the core thread answers.
";

/// The text as it grows.
#[derive(Default)]
pub(super) struct Text(pub(super) String);

impl Text {
    /// Begins a metric.
    pub(super) fn head(&mut self, name: &str) {
        let of = |line: &'static str| line.strip_prefix(name)?.strip_prefix(' ')?.split_once(' ');
        if let Some((kind, help)) = CATALOGUE.lines().find_map(of) {
            // Writing to a string cannot fail.
            let _fine = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        }
    }
    /// A metric of one value.
    pub(super) fn gauge(&mut self, name: &str, value: impl Display) {
        self.head(name);
        let _fine = writeln!(self.0, "{name} {value}");
    }
    /// A metric with a value for each value of its label.
    pub(super) fn by<L: AsRef<str>, V: Display>(
        &mut self,
        (name, label): (&str, &str),
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.head(name);
        for (of, value) in values {
            self.labelled(name, [(label, of.as_ref())], value);
        }
    }
    /// A value under labels.
    pub(super) fn labelled<const N: usize>(
        &mut self,
        name: &str,
        labels: [(&str, &str); N],
        value: impl Display,
    ) {
        let labels = labels.map(|(label, of)| format!("{label}=\"{}\"", escaped(of)));
        let _fine = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut text = Text::default();
        text.labelled("m", [("class", "a\"b\\c")], 1);
        assert_eq!(text.0, "m{class=\"a\\\"b\\\\c\"} 1\n");
    }
}
