//! The honest side: overlays that trade without pause.
//!
//! A *trade* of node i: it publishes an order for one other node; that node judges the order, which
//! passes it on, and sends the buyer a one-way message that it has heard it; the buyer asks it to
//! serve the order, and it answers. The trade's time is from the publication to the answer, so it
//! has a gossip message, a one-way message and a request in it.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gridbay_node::overlay::{
    self, Event, Limits, Line, Multiaddr, OverlayConfig, OverlayHandle, PeerId, Quotas, Rate,
    TopicConfig, TransportSeed, Tuning, Verdict,
};
use tokio::sync::{mpsc, oneshot};

/// The topic of orders.
pub(crate) const ORDERS: &str = "orders";
/// Largest order, bytes.
pub(crate) const ORDER_BYTES: usize = 16 << 10;
/// Largest one-way message, bytes: of the order of a block.
pub(crate) const LARGEST_DIRECT: usize = 4 << 20;
/// How long a trade may take before it has failed.
const TRADE: Duration = Duration::from_secs(10);
/// Pause of a buyer between two trades: all together stay far below what two cores can do.
const PAUSE: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(30);
/// First bytes of a good order, of one that is out of date, of an order's confirmation.
const ORDER: &[u8] = b"order ";
pub(crate) const STALE: &[u8] = b"stale ";
const HEARD: &[u8] = b"heard ";

/// The host of honest node `n`.
pub(crate) fn host(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1 + n, 1)
}

/// An honest node that trades.
pub(crate) struct Node {
    pub(crate) handle: OverlayHandle,
    buying: Arc<Buying>,
}

/// Orders of one node that nobody has confirmed yet, and what came of all.
#[derive(Default)]
struct Buying {
    next: AtomicU64,
    open: Mutex<HashMap<u64, oneshot::Sender<()>>>,
    done: Mutex<Vec<Duration>>,
    failed: AtomicU64,
}

/// The configuration of honest node `n`: on an address of its own, where one network cannot crowd
/// out the others.
pub(crate) fn config(network: u8, n: u8) -> OverlayConfig {
    let mut seed = [network; 32];
    seed[0] = n;
    let host = host(n);
    let listen = [
        format!("/ip4/{host}/udp/0/quic-v1"),
        format!("/ip4/{host}/tcp/0"),
    ];
    let listen = listen.iter().map(|a| a.parse().unwrap()).collect();
    let tuning = Tuning {
        ip_colocation: true,
        ..Tuning::local()
    };
    let mut limits = Limits {
        max_direct: LARGEST_DIRECT,
        ..Limits::default()
    };
    // Without optimisation, on a busy machine, an attacker sends a tenth of what it could; and so
    // do those who trade.
    limits.quotas = Quotas {
        requests: Rate::new(100, 200),
        direct: Rate::new(100, 200),
        direct_bytes: Rate::new(256 << 10, 2 << 20),
        gossip_frames: Rate::new(200, 400),
        dht: Rate::new(50, 200),
        ..Quotas::default()
    };
    let mut orders = TopicConfig::new(ORDERS, ORDER_BYTES);
    orders.rate = Rate::new(50, 100);
    OverlayConfig {
        topics: vec![orders],
        limits,
        ..OverlayConfig::new(TransportSeed(seed), [network; 32], listen, tuning)
    }
}

impl Node {
    /// Starts a node that judges, confirms and serves the orders of others.
    pub(crate) async fn start(config: OverlayConfig) -> Self {
        let (handle, events) = overlay::start(config).await.unwrap();
        let buying = Arc::new(Buying::default());
        tokio::spawn(serve(handle.clone(), events, buying.clone()));
        Self { handle, buying }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.handle.local_peer()
    }

    /// Its address over one transport.
    pub(crate) fn address(&self, quic: bool) -> Multiaddr {
        let addresses = self.handle.addresses();
        let fits = |a: &&Multiaddr| overlay::is_quic(a) == quic;
        addresses.iter().find(fits).cloned().unwrap()
    }

    pub(crate) fn contact(&self) -> (PeerId, Multiaddr) {
        (self.peer(), self.address(true))
    }

    /// Whether it is connected with a peer.
    pub(crate) fn has(&self, peer: &PeerId) -> bool {
        self.handle.peers().iter().any(|p| p.peer == *peer)
    }

    /// One trade with a peer. Returns whether it came about.
    pub(crate) async fn trade(&self, seller: PeerId) -> bool {
        let number = self.buying.next.fetch_add(1, Ordering::Relaxed);
        let (confirm, confirmed) = oneshot::channel();
        self.buying.open.lock().unwrap().insert(number, confirm);
        let begin = Instant::now();
        let order = [ORDER, &seller.to_bytes(), &number.to_be_bytes()].concat();
        let trade = async {
            self.handle.publish(ORDERS, order.clone()).ok()?;
            confirmed.await.ok()?;
            self.handle.request(seller, order, TRADE).await.ok()
        };
        let served = tokio::time::timeout(TRADE, trade).await.ok().flatten();
        self.buying.open.lock().unwrap().remove(&number);
        if served.is_some() {
            self.buying.done.lock().unwrap().push(begin.elapsed());
        } else {
            self.buying.failed.fetch_add(1, Ordering::Relaxed);
        }
        served.is_some()
    }
}

