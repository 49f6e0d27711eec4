//! Nodes for tests of the overlay: started on loopback, their events sorted into queues.

use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gridbay_node::overlay::{
    self, Event, MessageId, Multiaddr, OverlayConfig, OverlayHandle, PeerId, RequestId,
    TopicConfig, TransportSeed, Tuning,
};
use tokio::sync::{Mutex, mpsc};

/// Listens with QUIC.
pub(crate) const QUIC: &str = "/ip4/127.0.0.1/udp/0/quic-v1";
/// Listens with TCP.
pub(crate) const TCP: &str = "/ip4/127.0.0.1/tcp/0";
/// Ends a wait for what never comes; a crowded machine takes its time over the rest.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gossip message as delivered.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) from: PeerId,
    pub(crate) via: PeerId,
    pub(crate) id: MessageId,
    pub(crate) bytes: Vec<u8>,
}

type Queue<T> = Mutex<mpsc::Receiver<T>>;

/// A running node.
pub(crate) struct Node {
    pub(crate) handle: OverlayHandle,
    messages: Queue<Message>,
    directs: Queue<(PeerId, Vec<u8>)>,
    requests: Queue<(PeerId, RequestId, Vec<u8>)>,
    saw_peer: Arc<AtomicBool>,
}

/// The configuration of node `index` in network `network`.
pub(crate) fn config(network: u8, index: u8, listen: &[&str]) -> OverlayConfig {
    let mut seed = [network; 32];
    seed[0] = index;
    let listen = listen.iter().map(|a| a.parse().unwrap()).collect();
    OverlayConfig {
        topics: vec![TopicConfig::new("entries", 1 << 20)],
        ..OverlayConfig::new(TransportSeed(seed), [network; 32], listen, Tuning::local())
    }
}

impl Node {
    pub(crate) async fn start(config: OverlayConfig) -> Self {
        let (handle, mut events) = overlay::start(config).await.unwrap();
        let (message_tx, messages) = mpsc::channel(10_000);
        let (direct_tx, directs) = mpsc::channel(10_000);
        let (request_tx, requests) = mpsc::channel(10_000);
        let saw_peer = Arc::new(AtomicBool::new(false));
        let saw = saw_peer.clone();
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                match event {
                    Event::Message {
                        from,
                        via,
                        id,
                        bytes,
                        ..
                    } => {
                        message_tx
                            .try_send(Message {
                                from,
                                via,
                                id,
                                bytes,
                            })
                            .unwrap();
                    }
                    Event::Direct { peer, bytes } => direct_tx.try_send((peer, bytes)).unwrap(),
                    Event::Request { peer, id, bytes } => {
                        request_tx.try_send((peer, id, bytes)).unwrap();
                    }
                    Event::PeerConnected { .. } => saw.store(true, Ordering::Relaxed),
                    Event::PeerDisconnected { .. } | Event::Listening { .. } => {}
                }
            }
        });
        let (messages, directs, requests) = (
            Mutex::new(messages),
            Mutex::new(directs),
            Mutex::new(requests),
        );
        Self {
            handle,
            messages,
            directs,
            requests,
            saw_peer,
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.handle.local_peer()
    }

    pub(crate) fn contact(&self) -> (PeerId, Multiaddr) {
        (self.peer(), self.handle.addresses()[0].clone())
    }

    /// Whether any peer was ever connected.
    pub(crate) fn saw_peer(&self) -> bool {
        self.saw_peer.load(Ordering::Relaxed)
    }

    pub(crate) async fn message(&self) -> Message {
        next(&self.messages).await
    }

    pub(crate) async fn direct(&self) -> (PeerId, Vec<u8>) {
        next(&self.directs).await
    }

    pub(crate) async fn request(&self) -> (PeerId, RequestId, Vec<u8>) {
        next(&self.requests).await
    }
}

async fn next<T>(queue: &Queue<T>) -> T {
    let mut queue = queue.lock().await;
    tokio::time::timeout(PATIENCE, queue.recv())
        .await
        .expect("in time")
        .expect("still running")
}

/// Waits until a condition holds.
pub(crate) async fn eventually(condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait)
        .await
        .expect("the condition holds in time");
}

/// Waits until every node can publish to every other one and pass messages on to several.
pub(crate) async fn converge<N: Borrow<Node>>(nodes: &[N]) {
    let others = nodes.len() - 1;
    connect(nodes).await;
    eventually(|| {
        nodes.iter().all(|node| {
            let peers = node.borrow().handle.peers();
            peers.iter().filter(|p| p.in_mesh).count() >= others.min(4)
        })
    })
    .await;
}

/// Waits until every node can publish to every other one.
pub(crate) async fn connect<N: Borrow<Node>>(nodes: &[N]) {
    eventually(|| {
        nodes.iter().all(|node| {
            let peers = node.borrow().handle.peers();
            peers.iter().filter(|p| p.subscribed).count() == nodes.len() - 1
        })
    })
    .await;
}

/// Nodes on QUIC and TCP that know only the first one, all meshed.
pub(crate) async fn start_mesh(n: u8, network: u8) -> Vec<Node> {
    let nodes = start_nodes(n, network).await;
    converge(&nodes).await;
    nodes
}

/// The same, without waiting for anything.
pub(crate) async fn start_nodes(n: u8, network: u8) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for i in 0..n {
        let mut config = config(network, i, &[QUIC, TCP]);
        config.bootstrap = nodes.first().map(Node::contact).into_iter().collect();
        nodes.push(Node::start(config).await);
    }
    nodes
}
