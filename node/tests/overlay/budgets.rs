//! Bytes of gossip that wait for a verdict have a budget.

use gridbay_node::overlay::{Count, Verdict};

use crate::net::{Node, TCP, config, connect, eventually};

/// Bytes of a message, and how many of them may wait.
const BYTES: usize = 8 << 10;
const WAIT: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn gossip_that_waits_for_a_verdict_stays_within_its_budget() {
    let mut slow = config(141, 0, &[TCP]);
    slow.limits.unjudged_bytes = WAIT * BYTES;
    let slow = Node::start(slow).await;
    let mut quick = config(141, 1, &[TCP]);
    quick.bootstrap = vec![slow.contact()];
    let quick = Node::start(quick).await;
    connect(&[&slow, &quick]).await;
    let publish = |n: usize| {
        let bytes = vec![n as u8; BYTES];
        quick.handle.publish("entries", bytes).unwrap();
    };
    let waiting = || slow.handle.whereabouts().queues.unjudged;
    let dropped = || slow.handle.stats().get(Count::GossipDropped);
    (0..3 * WAIT).for_each(publish);
    eventually(|| dropped() == 2 * WAIT as u64).await;
    eventually(|| waiting() == WAIT).await;
    for _ in 0..WAIT {
        let waits = slow.message().await;
        slow.handle.report(waits.id, Verdict::Accept).unwrap();
    }
    eventually(|| waiting() == 0).await;
    // A judged message makes room.
    publish(100);
    assert_eq!(slow.message().await.bytes[0], 100);
    assert_eq!(dropped(), 2 * WAIT as u64);
}
