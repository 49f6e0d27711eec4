//! Sybils in the routing table: of forty nodes twelve answer lookups with lies, and the honest find
//! one another's records all the same. What helps: lookups go along disjoint paths, a record counts
//! only with its node's signature, and 20 nodes keep it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream;
use gridbay_core::overlay::PROVIDERS_TIME;
use gridbay_node::overlay::{Count, LookupError};
use gridbay_protocol::codec;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::node_record::{NodeRecord, SignedNodeRecord};
use libp2p::identity::Keypair;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, identify};
use tokio::sync::watch;

use crate::attacker::{at, name, swarm};
use crate::lies::{KadCodec, Liar, Lie};
use crate::market::{Node, config, eventually};

const NETWORK: u8 = 77;
const HONEST: u8 = 28;
const SYBILS: u8 = 12;
/// Lookups, spread over all pairs of honest nodes.
const LOOKUPS: usize = 140;
/// Lookups at a time.
const AT_ONCE: usize = 14;

#[derive(NetworkBehaviour)]
struct Sybil {
    identify: identify::Behaviour,
    kad: rr::Behaviour<KadCodec>,
}

type Contacts = Vec<(PeerId, Multiaddr)>;

/// A sybil that listens; the rest is [`lie_on`].
async fn sybil(n: u8) -> (Swarm<Sybil>, Multiaddr) {
    let host = Ipv4Addr::new(127, 68, n, 1);
    let mut swarm = swarm(Keypair::generate_ed25519(), host, |keys| {
        let protocol = StreamProtocol::try_from_owned(name(NETWORK, "kad/1")).unwrap();
        let supported = [(protocol, ProtocolSupport::Full)];
        let identity = identify::Config::new(name(NETWORK, "1"), keys.public());
        Sybil {
            identify: identify::Behaviour::new(identity),
            kad: rr::Behaviour::with_codec(KadCodec, supported, rr::Config::default()),
        }
    });
    loop {
        if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
            return (swarm, address);
        }
    }
}

/// Connects to every honest node that there is, and answers with lies.
async fn lie_on(mut swarm: Swarm<Sybil>, liar: Liar, mut honest: watch::Receiver<Contacts>) {
    let mut called = 0;
    loop {
        tokio::select! {
            changed = honest.changed() => {
                if changed.is_err() {
                    return;
                }
                let all = honest.borrow_and_update().clone();
                for (peer, address) in &all[called..] {
                    swarm.dial(at(address, *peer)).unwrap();
                }
                called = all.len();
            }
            event = swarm.select_next_some() => {
                if let SwarmEvent::Behaviour(SybilEvent::Kad(rr::Event::Message {
                    message: rr::Message::Request { request, channel, .. },
                    ..
                })) = event
                {
                    let answer = liar.answer(&request);
                    let _gone = swarm.behaviour_mut().kad.send_response(channel, answer);
                }
            }
        }
    }
}

/// A record that is signed and in date, but of somebody else.
fn record_of_another() -> Arc<[u8]> {
    let key = SecretKey::from_seed(&[200; 32]);
    let record = NodeRecord {
        node: key.public(),
        sequence: u64::MAX,
        expires: u64::MAX / 2,
        addresses: vec!["/ip4/127.68.1.1/udp/1/quic-v1".to_owned()],
    };
    let signed = SignedNodeRecord::new(&NetworkId([NETWORK; 32]), record, &key);
    codec::encode(&signed).into()
}

/// Starts all sybils. They connect to every address that they are told, until the sender is
/// dropped.
async fn sybils() -> watch::Sender<Contacts> {
    let (tell, honest) = watch::channel(Vec::new());
    let mut swarms = Vec::new();
    for n in 0..SYBILS {
        swarms.push(sybil(n).await);
    }
    let known = swarms.iter().map(|(s, a)| (*s.local_peer_id(), a.clone()));
    // Nobody listens there, and nobody has that name.
    let nobody = (0..4).map(|n| {
        let address = format!("/ip4/127.69.0.{n}/udp/9/quic-v1");
        (PeerId::random(), address.parse().unwrap())
    });
    let friends: Arc<[(PeerId, Multiaddr)]> = known.chain(nobody).collect();
    let lies = [Lie::Friends, Lie::Records, Lie::Silence];
    for (n, (swarm, _)) in swarms.into_iter().enumerate() {
        let liar = Liar {
            lie: lies[n % lies.len()],
            friends: friends.clone(),
            record: record_of_another(),
        };
        tokio::spawn(lie_on(swarm, liar, honest.clone()));
    }
    tell
}

