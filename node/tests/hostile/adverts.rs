//! An account's own adverts, all valid, passed through an honest node to those who would blame it.
//!
//! The honest judge by a ledger as nodes do (`gridbay_core::adverts`). The author takes part under
//! several names, each below what a peer may write, and all of them only with one honest node. The
//! others must not ban that one, whatever it passes on.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gridbay_core::adverts::{Adverts, Heard, OF_ACCOUNT, OF_ALL, Verdict as Judged};
use gridbay_ledger::State;
use gridbay_node::overlay::{
    self, Count, Event, OverlayConfig, OverlayHandle, PeerId, Quotas, TopicConfig, Verdict,
};
use gridbay_protocol::advert::{Advert, SignedAdvert};
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::keys::PublicKey;
use tokio::sync::mpsc;

use crate::attacker::{Attacker, Script, topic};
use crate::four_members::{genesis, key};
use crate::market::{ORDERS, config, eventually};

const NETWORK: u8 = 73;
/// Names under which the author takes part.
const NAMES: u8 = 8;
/// Adverts of each name in a second: below what a peer may write (50).
const BELOW: u64 = 45;
/// Adverts that the honest node has heard when the first part is over: those of some seven seconds,
/// at full speed.
const HEARD: u64 = 2_000;

/// An author of adverts.
#[derive(Clone, Copy)]
struct Author {
    network: NetworkId,
    account: AccountId,
    member: u8,
}

impl Author {
    fn new(state: &State, member: u8) -> Self {
        let account = state.account_of(&key(member + 100).public()).unwrap();
        Self {
            network: state.network(),
            account,
            member,
        }
    }

    /// An advert of some 2 kB for a node.
    fn advert(self, node: PublicKey, sequence: u64) -> Vec<u8> {
        let key = key(self.member + 100);
        let attribute = |n: u8| (format!("x.{n}"), "long ".repeat(40));
        let advert = Advert {
            account: self.account,
            key: key.public(),
            node,
            sequence,
            valid_until: 400,
            lines: vec![],
            attributes: (0..10).map(attribute).collect::<BTreeMap<_, _>>(),
            round_trips: vec![],
            addresses: vec![],
        };
        codec::encode(&SignedAdvert::new(&self.network, advert, &key))
    }
}

/// An honest node: an overlay, and what is known by what it heard.
struct Node {
    handle: OverlayHandle,
    known: Arc<Mutex<Adverts>>,
}

impl Node {
    async fn start(config: OverlayConfig, state: Arc<State>) -> Self {
        let (handle, events) = overlay::start(config).await.unwrap();
        let known = Arc::new(Mutex::new(Adverts::default()));
        tokio::spawn(judge(handle.clone(), events, state, known.clone()));
        Self { handle, known }
    }

    fn peer(&self) -> PeerId {
        self.handle.local_peer()
    }

    fn contact(&self) -> (PeerId, overlay::Multiaddr) {
        let addresses = self.handle.addresses();
        let quic = addresses.iter().find(|a| overlay::is_quic(a)).cloned();
        (self.peer(), quic.unwrap())
    }

    fn has(&self, peer: PeerId) -> bool {
        let peers = self.handle.peers();
        peers.iter().any(|p| p.peer == peer && p.subscribed)
    }

    fn heard(&self) -> u64 {
        self.handle.stats().topics[ORDERS].received
    }

    fn bans(&self) -> u64 {
        self.handle.stats().get(Count::Bans)
    }

    /// The sequence that it knows of a node of an account.
    fn knows(&self, state: &State, account: AccountId, node: PublicKey) -> Option<u64> {
        let known = self.known.lock().unwrap();
        let mut live = known.live(state);
        let found = live.find(|a| (a.account, a.node) == (account, node));
        found.map(|a| a.sequence)
    }
}

async fn judge(
    handle: OverlayHandle,
    mut events: mpsc::Receiver<Event>,
    state: Arc<State>,
    known: Arc<Mutex<Adverts>>,
) {
    let begin = Instant::now();
    while let Some(event) = events.recv().await {
        let Event::Message { id, bytes, .. } = event else {
            continue;
        };
        let now = begin.elapsed().as_millis() as u64;
        let judged = known.lock().unwrap().hear(&state, Heard::Told, now, &bytes);
        let verdict = match judged {
            Judged::Accept => Verdict::Accept,
            Judged::Ignore => Verdict::Ignore,
            Judged::Reject => Verdict::Reject,
        };
        // Busy means that a flood fills the queue.
        let _busy = handle.report(id, verdict);
    }
}

