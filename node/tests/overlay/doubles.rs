//! Two connections to one peer: the end with the lower id leaves one.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use crate::net::{Node, TCP, config};
use futures::StreamExt;
use gridbay_node::overlay::Count;
use libp2p::identity::Keypair;
use libp2p::swarm::SwarmEvent;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::{PeerId, Swarm, SwarmBuilder, identify, noise, tcp, yamux};
use std::time::Duration;

const NETWORK: u8 = 150;

/// Says of itself what a node of the network does, and stays.
fn swarm(keys: Keypair) -> Swarm<identify::Behaviour> {
    let id: String = [NETWORK; 16].iter().map(|b| format!("{b:02x}")).collect();
    SwarmBuilder::with_existing_identity(keys)
        .with_tokio()
        .with_tcp(
            tcp::Config::default(),
            noise::Config::new,
            yamux::Config::default,
        )
        .unwrap()
        .with_behaviour(|keys| {
            let name = format!("/gridbay/{id}/1");
            identify::Behaviour::new(identify::Config::new(name, keys.public()))
        })
        .unwrap()
        .with_swarm_config(|c| c.with_idle_connection_timeout(Duration::from_secs(60)))
        .build()
}

/// Keys with a lower or a higher id than this.
fn keys(than: PeerId, lower: bool) -> Keypair {
    loop {
        let keys = Keypair::generate_ed25519();
        if (keys.public().to_peer_id() < than) == lower {
            return keys;
        }
    }
}

/// Dials a node twice, and returns how many connections of the two it has seen ended.
async fn twice(node: &Node, lower: bool) -> usize {
    let mut swarm = swarm(keys(node.peer(), lower));
    let (peer, address) = node.contact();
    for _ in 0..2 {
        let dial = DialOpts::peer_id(peer)
            .condition(PeerCondition::Always)
            .addresses(vec![address.clone()]);
        swarm.dial(dial.build()).unwrap();
    }
    let mut ended = 0;
    // Thrice as long as two connections stand beside each other.
    let end = tokio::time::Instant::now() + Duration::from_secs(9);
    while let Ok(event) = tokio::time::timeout_at(end, swarm.select_next_some()).await {
        ended += usize::from(matches!(event, SwarmEvent::ConnectionClosed { .. }));
    }
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lower_id_leaves_one_of_two() {
    let mut config = config(NETWORK, 0, &[TCP]);
    config.topics.clear();
    let node = Node::start(config).await;
    let (by_node, by_other) = tokio::join!(twice(&node, false), twice(&node, true));
    assert_eq!((by_node, by_other), (1, 0));
    assert_eq!(node.handle.stats().get(Count::DoublesClosed), 1);
}
