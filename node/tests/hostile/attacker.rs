//! Hostile peers: swarms that join the network by its protocols, and then do things that no node
//! does.
//!
//! An attacker announces itself as a node of the network (identify), so it is admitted. Then it
//! follows a *script*, run every [`PACE`] while it is connected: requests and one-way messages of
//! any bytes ([`Raw`]), gossip of any size with an id of its own for each message, so that the same
//! bytes can be sent again and again.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::identity::Keypair;
use libp2p::request_response::{self as rr, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, SwarmBuilder, gossipsub, identify};

/// How often a script is run.
const PACE: Duration = Duration::from_millis(2);

/// Names of a network's protocols, as its nodes derive them.
pub(crate) fn name(network: u8, of: &str) -> String {
    let id: String = [network; 16].iter().map(|b| format!("{b:02x}")).collect();
    format!("/gridbay/{id}/{of}")
}

/// Wire name of a topic.
pub(crate) fn topic(network: u8, name_of: &str) -> gossipsub::IdentTopic {
    gossipsub::IdentTopic::new(name(network, name_of))
}

/// Bytes written to a stream as they are, in pieces, then nothing more for a while.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    /// Written at once.
    pub(crate) bytes: Vec<u8>,
    /// How long the stream stays open afterwards, before it is closed in order.
    pub(crate) hold: Duration,
}

impl Raw {
    /// So many whole frames.
    pub(crate) fn frames(count: usize, body: &[u8]) -> Self {
        let frame = Self::frame(body.len() as u32, body);
        Self {
            bytes: frame.bytes.repeat(count),
            ..frame
        }
    }
    /// A frame that announces `size` bytes and brings those.
    pub(crate) fn frame(size: u32, body: &[u8]) -> Self {
        Self {
            bytes: [&size.to_be_bytes(), body].concat(),
            hold: Duration::ZERO,
        }
    }
}

/// Writes [`Raw`], and takes any answer for one.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawCodec;

impl rr::Codec for RawCodec {
    type Protocol = StreamProtocol;
    type Request = Raw;
    type Response = ();

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> std::io::Result<Raw>
    where
        T: AsyncRead + Unpin + Send,
    {
        // Nothing that the honest send is of interest.
        let _sent = io.take(1 << 20).read_to_end(&mut Vec::new()).await?;
        Ok(Raw::frame(0, &[]))
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> std::io::Result<()>
    where
        T: AsyncRead + Unpin + Send,
    {
        io.read_exact(&mut [0; 4]).await
    }

    async fn write_request<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        raw: Raw,
    ) -> std::io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        io.write_all(&raw.bytes).await?;
        io.flush().await?;
        tokio::time::sleep(raw.hold).await;
        Ok(())
    }

    async fn write_response<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        (): (),
    ) -> std::io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        io.write_all(&[0; 4]).await
    }
}

/// The protocols of an attacker.
#[derive(NetworkBehaviour)]
pub(crate) struct Malice {
    identify: identify::Behaviour,
    pub(crate) gossip: gossipsub::Behaviour,
    pub(crate) request: rr::Behaviour<RawCodec>,
    /// Each request is a line with as many frames as it holds.
    pub(crate) lines: rr::Behaviour<RawCodec>,
    pub(crate) kad: rr::Behaviour<RawCodec>,
    /// Frames of gossip, written by hand.
    pub(crate) frames: rr::Behaviour<RawCodec>,
}

impl Malice {
    fn new(network: u8, keys: &Keypair) -> Self {
        let raw = |of: &str, support: ProtocolSupport| {
            let protocol = StreamProtocol::try_from_owned(name(network, of)).unwrap();
            let config = rr::Config::default()
                .with_request_timeout(Duration::from_secs(60))
                .with_max_concurrent_streams(1000);
            rr::Behaviour::with_codec(RawCodec, [(protocol, support)], config)
        };
        Self {
            identify: identify::Behaviour::new(identify::Config::new(
                name(network, "1"),
                keys.public(),
            )),
            gossip: gossip(network, keys),
            request: raw("request/1", ProtocolSupport::Full),
            lines: raw("lines/1", ProtocolSupport::Full),
            // It only asks: nobody is told of a node that does not serve the DHT, so the victim
            // stays the only one.
            kad: raw("kad/1", ProtocolSupport::Outbound),
            frames: raw("gossip/1.1.0", ProtocolSupport::Outbound),
        }
    }
}

