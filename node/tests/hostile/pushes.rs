//! A peer that tells something else about itself, again and again.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::Count;
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, identify};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::attacker::{at, name, swarm};
use crate::lies::{KadCodec, Liar, Lie, Question, closer};
use crate::market::{Node, config};

/// Addresses in each push.
const ADDRESSES: u16 = 12;
/// Peers that push together: fewer than an answer names, so that honest nodes are named too.
const CROWD: u8 = 8;
/// Pushes of each in quick succession: fewer than a node listens to at once. Were all their
/// addresses kept, those of a single peer would make an answer too long.
const QUICK: u16 = 26;
/// Addresses of one peer in an answer of the DHT at the most, and bytes of the answer.
const PER_PEER: usize = 4;
const ANSWER: usize = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(NetworkBehaviour)]
struct Pusher {
    identify: identify::Behaviour,
    kad: rr::Behaviour<KadCodec>,
}

fn pusher(network: u8, host: Ipv4Addr, support: ProtocolSupport) -> Swarm<Pusher> {
    swarm(Keypair::generate_ed25519(), host, |keys| {
        let protocol = StreamProtocol::try_from_owned(name(network, "kad/1")).unwrap();
        let identity = identify::Config::new(name(network, "1"), keys.public());
        Pusher {
            identify: identify::Behaviour::new(identity),
            kad: rr::Behaviour::with_codec(KadCodec, [(protocol, support)], rr::Config::default()),
        }
    })
}

/// The pushes of each peer, the latest last.
type Pushed = Arc<Mutex<HashMap<PeerId, Vec<HashSet<Multiaddr>>>>>;

/// The addresses of a push: others each time.
fn addresses(host: Ipv4Addr, push: u16) -> HashSet<Multiaddr> {
    let ports = (0..ADDRESSES).map(|n| 1000 + (push % 4000) * ADDRESSES + n);
    let addresses = ports.map(|port| format!("/ip4/{host}/udp/{port}/quic-v1"));
    addresses.map(|address| address.parse().unwrap()).collect()
}

/// Pushes without end, with these pauses. Returns when it is disconnected.
async fn push_on(
    mut swarm: Swarm<Pusher>,
    host: Ipv4Addr,
    (victim, address): (PeerId, Multiaddr),
    all: Pushed,
    pause: fn(u16) -> Duration,
) {
    let (mut dialled, mut connected, mut pushed) = (false, false, 0u16);
    let mut next = Box::pin(sleep(Duration::ZERO));
    let silent = Liar {
        lie: Lie::Silence,
        friends: [].into(),
        record: [].into(),
    };
    loop {
        let event = tokio::select! {
            event = swarm.select_next_some() => event,
            () = &mut next, if connected => {
                pushed = pushed.wrapping_add(1);
                next.set(sleep(pause(pushed)));
                for old in swarm.external_addresses().cloned().collect::<Vec<_>>() {
                    swarm.remove_external_address(&old);
                }
                let now = addresses(host, pushed);
                for other in &now {
                    swarm.add_external_address(other.clone());
                }
                let me = *swarm.local_peer_id();
                all.lock().unwrap().entry(me).or_default().push(now);
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
                connected = true;
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
                num_established: 0,
                peer_id,
                ..
            } if peer_id == victim => return,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_pushes_without_end_is_banned() {
    let victim = Node::start(config(82, 0)).await;
    let host = Ipv4Addr::new(127, 66, 82, 1);
    let swarm = pusher(82, host, ProtocolSupport::Full);
    let pause = |_| Duration::from_millis(5);
    let pushing = push_on(swarm, host, victim.contact(), Pushed::default(), pause);
    timeout(PATIENCE, pushing).await.expect("it is shut out");
    let stats = victim.handle.stats();
    assert_eq!(stats.get(Count::Bans), 1);
    // Both count pushes at one rate, the streams below what they carry: either may be first.
    let refused = [Count::GreetingsLimited, Count::StreamsLimited].map(|count| stats.get(count));
    assert!(refused.iter().sum::<u64>() > 0);
}

/// Asks a node which peers are near itself, until its answer will do.
async fn ask_until(
    network: u8,
    (victim, address): (PeerId, Multiaddr),
    mut will_do: impl FnMut(&[u8]) -> bool,
) {
    let host = Ipv4Addr::new(127, 66, network, 2);
    // It only asks, so it enters no table.
    let mut swarm = pusher(network, host, ProtocolSupport::Outbound);
    let mut dialled = false;
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&address, victim)).unwrap();
                continue;
            }
            SwarmEvent::Behaviour(PusherEvent::Identify(identify::Event::Received { .. })) => {}
            SwarmEvent::Behaviour(PusherEvent::Kad(event)) => {
                if let rr::Event::Message {
                    message: rr::Message::Response { response, .. },
                    ..
                } = &event
                    && will_do(response)
                {
                    return;
                }
                sleep(Duration::from_millis(200)).await;
            }
            _ => continue,
        }
        let question = Question::find(&victim.to_bytes());
        swarm.behaviour_mut().kad.send_request(&victim, question);
    }
}

