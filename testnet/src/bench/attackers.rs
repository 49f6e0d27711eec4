//! Hostile peers of a local network: overlays of this process that join by the network's id and
//! keep to none of its limits, and sockets that say nothing.
//!
//! 1. An *attacker* is one kind of [`Malice`] against one victim. It goes on under a new identity
//!    as soon as it is shut out, after [`REST`], until it is told to stop; then it reports how many
//!    identities it used and how many of them were shut out.
//! 2. Its overlay has limits of its own that let everything out: the node's are measured.

use anyhow::Context as _;
use gridbay_core::agent::AgentRequest;
use gridbay_host::limits::BATCH_ENTRIES;
use gridbay_host::message::HostMessage;
use gridbay_node::body::ADVERTS_TOPIC;
use gridbay_node::overlay::{
    self, Limits, Line, Multiaddr, OverlayConfig, OverlayHandle, PeerId, TopicConfig,
    TransportSeed, Tuning,
};
use gridbay_protocol::codec;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits::ENTRY_WINDOW;
use gridbay_protocol::units::Credits;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

/// Before an attacker that was shut out comes again.
const REST: Duration = Duration::from_millis(500);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Between two salvos.
const PACE: Duration = Duration::from_millis(5);
/// Messages of a salvo: 10,000 a second, ten times what a node takes from one peer.
const SALVO: usize = 50;
/// How long after the end of an attack the last identity may take to be shut out.
const LAST: Duration = Duration::from_secs(10);
/// Requests on their way at a time: more would only cost the attacker.
const UNANSWERED: usize = 200;
/// Bytes of a message.
const BYTES: usize = 500;

/// The attack of an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malice {
    /// One-way messages that mean nothing, as many as go.
    Flood,
    /// Gossip that is no advert.
    Spam,
    /// Requests above the cap.
    Oversized,
    /// Good requests, as many as go: nothing but their rate tells them from an honest peer's.
    Ask,
    /// Full batches of well-signed entries of an account that nobody opened, below the rate of
    /// messages: each entry is another one, so each costs the victim a signature.
    Entries,
}

/// All of them.
pub(super) const ALL: [Malice; 5] = [
    Malice::Flood,
    Malice::Spam,
    Malice::Oversized,
    Malice::Ask,
    Malice::Entries,
];
/// Batches of entries that an attacker signs beforehand; they are sent in turn.
const BATCHES: usize = 32;
/// Of so many shots one is a batch of entries: 500 a second.
const BATCH_EVERY: u64 = 20;

/// Whom to attack.
#[derive(Clone, Debug)]
pub(super) struct Victim {
    /// The network's id.
    pub(super) network: [u8; 32],
    /// The node.
    pub(super) peer: PeerId,
    /// One of its addresses.
    pub(super) address: Multiaddr,
}

/// The result of an attacker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// Identities that were connected.
    pub(super) identities: usize,
    /// Of these, shut out.
    pub(super) shut_out: usize,
}

/// A running attacker.
#[derive(Debug)]
pub(super) struct Attacker {
    stop: watch::Sender<bool>,
    task: JoinHandle<anyhow::Result<Ended>>,
}

impl Attacker {
    /// Begins; `number` makes its identities differ from those of others.
    pub(super) fn start(malice: Malice, victim: Victim, number: u8) -> Attacker {
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(go_on(malice, victim, number, stopped));
        Attacker { stop, task }
    }

    /// Ends, and says what came of it.
    pub(super) async fn end(self) -> anyhow::Result<Ended> {
        self.stop.send_replace(true);
        self.task.await.context("an attacker failed")?
    }
}

