//! A node's statements about itself: an asker is told only addresses that are of use where it is.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::{self, Multiaddr};
use libp2p::identify;
use libp2p::identity::Keypair;
use libp2p::swarm::SwarmEvent;

use crate::attacker::{at, name, swarm};
use crate::market::{Node, config};

const NETWORK: u8 = 89;

/// The addresses that identify tells a peer at a host.
async fn told(node: &Node, host: Ipv4Addr) -> Vec<Multiaddr> {
    let mut swarm = swarm(Keypair::generate_ed25519(), host, |keys| {
        identify::Behaviour::new(identify::Config::new(name(NETWORK, "1"), keys.public()))
    });
    let mut dialled = false;
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&node.address(true), node.peer())).unwrap();
            }
            SwarmEvent::Behaviour(identify::Event::Received { info, .. }) => {
                return info.listen_addrs;
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_hears_only_addresses_that_it_could_use() {
    let mut config = config(NETWORK, 0);
    let global = "/ip4/203.0.113.7/udp/7411/quic-v1";
    // A LAN, a container's bridge, a site, a link: nothing that leads anywhere from where the asker
    // is.
    let near = ["192.168.77.1", "172.17.0.1", "10.7.7.7", "169.254.7.7"];
    let near = near.map(|host| format!("/ip4/{host}/udp/7411/quic-v1"));
    let external = near.iter().map(String::as_str).chain([global]);
    config.external = external.map(|address| address.parse().unwrap()).collect();
    let node = Node::start(config).await;
    let asked = told(&node, Ipv4Addr::new(127, 66, NETWORK, 1));
    let told = tokio::time::timeout(Duration::from_secs(60), asked).await;
    let mut told = told.expect("it says who it is");
    told.sort_unstable();
    told.dedup();
    let mut expected: Vec<Multiaddr> = vec![global.parse().unwrap()];
    let own = [node.address(true), node.address(false)];
    assert!(
        own.iter()
            .all(|own| overlay::ip(own).unwrap().is_loopback())
    );
    expected.extend(own);
    expected.sort_unstable();
    assert_eq!(told, expected);
}
