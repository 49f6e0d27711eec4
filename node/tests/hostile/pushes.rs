//! What a peer says of itself, again and again, and something else each time.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::Count;
use libp2p::identity::Keypair;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, identify};

use crate::attacker::{at, name, swarm};
use crate::lies::{KadCodec, Liar, Lie};
use crate::market::{Node, config};

/// Addresses in each push.
const ADDRESSES: u16 = 12;

#[derive(NetworkBehaviour)]
struct Pusher {
    identify: identify::Behaviour,
    kad: rr::Behaviour<KadCodec>,
}

fn pusher(network: u8, host: Ipv4Addr) -> Swarm<Pusher> {
    swarm(Keypair::generate_ed25519(), host, |keys| {
        let protocol = StreamProtocol::try_from_owned(name(network, "kad/1")).unwrap();
        let supported = [(protocol, ProtocolSupport::Full)];
        let identity = identify::Config::new(name(network, "1"), keys.public());
        Pusher {
            identify: identify::Behaviour::new(identity),
            kad: rr::Behaviour::with_codec(KadCodec, supported, rr::Config::default()),
        }
    })
}

/// Pushes so many times, at that pace, each time with other addresses, then stays. Returns when it
/// is disconnected.
async fn push_on(
    mut swarm: Swarm<Pusher>,
    host: Ipv4Addr,
    (victim, address): (PeerId, Multiaddr),
    pushes: u16,
    pace: Duration,
) {
    let (mut dialled, mut connected, mut pushed) = (false, false, 0);
    let mut pace = tokio::time::interval(pace);
    let silent = Liar {
        lie: Lie::Silence,
        friends: [].into(),
        record: [].into(),
    };
    loop {
        let event = tokio::select! {
            event = swarm.select_next_some() => event,
            _ = pace.tick(), if connected && pushed < pushes => {
                pushed += 1;
                for old in swarm.external_addresses().cloned().collect::<Vec<_>>() {
                    swarm.remove_external_address(&old);
                }
                for n in 0..ADDRESSES {
                    let port = 1000 + (pushed % 4000) * ADDRESSES + n;
                    let other = format!("/ip4/{host}/udp/{port}/quic-v1");
                    swarm.add_external_address(other.parse().unwrap());
                }
                swarm.behaviour_mut().identify.push([victim]);
                continue;
            }
        };
        match event {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&address, victim)).unwrap();
            }
            SwarmEvent::Behaviour(PusherEvent::Identify(identify::Event::Received { .. })) => {
                connected = true
            }
            SwarmEvent::Behaviour(PusherEvent::Kad(rr::Event::Message {
                message:
                    rr::Message::Request {
                        request, channel, ..
                    },
                ..
            })) => {
                let answer = silent.answer(&request);
                let _gone = swarm.behaviour_mut().kad.send_response(channel, answer);
            }
            SwarmEvent::ConnectionClosed {
                num_established: 0, ..
            } => return,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_pushes_without_end_is_banned() {
    let victim = Node::start(config(82, 0)).await;
    let host = Ipv4Addr::new(127, 66, 82, 1);
    let swarm = pusher(82, host);
    let pace = Duration::from_millis(5);
    let pushing = push_on(swarm, host, victim.contact(), u16::MAX, pace);
    tokio::time::timeout(Duration::from_secs(60), pushing)
        .await
        .expect("it is shut out");
    let stats = victim.handle.stats();
    assert_eq!(stats.get(Count::Bans), 1);
    assert!(stats.get(Count::GreetingsLimited) > 0);
}
