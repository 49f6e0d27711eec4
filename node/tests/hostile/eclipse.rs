//! An attempt to surround a node: dozens of identities that take every slot they can get.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use gridbay_node::overlay::{Count, PeerId};
use libp2p::identity::Keypair;
use libp2p::swarm::SwarmEvent;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::{Multiaddr, identify};

use crate::attacker::{at, name, swarm};
use crate::compare::timed;
use crate::market::{Node, config, eventually, meshed};

const IDENTITIES: usize = 60;
/// How often each calls: all together thirty times a second, which a build without optimisation can
/// still answer.
const AGAIN: Duration = Duration::from_secs(2);

/// Identities that call a victim again and again. Dropping ends them.
struct Swarming(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Swarming {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

impl Swarming {
    /// Identity `i` calls from `host(i)`.
    fn start(network: u8, victim: &Node, host: impl Fn(u8) -> Ipv4Addr) -> Self {
        let (peer, address) = victim.contact();
        let tasks = (0..IDENTITIES).map(|i| {
            let (host, address) = (host(i as u8), address.clone());
            tokio::spawn(call_on(network, host, peer, address))
        });
        Self(tasks.collect())
    }
}

async fn call_on(network: u8, host: Ipv4Addr, victim: PeerId, address: Multiaddr) {
    let keys = Keypair::generate_ed25519();
    let mut swarm = swarm(keys, host, |keys| {
        identify::Behaviour::new(identify::Config::new(name(network, "1"), keys.public()))
    });
    let mut again = tokio::time::interval(AGAIN);
    loop {
        tokio::select! {
            event = swarm.select_next_some() => {
                let SwarmEvent::NewListenAddr { .. } = event else { continue };
            }
            _ = again.tick() => {}
        }
        let call = DialOpts::peer_id(victim)
            .condition(PeerCondition::Always)
            .addresses(vec![at(&address, victim)])
            .build();
        // Refused when it has too many under way.
        let _refused = swarm.dial(call);
    }
}

/// Five honest nodes, the first with the second to start from and all others come to it.
async fn honest(network: u8) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for n in 0..5 {
        let mut config = config(network, n);
        config.bootstrap = nodes.first().map(Node::contact).into_iter().collect();
        config.limits.connections = 64;
        config.limits.connections_per_origin = 12;
        nodes.push(Node::start(config).await);
    }
    meshed(&nodes).await;
    nodes
}

fn host_of_a_newcomer(n: u8) -> gridbay_node::overlay::OverlayConfig {
    config(n, 40)
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_identities_of_one_network_take_its_share_and_no_more() {
    let nodes = honest(75).await;
    let victim = &nodes[0];
    let _attack = Swarming::start(75, victim, |_| Ipv4Addr::new(127, 66, 75, 1));
    let crowded = || victim.handle.stats().get(Count::InboundCrowded) > 100;
    eventually("the gate refuses", crowded).await;
    for _ in 0..20 {
        let queues = victim.handle.whereabouts().queues;
        assert!(queues.strangers <= 12 + 4 * 2 * nodes.len(), "{queues:?}");
        for other in &nodes[1..] {
            assert!(victim.has(&other.peer()), "honest peers stay");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Newcomers come in, and are reached.
    let mut newcomer = host_of_a_newcomer(75);
    newcomer.bootstrap = vec![victim.contact()];
    let newcomer = Node::start(newcomer).await;
    let came = timed("a newcomer comes in", || victim.has(&newcomer.peer())).await;
    let other = Node::start(config(75, 41)).await;
    let (peer, address) = other.contact();
    victim.handle.connect(peer, vec![address]).await.unwrap();
    println!("eclipse by one network: a newcomer is in after {came:?}");
    assert!(victim.trade(nodes[3].peer()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_identities_of_sixty_networks_leave_room_for_those_that_we_choose() {
    let nodes = honest(76).await;
    let victim = &nodes[0];
    // Any validator is kept.
    let kept = Node::start(config(76, 30)).await;
    let (peer, address) = kept.contact();
    victim.handle.keep(peer, vec![address]).unwrap();
    eventually("the kept peer is there", || victim.has(&peer)).await;
    let _attack = Swarming::start(76, victim, |i| Ipv4Addr::new(127, 67, i, 1));
    let full = || victim.handle.stats().get(Count::InboundFull) > 50;
    eventually("all slots of strangers are taken", full).await;
    for _ in 0..20 {
        let queues = victim.handle.whereabouts().queues;
        assert!(queues.strangers <= 64, "{queues:?}");
        assert!(victim.has(&peer), "the kept peer stays");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // It comes back at once after it was away, and another can be chosen.
    kept.handle.shutdown().await;
    eventually("it has gone", || !victim.has(&peer)).await;
    let mut again = config(76, 30);
    again.bootstrap = vec![victim.contact()];
    let again = Node::start(again).await;
    assert_eq!(again.peer(), peer);
    let back = timed("the kept peer is back", || victim.has(&peer)).await;
    let other = Node::start(config(76, 41)).await;
    let (peer, address) = other.contact();
    victim.handle.connect(peer, vec![address]).await.unwrap();
    println!("eclipse by sixty networks: the kept peer is back after {back:?}");
    assert!(victim.trade(again.peer()).await);
}