async fn serve(handle: OverlayHandle, mut events: mpsc::Receiver<Event>, buying: Arc<Buying>) {
    let own = [ORDER, &handle.local_peer().to_bytes()].concat();
    while let Some(event) = events.recv().await {
        match event {
            Event::Message {
                from, id, bytes, ..
            } => {
                let verdict = match bytes.get(..ORDER.len()) {
                    Some(ORDER) => Verdict::Accept,
                    Some(STALE) => Verdict::Ignore,
                    _ => Verdict::Reject,
                };
                // Busy means that a flood fills the queue: the sender repeats nothing, so the trade
                // fails and shows.
                let _busy = handle.report(id, verdict);
                if let Some(number) = bytes.strip_prefix(own.as_slice()) {
                    let _busy = handle.send(from, Line::Words, [HEARD, number].concat());
                }
            }
            Event::Direct { bytes, .. } => {
                let number = bytes.strip_prefix(HEARD).and_then(|n| n.try_into().ok());
                let number = number.map(u64::from_be_bytes);
                let open = number.and_then(|n| buying.open.lock().unwrap().remove(&n));
                if let Some(confirm) = open {
                    let _late = confirm.send(());
                }
            }
            Event::Request { id, bytes, .. } => {
                let _busy = handle.respond(id, bytes);
            }
            _ => {}
        }
    }
}

/// Nodes that all trade with one another.
pub(crate) struct Market {
    pub(crate) nodes: Arc<[Node]>,
    traders: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for Market {
    fn drop(&mut self) {
        for trader in &self.traders {
            trader.abort();
        }
    }
}

impl Market {
    /// Starts `n` nodes of a network, waits until they are meshed, and lets them trade.
    pub(crate) async fn open(network: u8, n: u8) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for i in 0..n {
            let mut config = config(network, i);
            config.bootstrap = nodes.iter().map(Node::contact).collect();
            nodes.push(Node::start(config).await);
        }
        meshed(&nodes).await;
        let nodes: Arc<[Node]> = nodes.into();
        let traders = (0..nodes.len()).map(|i| tokio::spawn(trade_on(nodes.clone(), i)));
        let traders = traders.collect();
        Self { nodes, traders }
    }

    /// The times of all trades since the last call, and how many failed.
    pub(crate) fn take(&self) -> (Vec<Duration>, u64) {
        let mut times = Vec::new();
        let mut failed = 0;
        for node in self.nodes.iter() {
            times.append(&mut node.buying.done.lock().unwrap());
            failed += node.buying.failed.swap(0, Ordering::Relaxed);
        }
        (times, failed)
    }

    /// The sum of a counter over all nodes.
    pub(crate) fn count(&self, kind: overlay::Count) -> u64 {
        let nodes = self.nodes.iter();
        nodes.map(|n| n.handle.stats().get(kind)).sum()
    }

    /// The counters of the first node, for the message of a failure.
    pub(crate) fn counted(&self) -> String {
        let stats = self.nodes[0].handle.stats();
        let counts = stats.counts.iter().filter(|(_, n)| **n > 0);
        format!("{:?} {:?}", counts.collect::<Vec<_>>(), stats.topics)
    }

    /// Asserts that every queue of every node is within its limit.
    pub(crate) fn is_bounded(&self) {
        let limits = Limits::default();
        for node in self.nodes.iter() {
            let queues = node.handle.whereabouts().queues;
            assert!(queues.events <= limits.events + 64, "{queues:?}");
            assert!(queues.unjudged <= limits.unjudged, "{queues:?}");
            assert!(queues.unanswered <= limits.inbound_requests, "{queues:?}");
            assert!(
                queues.strangers <= limits.connections as usize,
                "{queues:?}"
            );
            assert!(queues.lookups <= limits.lookups, "{queues:?}");
        }
    }
}

async fn trade_on(nodes: Arc<[Node]>, buyer: usize) {
    for turn in 1.. {
        let step = 1 + turn % (nodes.len() - 1);
        let seller = nodes[(buyer + step) % nodes.len()].peer();
        nodes[buyer].trade(seller).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until every node can publish to every other one.
pub(crate) async fn meshed(nodes: &[Node]) {
    eventually("all are meshed", || {
        nodes.iter().all(|node| {
            let peers = node.handle.peers();
            let subscribed = |p: &PeerId| peers.iter().any(|q| q.peer == *p && q.subscribed);
            let mut others = nodes.iter().map(Node::peer).filter(|p| *p != node.peer());
            others.all(|other| subscribed(&other))
        })
    })
    .await;
}

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    assert!(soon(condition).await, "not in time: {what}");
}

/// Waits until a condition holds. Returns whether it did in time.
pub(crate) async fn soon(condition: impl Fn() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !condition() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    condition()
}
