//! Addresses that only strangers name: a node does not knock at doors of its own machine or network
//! for them.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::{self, Count, Multiaddr, PeerId};
use libp2p::identity::Keypair;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{StreamProtocol, identify};
use tokio::net::TcpListener;

use crate::attacker::{at, name, swarm};
use crate::lies::{KadCodec, Liar, Lie};
use crate::market::{Node, config, eventually};

const NETWORK: u8 = 97;

#[derive(NetworkBehaviour)]
struct Liars {
    identify: identify::Behaviour,
    kad: rr::Behaviour<KadCodec>,
}

/// Serves the DHT, and names others' doors to every asker.
async fn lie_on(host: Ipv4Addr, (victim, address): (PeerId, Multiaddr), liar: Liar) {
    let mut swarm = swarm(Keypair::generate_ed25519(), host, |keys| {
        let protocol = StreamProtocol::try_from_owned(name(NETWORK, "kad/1")).unwrap();
        let supported = [(protocol, ProtocolSupport::Full)];
        let identity = identify::Config::new(name(NETWORK, "1"), keys.public());
        Liars {
            identify: identify::Behaviour::new(identity),
            kad: rr::Behaviour::with_codec(KadCodec, supported, rr::Config::default()),
        }
    });
    let mut dialled = false;
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&address, victim)).unwrap();
            }
            SwarmEvent::Behaviour(LiarsEvent::Kad(rr::Event::Message {
                message:
                    rr::Message::Request {
                        request, channel, ..
                    },
                ..
            })) => {
                let answer = liar.answer(&request);
                let _gone = swarm.behaviour_mut().kad.send_response(channel, answer);
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_does_not_knock_where_strangers_send_it() {
    let door = TcpListener::bind("127.0.0.9:0").await.unwrap();
    let port = door.local_addr().unwrap().port();
    let mut config = config(NETWORK, 0);
    config.listen = vec!["/ip4/0.0.0.0/udp/0/quic-v1".parse().unwrap()];
    let victim = Node::start(config).await;
    let own = overlay::port(&victim.handle.addresses()[0]).unwrap();
    let address = format!("/ip4/127.0.0.1/udp/{own}/quic-v1").parse().unwrap();
    let doors = [
        format!("/ip4/127.0.0.9/tcp/{port}"),
        format!("/ip6/::ffff:127.0.0.9/tcp/{port}"),
        format!("/dns4/localhost/tcp/{port}"),
        format!("/ip4/169.254.169.254/tcp/{port}"),
    ];
    let friends = doors.iter().map(|door| {
        let address: Multiaddr = door.parse().unwrap();
        (PeerId::random(), address)
    });
    let liar = Liar {
        lie: Lie::Friends,
        friends: friends.collect(),
        record: Arc::from([]),
    };
    let host = Ipv4Addr::new(127, 66, NETWORK, 1);
    tokio::spawn(lie_on(host, (victim.peer(), address), liar));
    eventually("the liar is in", || !victim.handle.peers().is_empty()).await;
    let knocked = tokio::spawn(async move { door.accept().await });
    for key in 0..50 {
        let _found = victim.handle.find([key; 32]).await.unwrap();
        if victim.handle.stats().get(Count::DialsRefused) >= 4 || knocked.is_finished() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(victim.handle.stats().get(Count::DialsRefused) >= 4);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        !knocked.is_finished(),
        "it knocked at a door of its machine"
    );
}
