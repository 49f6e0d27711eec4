//! Every protocol that a node speaks has a meter, and light clients that overdo one are banned.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::{Count, Rate, RelayLimits, metered_protocols};
use libp2p::identity::Keypair;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, identify};

use crate::attacker::{Raw, RawCodec, at, name, swarm};
use crate::market::{Node, config, eventually};

/// Streams on their way at a time.
const ON_THE_WAY: usize = 20;
/// How long it may take until somebody is shut out.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens streams of one protocol, and writes the same on each.
#[derive(NetworkBehaviour)]
struct Opener {
    identify: identify::Behaviour,
    opened: rr::Behaviour<RawCodec>,
}

fn opener(network: u8, host: Ipv4Addr, protocol: &str) -> Swarm<Opener> {
    let protocol = StreamProtocol::try_from_owned(protocol.to_owned()).unwrap();
    swarm(Keypair::generate_ed25519(), host, |keys| Opener {
        identify: identify::Behaviour::new(identify::Config::new(
            name(network, "1"),
            keys.public(),
        )),
        opened: rr::Behaviour::with_codec(
            RawCodec,
            [(protocol, ProtocolSupport::Outbound)],
            rr::Config::default(),
        ),
    })
}

/// Connects to a node and writes the same on stream after stream until it is disconnected. Returns
/// how many streams it began.
async fn open_on(
    mut swarm: Swarm<Opener>,
    (victim, address): (PeerId, Multiaddr),
    bytes: &[u8],
) -> usize {
    let (mut dialled, mut connected, mut open, mut begun) = (false, false, 0usize, 0);
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&address, victim)).unwrap();
            }
            SwarmEvent::Behaviour(OpenerEvent::Identify(identify::Event::Received { .. })) => {
                connected = true;
            }
            SwarmEvent::Behaviour(OpenerEvent::Opened(
                rr::Event::OutboundFailure { .. } | rr::Event::Message { .. },
            )) => open = open.saturating_sub(1),
            SwarmEvent::ConnectionClosed {
                num_established: 0, ..
            } => return begun,
            _ => {}
        }
        while connected && open < ON_THE_WAY {
            let raw = Raw {
                bytes: bytes.to_vec(),
                hold: Duration::ZERO,
            };
            swarm.behaviour_mut().opened.send_request(&victim, raw);
            open += 1;
            begun += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn light_clients_that_overdo_one_protocol_are_banned() {
    let pings = vec![7; 64 << 10];
    let attacks: [(&str, &str, &[u8]); 6] = [
        ("identify", "/ipfs/id/1.0.0", &[]),
        ("pings on new streams", "/ipfs/ping/1.0.0", &[7; 32]),
        ("pings on one stream", "/ipfs/ping/1.0.0", &pings),
        ("relay stop", "/libp2p/circuit/relay/0.2.0/stop", &[0]),
        ("what nobody speaks", "/junk/1", &[1, 2, 3]),
        ("pings to the DHT", "kad/1", &[2, 8, 5]),
    ];
    for (n, (what, protocol, bytes)) in (0..).zip(attacks) {
        let network = 90 + n;
        let victim = Node::start(config(network, 0)).await;
        let protocol = if protocol.starts_with('/') {
            protocol.to_owned()
        } else {
            name(network, protocol)
        };
        let host = Ipv4Addr::new(127, 66, network, 1);
        let swarm = opener(network, host, &protocol);
        let begin = std::time::Instant::now();
        let begun = tokio::time::timeout(PATIENCE, open_on(swarm, victim.contact(), bytes)).await;
        let begun = begun.unwrap_or_else(|_| panic!("{what}: not shut out"));
        println!(
            "{what}: shut out after {begun} streams, {:?}",
            begin.elapsed()
        );
        let stats = victim.handle.stats();
        assert!(stats.get(Count::StreamsLimited) > 0, "{what}");
        assert_eq!(stats.get(Count::Bans), 1, "{what}");
    }
}

/// The protocols that a node says it speaks.
async fn advertised(network: u8, node: &Node, address: Multiaddr) -> Vec<String> {
    let host = Ipv4Addr::new(127, 66, network, 1);
    let mut swarm = opener(network, host, "/junk/1");
    let mut dialled = false;
    let told = async {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::NewListenAddr { .. } if !dialled => {
                    dialled = true;
                    swarm.dial(at(&address, node.peer())).unwrap();
                }
                SwarmEvent::Behaviour(OpenerEvent::Identify(identify::Event::Received {
                    info,
                    ..
                })) => return info.protocols.iter().map(ToString::to_string).collect(),
                _ => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.unwrap()
}

/// A public node that relays: it speaks every protocol.
async fn public(network: u8) -> (Node, Multiaddr) {
    let mut config = config(network, 0);
    config.listen = vec!["/ip4/0.0.0.0/udp/0/quic-v1".parse().unwrap()];
    config.external = vec!["/ip4/203.0.113.7/udp/7411/quic-v1".parse().unwrap()];
    config.relay = Some(RelayLimits::default());
    let node = Node::start(config).await;
    eventually("it listens", || !node.handle.addresses().is_empty()).await;
    let port = gridbay_node::overlay::port(&node.handle.addresses()[0]).unwrap();
    let address = format!("/ip4/127.0.0.1/udp/{port}/quic-v1");
    (node, address.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn light_clients_that_overdo_what_only_public_nodes_speak_are_banned() {
    // All of it means nothing, and is cut off for its number alone.
    for (n, protocol) in (0..).zip([
        "/libp2p/circuit/relay/0.2.0/hop",
        "/libp2p/autonat/2/dial-request",
        "/libp2p/autonat/2/dial-back",
        "gossip/1.1.0",
    ]) {
        let network = 85 + n;
        let (victim, address) = public(network).await;
        let spoken = advertised(network, &victim, address.clone()).await;
        let protocol = spoken.iter().find(|spoken| spoken.ends_with(protocol));
        let protocol = protocol.unwrap_or_else(|| panic!("not spoken: {spoken:?}"));
        let swarm = opener(network, Ipv4Addr::new(127, 66, network, 2), protocol);
        let opened = open_on(swarm, (victim.peer(), address), &[0]);
        let begun = tokio::time::timeout(PATIENCE, opened).await;
        let begun = begun.unwrap_or_else(|_| panic!("{protocol}: not shut out"));
        println!("{protocol}: shut out after {begun} streams");
        let stats = victim.handle.stats();
        assert!(stats.get(Count::StreamsLimited) > 0, "{protocol}");
        assert_eq!(stats.get(Count::Bans), 1, "{protocol}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_protocol_that_a_node_speaks_has_a_meter() {
    let (node, address) = public(96).await;
    let spoken = advertised(96, &node, address).await;
    let metered = metered_protocols(&[96; 32]);
    let is_metered = |name: &String| metered.iter().any(|meter| meter.name == *name);
    let unmetered: Vec<_> = spoken.iter().filter(|p| !is_metered(p)).collect();
    assert!(unmetered.is_empty(), "{unmetered:?}");
    for meter in &metered {
        // Protocols that serve the market are bounded message by message; the rest is seldom used.
        let most = match meter.name.rsplit('/').nth(1) {
            Some("request") => Rate::new(2_000, 8_000),
            Some("kad") => Rate::new(400, 4_000),
            _ => Rate::new(16, 256),
        };
        let within =
            |rate: Rate, most: Rate| rate.per_second <= most.per_second && rate.burst <= most.burst;
        assert!(within(meter.streams, most), "{meter:?}");
        let bytes = Rate::new(4 << 20, 32 << 20);
        assert!(
            meter.bytes.is_none_or(|rate| within(rate, bytes)),
            "{meter:?}"
        );
        let flows = ["gossip", "ping"]
            .iter()
            .any(|name| meter.name.contains(name));
        assert_eq!(meter.bytes.is_some(), flows, "{meter:?}");
    }
    for known in ["hop", "stop", "dial-request", "kad/1", "push"] {
        assert!(
            spoken.iter().any(|p| p.contains(known)),
            "{known}: {spoken:?}"
        );
    }
}