/// Whether all have pushed, and an answer names each with addresses out of its last two pushes.
/// However early it comes, it is short and names few addresses of each.
fn is_up_to_date(answer: &[u8], pushed: &Pushed) -> bool {
    assert!(answer.len() <= ANSWER, "{} bytes", answer.len());
    let named: HashMap<PeerId, Vec<Multiaddr>> = closer(answer).unwrap().into_iter().collect();
    for (peer, addresses) in &named {
        assert!(addresses.len() <= PER_PEER, "{peer}: {addresses:?}");
    }
    let pushed = pushed.lock().unwrap();
    let all = pushed.len() == usize::from(CROWD);
    let fits = |(peer, pushes): (&PeerId, &Vec<HashSet<Multiaddr>>)| {
        let last = &pushes[pushes.len().saturating_sub(2)..];
        let is_of_last = |address: &&Multiaddr| {
            // The peer's id stands at the end of an address in the table.
            let parts = address.iter().filter(|p| !matches!(p, Protocol::P2p(_)));
            let address: Multiaddr = parts.collect();
            last.iter().any(|push| push.contains(&address))
        };
        // Each push names the address at which it listens as well.
        let of_last = |named: &Vec<Multiaddr>| named.iter().filter(is_of_last).count() + 1;
        let fits = |named: &Vec<Multiaddr>| of_last(named) >= named.len();
        pushes.len() > usize::from(QUICK) && named.get(peer).is_some_and(fits)
    };
    all && pushed.iter().all(fits)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_pushes_below_every_rate_poisons_no_answer() {
    const NETWORK: u8 = 84;
    let victim = Node::start(config(NETWORK, 0)).await;
    let pushed = Pushed::default();
    let mut crowd = JoinSet::new();
    for n in 0..CROWD {
        let host = Ipv4Addr::new(127, 100 + n, NETWORK, 1);
        let swarm = pusher(NETWORK, host, ProtocolSupport::Full);
        // As many at once as a node listens to, then as often.
        let pause = |pushed| Duration::from_millis(if pushed <= QUICK { 100 } else { 2000 });
        crowd.spawn(push_on(
            swarm,
            host,
            victim.contact(),
            pushed.clone(),
            pause,
        ));
    }
    let asked = ask_until(NETWORK, victim.contact(), |answer| {
        is_up_to_date(answer, &pushed)
    });
    timeout(PATIENCE, asked)
        .await
        .expect("answers can be read, and name what was said last");
    // Meanwhile the crowd goes on, and a newcomer finds what is sold.
    let mut seller = config(NETWORK, 1);
    seller.bootstrap = vec![victim.contact()];
    let seller = Node::start(seller).await;
    seller.handle.provide("a class", b"x").unwrap();
    let mut newcomer = config(NETWORK, 2);
    newcomer.bootstrap = vec![victim.contact()];
    let newcomer = Node::start(newcomer).await;
    let found = async {
        loop {
            let providers = newcomer.handle.providers("a class", b"x").await;
            if providers.is_ok_and(|found| found.contains(&seller.peer())) {
                return;
            }
            sleep(Duration::from_millis(500)).await;
        }
    };
    timeout(PATIENCE, found)
        .await
        .expect("a newcomer finds a seller");
    let served = newcomer.handle.request(seller.peer(), vec![1], PATIENCE);
    served.await.expect("and reaches it");
    assert!(
        crowd.try_join_next().is_none(),
        "all stay below every rate, so none is shut out"
    );
    assert_eq!(victim.handle.stats().get(Count::Bans), 0);
}