async fn go_on(
    malice: Malice,
    victim: Victim,
    number: u8,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<Ended> {
    let mut ended = Ended::default();
    let mut life = 0u32;
    let batches = match malice {
        Malice::Entries => batches(&victim.network, number),
        _ => Vec::new(),
    };
    while !*stop.borrow() {
        let mut seed = [number; 32];
        seed[..4].copy_from_slice(&life.to_be_bytes());
        life += 1;
        let (handle, mut events) = overlay::start(config(&victim, seed)?).await?;
        let deaf = tokio::spawn(async move { while events.recv().await.is_some() {} });
        let came = handle.connect(victim.peer, vec![victim.address.clone()]);
        if let Ok(Ok(())) = tokio::time::timeout(CONNECT, came).await {
            ended.identities += 1;
            ended.shut_out += usize::from(attack(malice, &handle, &victim, &batches, &stop).await);
        }
        handle.shutdown().await;
        deaf.abort();
        tokio::time::sleep(REST).await;
    }
    Ok(ended)
}

/// Attacks until it is shut out, or a while after it is told to stop. Returns whether it was shut
/// out.
async fn attack(
    malice: Malice,
    handle: &OverlayHandle,
    victim: &Victim,
    batches: &[Vec<u8>],
    stop: &watch::Receiver<bool>,
) -> bool {
    let mut turn = 0u64;
    let mut end = None;
    let places = Arc::new(Semaphore::new(UNANSWERED));
    while handle.peers().iter().any(|p| p.peer == victim.peer) {
        if *stop.borrow() {
            let end = *end.get_or_insert_with(|| Instant::now() + LAST);
            if Instant::now() > end {
                return false;
            }
        }
        for _ in 0..SALVO {
            turn += 1;
            fire(malice, handle, victim.peer, turn, (&places, batches));
        }
        tokio::time::sleep(PACE).await;
    }
    true
}

/// One message. That the attacker's own queue is full is no harm.
fn fire(
    malice: Malice,
    handle: &OverlayHandle,
    victim: PeerId,
    turn: u64,
    (places, batches): (&Arc<Semaphore>, &[Vec<u8>]),
) {
    let mut bytes = vec![0xff; BYTES];
    bytes[..8].copy_from_slice(&turn.to_be_bytes());
    match malice {
        Malice::Flood => {
            let _full = handle.send(victim, Line::Votes, bytes);
        }
        Malice::Spam => {
            let _full = handle.publish(ADVERTS_TOPIC, bytes);
        }
        Malice::Oversized => {
            // One of a salvo: each is large.
            if turn.is_multiple_of(SALVO as u64) {
                ask(handle, victim, vec![0; LARGE], None);
            }
        }
        Malice::Ask => {
            if let Ok(place) = places.clone().try_acquire_owned() {
                let known = codec::encode(&AgentRequest::Adverts(None));
                ask(handle, victim, known, Some(place));
            }
        }
        Malice::Entries => {
            if turn.is_multiple_of(BATCH_EVERY) {
                let batch = (turn / BATCH_EVERY) as usize % BATCHES;
                let _full = handle.send(victim, Line::Entries, batches[batch].clone());
            }
        }
    }
}

/// Batches of transfers from an account that nobody opened, each signed by its own key.
fn batches(network: &[u8; 32], number: u8) -> Vec<Vec<u8>> {
    let key = SecretKey::from_seed(&[number; 32]);
    let entry = |n: usize| {
        let mut memo = Hash32::default();
        memo.0[..8].copy_from_slice(&(n as u64).to_le_bytes());
        let body = EntryBody::Transfer {
            to: AccountId([1; 32]),
            amount: Credits::MAX,
            memo,
        };
        let entry = Entry {
            network: NetworkId(*network),
            account: AccountId([number; 32]),
            key: key.public(),
            valid_until: ENTRY_WINDOW / 2,
            body,
        };
        SignedEntry::new(entry, &key)
    };
    let batch = |n: usize| {
        let entries = n * BATCH_ENTRIES..(n + 1) * BATCH_ENTRIES;
        HostMessage::Entries(entries.map(entry).collect()).encode()
    };
    (0..BATCHES).map(batch).collect()
}

/// A request whose answer nobody wants; it holds its place until then.
fn ask(
    handle: &OverlayHandle,
    victim: PeerId,
    bytes: Vec<u8>,
    place: Option<OwnedSemaphorePermit>,
) {
    let handle = handle.clone();
    tokio::spawn(async move {
        let time = Duration::from_secs(5);
        let _answer = handle.request(victim, bytes, time).await;
        drop(place);
    });
}

/// Above any request's cap.
const LARGE: usize = 1 << 20;

fn config(victim: &Victim, seed: [u8; 32]) -> anyhow::Result<OverlayConfig> {
    let listen = vec!["/ip4/127.0.0.1/udp/0/quic-v1".parse()?];
    let limits = Limits {
        max_request: 2 * LARGE,
        direct_per_peer: 4096,
        ..Limits::default()
    };
    let seed = TransportSeed(seed);
    Ok(OverlayConfig {
        topics: vec![TopicConfig::new(ADVERTS_TOPIC, 1 << 20)],
        limits,
        ..OverlayConfig::new(seed, victim.network, listen, Tuning::local())
    })
}

/// Sockets to a victim over which nothing is ever said. As many as it takes.
pub(super) async fn silent_sockets(port: u16, n: usize) -> Vec<TcpStream> {
    let victim = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    let mut sockets = Vec::new();
    for _ in 0..n {
        if let Ok(socket) = TcpStream::connect(victim).await {
            sockets.push(socket);
        }
    }
    sockets
}