/// Gossip without any of the limits, where each message has an id of its own.
fn gossip(network: u8, keys: &Keypair) -> gossipsub::Behaviour {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let config = gossipsub::ConfigBuilder::default()
        .protocol_id_prefix(name(network, "gossip"))
        .max_transmit_size(8 << 20)
        .message_id_fn(|_| {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            gossipsub::MessageId::from(next.to_be_bytes().to_vec())
        })
        .build()
        .unwrap();
    let signed = gossipsub::MessageAuthenticity::Signed(keys.clone());
    gossipsub::Behaviour::new(signed, config).unwrap()
}

/// A swarm at a host that speaks what `behaviour` does, over QUIC, so that it calls from that host.
pub(crate) fn swarm<B: NetworkBehaviour>(
    keys: Keypair,
    host: Ipv4Addr,
    behaviour: impl FnOnce(&Keypair) -> B,
) -> Swarm<B> {
    let mut swarm = SwarmBuilder::with_existing_identity(keys)
        .with_tokio()
        .with_quic()
        .with_behaviour(behaviour)
        .unwrap()
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(600)))
        .build();
    let listen: Multiaddr = format!("/ip4/{host}/udp/0/quic-v1").parse().unwrap();
    swarm.listen_on(listen).unwrap();
    swarm
}

/// A running attacker. Dropping it ends it.
pub(crate) struct Attacker {
    pub(crate) peer: PeerId,
    seen: Arc<Seen>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    connected: AtomicBool,
    thrown_out: AtomicBool,
}

impl Drop for Attacker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One turn of a script: the behaviour, the victim, and how many requests and messages have no
/// answer yet. Returns how many it sent.
pub(crate) type Script = Box<dyn FnMut(&mut Malice, PeerId, usize) -> usize + Send>;

impl Attacker {
    /// Connects to a victim from a host and runs a script for as long as it is let.
    pub(crate) fn start(
        network: u8,
        host: Ipv4Addr,
        victim: (PeerId, Multiaddr),
        script: Script,
    ) -> Self {
        let keys = Keypair::generate_ed25519();
        let peer = keys.public().to_peer_id();
        let seen = Arc::new(Seen::default());
        let swarm = swarm(keys, host, |keys| Malice::new(network, keys));
        let task = tokio::spawn(run(swarm, victim, script, seen.clone()));
        Self { peer, seen, task }
    }

    /// Whether it is connected.
    pub(crate) fn is_in(&self) -> bool {
        self.seen.connected.load(Ordering::Relaxed)
    }

    /// Whether it was connected, and no longer is.
    pub(crate) fn is_out(&self) -> bool {
        self.seen.thrown_out.load(Ordering::Relaxed) && !self.is_in()
    }
}

async fn run(
    mut swarm: Swarm<Malice>,
    (victim, address): (PeerId, Multiaddr),
    mut script: Script,
    seen: Arc<Seen>,
) {
    let mut pace = tokio::time::interval(PACE);
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let (mut open, mut dialled) = (0usize, false);
    loop {
        let event = tokio::select! {
            event = swarm.select_next_some() => event,
            _ = pace.tick() => {
                if swarm.is_connected(&victim) {
                    open += script(swarm.behaviour_mut(), victim, open);
                }
                continue;
            }
        };
        match event {
            SwarmEvent::NewListenAddr { .. } if !dialled => {
                dialled = true;
                swarm.dial(at(&address, victim)).unwrap();
            }
            SwarmEvent::ConnectionEstablished { .. } => {
                seen.connected.store(true, Ordering::Relaxed);
            }
            SwarmEvent::ConnectionClosed {
                num_established: 0, ..
            } => {
                seen.connected.store(false, Ordering::Relaxed);
                seen.thrown_out.store(true, Ordering::Relaxed);
            }
            SwarmEvent::Behaviour(event) => open = open.saturating_sub(ended(&event)),
            _ => {}
        }
    }
}

/// An address with the peer that is to answer there.
pub(crate) fn at(address: &Multiaddr, peer: PeerId) -> Multiaddr {
    address.clone().with_p2p(peer).unwrap()
}

/// How many of our requests and messages an event ends.
fn ended(event: &MaliceEvent) -> usize {
    let event = match event {
        MaliceEvent::Request(event)
        | MaliceEvent::Lines(event)
        | MaliceEvent::Kad(event)
        | MaliceEvent::Frames(event) => event,
        _ => return 0,
    };
    let answered = matches!(
        event,
        rr::Event::Message {
            message: rr::Message::Response { .. },
            ..
        }
    );
    usize::from(answered || matches!(event, rr::Event::OutboundFailure { .. }))
}
