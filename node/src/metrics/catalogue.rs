//! Every metric with its kind and its help.

/// A line each: name, kind, help. In the order of the alphabet.
pub(crate) const CATALOGUE: &str = "\
gridbay_account_balance_credits gauge Own free balance.
gridbay_account_held_credits gauge Own money locked.
gridbay_adverts_known gauge Adverts of other nodes that count now.
gridbay_api_request_duration_seconds histogram Time from a request of the API to the head of its answer.
gridbay_api_requests_total counter Requests of the API, by noun and by what became of them.
gridbay_build_info gauge The program that runs: always 1.
gridbay_clearing_duration_seconds histogram Work of the core's thread for a block that cleared an auction.
gridbay_clearings_total counter Auctions cleared since this node started, by kind.
gridbay_copies_kept gauge Copies of the checkpoints of other sellers' jobs that lie here.
gridbay_copies_refused_total counter Such copies that were refused.
gridbay_discovery_events_total counter Questions for sellers and what came of them, by kind.
gridbay_disk_floor_bytes gauge Free bytes below which jobs end; below twice as many none begins.
gridbay_disk_free_bytes gauge Free bytes of the disk that holds the data folder.
gridbay_halted gauge Whether the node acknowledges nothing until its disk works again.
gridbay_jobs_ended_total counter Jobs of others that ended here, by how.
gridbay_jobs_hosted gauge Jobs of others that run here.
gridbay_jobs_staging_seconds histogram Time from the order to stage a job of others to its first instruction.
gridbay_jobs_started_total counter Jobs of others that were started here.
gridbay_jobs_web_connections_total counter Connections of jobs to the web.
gridbay_jobs_web_received_bytes_total counter Bytes that jobs received from the web.
gridbay_jobs_web_refused_total counter Connections to the web that jobs were refused, by reason.
gridbay_jobs_web_sent_bytes_total counter Bytes that jobs sent to the web.
gridbay_lease_handshake_age_seconds gauge Age of the oldest handshake of a lease's network.
gridbay_lease_networks gauge Private networks of leases that this node is in.
gridbay_lease_packets_refused_total counter Packets that those networks refused, by reason.
gridbay_lease_pairs gauge Other members of those networks, by the way to each.
gridbay_lease_received_bytes_total counter Bytes received inside the tunnels of a lease.
gridbay_lease_round_trip_seconds gauge The longest round trip to a member of a lease's network.
gridbay_lease_sent_bytes_total counter Bytes sent inside the tunnels of a lease.
gridbay_lease_streams_refused_total counter Streams for packets that were not let in, by reason.
gridbay_ledger_accounts gauge Accounts.
gridbay_ledger_block_decision_seconds histogram Time from the ledger time of a block, when it was proposed, to its decision here, by this machine's clock.
gridbay_ledger_block_duration_seconds histogram Work of the core's thread from one block to the next.
gridbay_ledger_block_interval_least_seconds gauge The least time between blocks, by the network's policy.
gridbay_ledger_block_interval_most_seconds gauge The time after which a block comes even if there is nothing to put in.
gridbay_ledger_block_interval_seconds histogram Ledger time between two blocks.
gridbay_ledger_block_timestamp_seconds gauge Ledger time of the last block, since 1970.
gridbay_ledger_escrow_credits gauge Locked for orders.
gridbay_ledger_height gauge Height of the last block.
gridbay_ledger_minted_credits gauge Money minted.
gridbay_ledger_pool_entries gauge Entries that wait for a block.
gridbay_ledger_stage_seconds_total counter Processor time of the core's thread for the ledger, by stage.
gridbay_ledger_validators gauge Validators of the network.
gridbay_ledger_validators_reached gauge Validators that are connected, or that this node does without for now; this node among them if it is one.
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
gridbay_net_gossip_bytes_total counter Payload bytes of gossip, by topic.
gridbay_net_gossip_published_total counter Own publications, by topic.
gridbay_net_gossip_received_total counter First receipts, by topic.
gridbay_net_gossip_total counter What became of received messages, by topic.
gridbay_net_mesh_peers gauge Peers that pass gossip on to this node.
gridbay_net_nat gauge The NAT before this node: 1 for what holds.
gridbay_net_peers gauge Peers connected.
gridbay_net_peers_by_path gauge Peers connected, by how they are reached.
gridbay_net_queue gauge What waits in the overlay, by queue.
gridbay_net_reach gauge How this node is reached: 1 for what holds.
gridbay_net_received_bytes_total counter Payload bytes received, of all kinds.
gridbay_net_relay_circuits gauge Circuits through this node.
gridbay_net_relay_places_given gauge Nodes that have a place here.
gridbay_net_relay_places_held gauge Relays at which this node has a place.
gridbay_net_sent_bytes_total counter Payload bytes handed to the network, of all kinds.
gridbay_node_units_leased gauge Units of those leased.
gridbay_node_units_offered gauge Units this node offers.
gridbay_orders_by_state gauge Own orders, by state.
gridbay_orders_ended_total counter Own orders that ended since this node started, by state.
gridbay_orders_leases_lost_total counter Leases that own orders lost to others or to failing sellers.
gridbay_orders_next_end_seconds gauge Time until the first lease of an own order ends for good.
gridbay_orders_start_delay_seconds histogram Time from taking an own order to the first instruction of its job.
gridbay_owner_questions_total counter Questions of nodes that would control this one, by kind.
gridbay_payments_charged_credits_total counter Charged for own orders since this node started.
gridbay_payments_credits_total counter Own free balance moved since this node started, by direction and reason.
gridbay_payments_earned_credits_total counter Earned by own units since this node started.
gridbay_payments_refunded_credits_total counter Given back for own orders since this node started.
gridbay_payments_total counter Movements of the own free balance since this node started, by direction and reason.
gridbay_traces_failures_total counter Requests to the collector of traces that failed and were tried again.
gridbay_traces_spans_total counter Spans of orders' traces, by what became of them.
gridbay_traces_spans_waiting gauge Spans that wait for the collector.
gridbay_trouble gauge Troubles of the node: 1 for what holds.
gridbay_up gauge Whether the core thread answers.
process_cpu_seconds_total counter Processor time of the node, without its jobs.
process_max_fds gauge Files that the process may have open.
process_open_fds gauge Files that the process has open.
process_resident_memory_bytes gauge Memory that the process holds.
process_start_time_seconds gauge When the node started, since 1970.
process_virtual_memory_bytes gauge Addresses that the process holds.
";

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of `promtool check metrics`, and of Prometheus' guide to names.
    #[test]
    fn names_tell_kind_and_unit() {
        let lines: Vec<_> = CATALOGUE.lines().collect();
        assert!(lines.is_sorted(), "the order of the alphabet");
        for line in lines {
            let [name, kind, help] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            assert!(help.ends_with('.'), "{line}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            assert!(kind != "histogram" || name.ends_with("_seconds"), "{line}");
            let parts: Vec<_> = name.split('_').collect();
            assert!(["gridbay", "process"].contains(&parts[0]), "{line}");
            for unit in [
                "ms",
                "milliseconds",
                "minutes",
                "hours",
                "kib",
                "mib",
                "percent",
            ] {
                assert!(!parts.contains(&unit), "{line}");
            }
            for reserved in ["_count", "_sum", "_bucket"] {
                assert!(!name.ends_with(reserved), "{line}");
            }
            assert!(!parts.contains(&kind), "{line}");
        }
    }
}
