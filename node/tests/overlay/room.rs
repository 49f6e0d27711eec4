//! Room for connections: a node that has many closes those that nobody needs, and lets newcomers
//! in.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use crate::net::{Node, TCP, config, eventually};
use gridbay_node::overlay::Count;
use std::time::Duration;

/// Connections that the hub may have: nine of others, and room is made at nine.
const CONNECTIONS: u32 = 12;

/// Age from which a connection may be closed: short, or the test would take minutes.
const GRACE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowded_node_makes_room_for_those_who_come() {
    let mut crowded = config(140, 0, &[TCP]);
    crowded.limits.connections = CONNECTIONS;
    crowded.tuning.grace = GRACE;
    crowded.topics.clear();
    let hub = Node::start(crowded).await;
    let mut others = Vec::new();
    for i in 1..=14 {
        let mut config = config(140, i, &[TCP]);
        // Known and not kept: nobody insists on the hub. And nobody takes part in gossip, so that
        // no mesh holds a connection.
        config.known = vec![hub.contact()];
        config.topics.clear();
        config.limits.wanted_peers = 1;
        others.push(Node::start(config).await);
    }
    // All are met, though never more than nine at a time may stand.
    eventually(|| others.iter().all(Node::saw_peer)).await;
    let stats = hub.handle.stats();
    assert!(stats.get(Count::ClosedForRoom) >= 3, "{stats:?}");
    assert!(hub.handle.peers().len() <= CONNECTIONS as usize);
}