/// Starts all honest nodes, each known to the sybils as soon as it is there.
async fn honest(tell: &watch::Sender<Contacts>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for n in 0..HONEST {
        let mut config = config(NETWORK, n);
        config.listen.truncate(1);
        // Two of those before it: no node knows all others from the beginning.
        let before = [n.checked_sub(1), Some(n / 2).filter(|b| *b < n)];
        let before = before.into_iter().flatten();
        config.bootstrap = before.map(|b| nodes[usize::from(b)].contact()).collect();
        config.limits.wanted_peers = 10;
        nodes.push(Node::start(config).await);
        tell.send_modify(|known| known.push(nodes[usize::from(n)].contact()));
    }
    nodes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_third_of_liars_does_not_hide_the_honest() {
    let started = Instant::now();
    let tell = sybils().await;
    let nodes = honest(&tell).await;
    eventually("everybody has told where it is", || {
        let told = |n: &Node| n.handle.stats().get(Count::RecordsPut) > 0;
        nodes.iter().all(told)
    })
    .await;
    nodes[usize::from(HONEST) / 2]
        .handle
        .provide("a class", b"x")
        .unwrap();
    let surrounded = |n: &Node| n.handle.peers().len() >= usize::from(SYBILS);
    eventually("the sybils are everywhere", || nodes.iter().all(surrounded)).await;
    println!("sybils: all are there after {:?}", started.elapsed());
    // Puts under way.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let begin = Instant::now();
    let pairs = (0..LOOKUPS).map(|i| {
        let from = i % nodes.len();
        (from, (i + 1 + i / nodes.len() * 3) % nodes.len())
    });
    let missing = look_up(&nodes, pairs.collect()).await;
    let each = begin.elapsed() * AT_ONCE as u32 / LOOKUPS as u32;
    let once = LOOKUPS - missing.len();
    let still = look_up(&nodes, missing).await;
    println!(
        "{SYBILS} liars of {}: {once} of {LOOKUPS} records found at once, {each:?} each; {} not at the second time either",
        HONEST + SYBILS,
        still.len()
    );
    assert!(once * 100 >= LOOKUPS * 98, "{once} of {LOOKUPS}");
    assert!(still.len() * 100 <= LOOKUPS, "{still:?}");
    find_provider(&nodes).await;
}

/// Everybody looks for a provider, and hears of it in time although sybils name peers that do not
/// answer.
async fn find_provider(nodes: &[Node]) {
    let provider = nodes[usize::from(HONEST) / 2].peer();
    let mut found = 0;
    let mut longest = Duration::ZERO;
    let others = nodes.iter().filter(|n| n.peer() != provider);
    for node in others {
        let begin = Instant::now();
        let providers = node.handle.providers("a class", b"x").await.unwrap();
        longest = longest.max(begin.elapsed());
        found += u8::from(providers.contains(&provider));
    }
    println!(
        "a provider was found by {found} of {} others, in {longest:?} at most",
        HONEST - 1
    );
    assert!(found >= HONEST - 2, "{found}");
    assert!(longest < PROVIDERS_TIME * 2, "{longest:?}");
}

/// Looks for the record of the second from the first of each pair. Returns the pairs for which
/// there was none.
async fn look_up(nodes: &[Node], pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let lookups = pairs.into_iter().map(|(from, of)| async move {
        let peer = nodes[of].peer();
        (nodes[from].handle.record(peer).await, peer, (from, of))
    });
    let found: Vec<_> = stream::iter(lookups)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut missing = Vec::new();
    for (result, of, pair) in found {
        match result {
            Ok(record) => {
                let node = gridbay_node::overlay::key_of_peer_id(&of).unwrap();
                assert_eq!(*record.node.as_bytes(), node, "never another's");
            }
            Err(LookupError::NotFound | LookupError::Late) => missing.push(pair),
            Err(other) => panic!("{other}"),
        }
    }
    missing
}