/// The script of the author's nth name: below the bound until it is let loose, then one each time.
fn write(author: Author, n: u8, loose: Arc<AtomicBool>) -> Script {
    let node = key(200 + n).public();
    let (mut begin, mut written) = (None, 0);
    Box::new(move |malice, _, _| {
        let begin = *begin.get_or_insert_with(Instant::now);
        let due = begin.elapsed().as_millis() as u64 * BELOW / 1_000;
        if written < due || loose.load(Ordering::Relaxed) {
            written += 1;
            // Nobody is subscribed in the beginning, and queues fill up.
            let bytes = author.advert(node, written);
            let _lost = malice.gossip.publish(topic(NETWORK, ORDERS), bytes);
        }
        0
    })
}

/// Three nodes, and one that keeps all of them while none keeps it.
async fn honest(state: &Arc<State>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for n in 0..4 {
        let mut config = config(NETWORK, n);
        config.bootstrap = nodes.iter().map(Node::contact).collect();
        nodes.push(Node::start(config, state.clone()).await);
    }
    let all: Vec<PeerId> = nodes.iter().map(Node::peer).collect();
    eventually("all are meshed", || {
        let meshed = |n: &Node| all.iter().all(|p| *p == n.peer() || n.has(*p));
        nodes.iter().all(meshed)
    })
    .await;
    nodes
}

#[tokio::test(flavor = "multi_thread")]
async fn who_passes_on_what_an_account_writes_is_not_banned_for_it() {
    let state = Arc::new(State::genesis(&genesis()).unwrap());
    let nodes = honest(&state).await;
    let begin = Instant::now();
    let (relay, others) = nodes.split_last().unwrap();
    let bounded = |what: &str| {
        let of_account = OF_ACCOUNT.burst + begin.elapsed().as_millis() as u64 / OF_ACCOUNT.each_ms;
        for other in others {
            assert!(other.has(relay.peer()), "{what}: the relay is cut off");
            assert_eq!(other.bans(), 0, "{what}");
            let heard = other.heard();
            assert!(heard <= of_account + 10, "{what}: {heard} were passed on");
        }
    };
    let loose = Arc::new(AtomicBool::new(false));
    let author = Author::new(&state, 1);
    let start = |n: u8| {
        let script = write(author, n, loose.clone());
        let host = Ipv4Addr::new(127, 66, NETWORK, 1 + n);
        Attacker::start(NETWORK, host, relay.contact(), script)
    };
    let attackers: Vec<Attacker> = (0..NAMES).map(start).collect();
    eventually("the author is heard", || relay.heard() > HEARD).await;
    // Within seconds the others have judged it.
    tokio::time::sleep(Duration::from_secs(3)).await;
    bounded("below what a peer may write");
    assert_eq!(relay.bans(), 0, "every name keeps to a peer's bound");
    loose.store(true, Ordering::Relaxed);
    eventually("the author's names are shut out", || {
        attackers.iter().all(Attacker::is_out)
    })
    .await;
    bounded("as fast as it goes");
    // And what another account writes comes through.
    let other = Author::new(&state, 2);
    let node = key(52).public();
    relay.handle.publish(ORDERS, other.advert(node, 7)).unwrap();
    eventually("another account is heard", || {
        let knows = |n: &Node| n.knows(&state, other.account, node) == Some(7);
        others.iter().all(knows)
    })
    .await;
}

/// A node accepts less in all than its neighbours take of one peer, by messages,
/// frames and bytes.
#[test]
fn what_a_node_accepts_its_neighbours_take() {
    let (topic, quotas) = (TopicConfig::new("adverts", 16 << 10), Quotas::default());
    let longest = topic.max_bytes as u64 + 512;
    let (each_second, at_once) = (1_000 / OF_ALL.each_ms, OF_ALL.burst);
    for (rate, weight) in [
        (topic.rate, 1),
        (quotas.gossip_frames, 1),
        (quotas.gossip_bytes, longest),
    ] {
        // Some room is left for what gossip says of itself.
        assert!(5 * each_second * weight <= 4 * u64::from(rate.per_second));
        assert!(5 * at_once * weight <= 4 * u64::from(rate.burst));
    }
}
