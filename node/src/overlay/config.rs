//! The configuration of an overlay, and the bounds that it keeps to.

use std::fmt;
use std::time::Duration;

use gridbay_core::overlay as numbers;
use libp2p::{Multiaddr, PeerId};

use super::error::StartError;
use super::peers::rates::Rate;

/// Declares a structure with the default of each field.
macro_rules! defaults {
    (
        $(#[$doc:meta])*
        pub struct $name:ident { $($(#[$about:meta])* pub $field:ident: $type:ty = $value:expr,)* }
    ) => {
        $(#[$doc])*
        pub struct $name { $($(#[$about])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }
    };
}

/// Everything that [`super::start`] needs.
#[derive(Clone, Debug)]
pub struct OverlayConfig {
    /// Secret of the transport key; the peer id follows from it.
    pub seed: TransportSeed,
    /// Network id (the genesis hash). Nodes of different networks do not talk to one another.
    pub network: [u8; 32],
    /// Addresses to listen on, e.g. `/ip4/127.0.0.1/udp/0/quic-v1` and `/ip4/127.0.0.1/tcp/0`.
    pub listen: Vec<Multiaddr>,
    /// Peers to stay connected to from the beginning.
    pub bootstrap: Vec<(PeerId, Multiaddr)>,
    /// Peers that were good in an earlier run, tried while more are wanted.
    pub known: Vec<(PeerId, Multiaddr)>,
    /// Addresses at which others reach this node, as its owner says (a forwarded port, a founder's
    /// address).
    pub external: Vec<Multiaddr>,
    /// How much to relay for others once this node is public; `None` for nothing.
    pub relay: Option<RelayLimits>,
    /// Peers not to be spoken to, by the owner's order.
    pub blocked: Vec<PeerId>,
    /// Peers to keep connected and never to ban for their score, by the owner's order.
    pub trusted: Vec<PeerId>,
    /// Whether to look for peers on the LAN by multicast.
    pub mdns: bool,
    /// Whether to ask the router to forward our ports.
    pub upnp: bool,
    /// The only topics this node takes part in.
    pub topics: Vec<TopicConfig>,
    /// Bounds of every queue, map and message.
    pub limits: Limits,
    /// Times and thresholds.
    pub tuning: Tuning,
}

impl OverlayConfig {
    /// A node that starts from nobody, takes part in no topic, relays nothing and asks neither LAN
    /// nor router.
    pub fn new(
        seed: TransportSeed,
        network: [u8; 32],
        listen: Vec<Multiaddr>,
        tuning: Tuning,
    ) -> Self {
        Self {
            seed,
            network,
            listen,
            bootstrap: Vec::new(),
            known: Vec::new(),
            external: Vec::new(),
            relay: None,
            blocked: Vec::new(),
            trusted: Vec::new(),
            mdns: false,
            upnp: false,
            topics: Vec::new(),
            limits: Limits::default(),
            tuning,
        }
    }

    /// Addresses of others, and of this node, that its owner named.
    pub(crate) fn told(&self) -> Vec<Multiaddr> {
        let bootstrap = self.bootstrap.iter().map(|(_, address)| address);
        bootstrap.chain(&self.external).cloned().collect()
    }

    /// Checks what the types cannot.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        if self.listen.is_empty() {
            return Err(StartError::NoListener);
        }
        for (i, topic) in self.topics.iter().enumerate() {
            if !(1..=MAX_TOPIC_BYTES).contains(&topic.max_bytes) {
                return Err(StartError::TopicCap {
                    topic: topic.name.clone(),
                });
            }
            if self.topics[..i].iter().any(|t| t.name == topic.name) {
                return Err(StartError::TopicTwice {
                    topic: topic.name.clone(),
                });
            }
        }
        Ok(())
    }
}

defaults! {
    /// The service of this node as a relay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RelayLimits {
        /// Nodes that may keep a place here.
        pub places: usize = 256,
        /// Circuits at a time.
        pub circuits: usize = 128,
        /// Circuits of one peer at a time.
        pub circuits_per_peer: usize = 8,
        /// Bytes through one circuit, both ways; then it is closed. 0 for no limit.
        pub circuit_bytes: u64 = 256 << 20,
        /// Time for one circuit; then it is closed.
        pub circuit_time: Duration = Duration::from_secs(3600),
    }
}

/// Largest cap that a topic may have, bytes.
pub(crate) const MAX_TOPIC_BYTES: usize = 4 << 20;

/// The 32-byte secret of the transport key. Its `Debug` shows nothing.
#[derive(Clone)]
pub struct TransportSeed(pub [u8; 32]);

impl fmt::Debug for TransportSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TransportSeed(..)")
    }
}

impl TransportSeed {
    /// The peer id that a node with this seed has.
    pub fn peer_id(&self) -> PeerId {
        super::identity::keypair_of_seed(&self.0)
            .public()
            .to_peer_id()
    }
}

/// One gossip topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// Short name, unique on this node, e.g. `entries`.
    pub name: String,
    /// Largest payload in bytes, 1 to 4 MiB; larger ones are refused at both ends.
    pub max_bytes: usize,
    /// Messages that one neighbour may pass on to this node; others are ignored.
    pub rate: Rate,
}

impl TopicConfig {
    /// A topic with its cap in bytes. A neighbour may pass on 200 messages a second, 2,000 at once:
    /// a thousand nodes that all speak up once in ten seconds make half of that.
    pub fn new(name: impl Into<String>, max_bytes: usize) -> Self {
        Self {
            name: name.into(),
            max_bytes,
            rate: Rate::new(200, 2_000),
        }
    }
}

defaults! {
    /// The rates of one peer; see `flood`. Each is several times what an honest peer sends at its
    /// busiest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Quotas {
        /// Requests. A buyer's files are asked for in pieces of half a MiB, one after another:
        /// 1,000 a second are 500 MB/s.
        pub requests: Rate = Rate::new(1_000, 2_000),
        /// One-way messages. Consensus sends a peer about ten per height, heights take 100 ms and
        /// more; a peer that brings another up to date sends at most 200 a second.
        pub direct: Rate = Rate::new(1_000, 4_000),
        /// Their bytes. Blocks are sent to a peer that catches up at no more than 20 MiB a second.
        pub direct_bytes: Rate = Rate::new(32 << 20, 64 << 20),
        /// Frames of gossip, whatever is in them: each new message comes from up to 14 neighbours,
        /// and each has a frame of its own.
        pub gossip_frames: Rate = Rate::new(1_000, 8_000),
        /// Frames of the DHT: questions, and answers to ours. A lookup asks one peer once or twice.
        /// They are only counted.
        pub dht: Rate = Rate::new(200, 2_000),
        /// Bytes of gossip, whatever is in them.
        pub gossip_bytes: Rate = Rate::new(4 << 20, 32 << 20),
        /// How often it may say who it is and where: once for each connection, every five minutes,
        /// and when it begins or ends to serve.
        pub greetings: Rate = Rate::new(1, 32),
    }
}

defaults! {
    /// Bounds. Large frames being read cost at most thrice `reading_bytes`, small ones (up to 16
    /// KiB) at most `connections x streams` of them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Limits {
        /// Largest request, bytes.
        pub max_request: usize = 64 << 10,
        /// Largest response, bytes.
        pub max_response: usize = 4 << 20,
        /// Largest one-way message, bytes.
        pub max_direct: usize = 64 << 10,
        /// Established connections with strangers, that is with all that are not kept. Three
        /// quarters of them may have been made by them; see `gate`.
        pub connections: u32 = numbers::CONNECTIONS as u32,
        /// Established connections with kept peers. Nobody else can take these.
        pub kept_connections: u32 = 256,
        /// Inbound connections with strangers of one network (24 bits of IPv4, 48 of IPv6, one host
        /// where addresses are private), where [`Tuning::ip_colocation`] says that peers do not all
        /// share an address.
        pub connections_per_origin: u32 = 30,
        /// Connections that one such network may begin.
        pub arrivals: Rate = Rate::new(20, 100),
        /// Connections to one peer: two transports, each dialled from both ends at once.
        pub connections_per_peer: u32 = 4,
        /// Connections that we are making.
        pub pending_connections: u32 = numbers::PENDING_CONNECTIONS as u32,
        /// Connections that others are making. Each costs a socket and some KiB until its handshake
        /// times out. Of them a network may have a quarter.
        pub pending_inbound: u32 = 512,
        /// Streams of one protocol open at a time on one connection.
        pub streams: usize = 64,
        /// Commands waiting for the task; beyond, a call returns `Busy`.
        pub commands: usize = 1024,
        /// Events waiting for the node; see `outbox` for the losses when it is full. At least 64.
        pub events: usize = 4096,
        /// Requests of strangers waiting for our answer, in total.
        pub inbound_requests: usize = 256,
        /// The same from one peer.
        pub inbound_requests_per_peer: usize = 32,
        /// Own requests in flight.
        pub outbound_requests: usize = 2048,
        /// One-way messages to one peer that it has not confirmed. Consensus sends a peer about ten
        /// per height; the rest is for bursts of entries.
        pub direct_per_peer: usize = 168,
        /// Their bytes; a message larger than that is sent alone.
        pub direct_bytes_per_peer: usize = 8 << 20,
        /// The same bytes over all peers that are not kept.
        pub direct_bytes_not_kept: usize = 128 << 20,
        /// Gossip messages delivered but not yet judged by [`super::OverlayHandle::report`].
        pub unjudged: usize = 4096,
        /// Their bytes. Gossip keeps each once more until it is judged.
        pub unjudged_bytes: usize = 16 << 20,
        /// Peers redialled for ever (bootstrap and kept).
        pub kept_peers: usize = 256,
        /// Peers known by address only.
        pub known_peers: usize = numbers::KNOWN_PEERS,
        /// Below this many peers, known ones are dialled.
        pub wanted_peers: usize = numbers::WANTED_PEERS,
        /// Bans remembered.
        pub bans: usize = 1024,
        /// Lookups in the DHT at a time.
        pub lookups: usize = numbers::LOOKUPS,
        /// Peers that we try to reach for somebody who waits, at a time.
        pub seeks: usize = 64,
        /// Requests that wait for one such peer.
        pub requests_per_seek: usize = 16,
        /// Records of others that we keep for the DHT, each at most 4 KiB; and keys under which we
        /// keep providers.
        pub records: usize = numbers::RECORDS,
        /// Bytes of frames above 16 KiB that are being read, over all connections: of requests, of
        /// one-way messages of kept peers, and of those of others.
        pub reading_bytes: usize = 128 << 20,
        /// The rate of one peer.
        pub quotas: Quotas = Quotas::default(),
        /// Share of the machine's memory, in percent, above which this process takes no more
        /// connections.
        pub memory_percent: u8 = 80,
    }
}

impl Limits {
    /// Connections of all kinds.
    pub(crate) fn all(&self) -> usize {
        self.connections.saturating_add(self.kept_connections) as usize
    }
}

/// Times and thresholds, for a place where round trips are short or long.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Period of gossip housekeeping; messages themselves never wait for it.
    pub heartbeat: Duration,
    /// First pause before a kept peer is dialled again; doubles each time.
    pub redial_first: Duration,
    /// Longest pause before a kept peer is dialled again.
    pub redial_max: Duration,
    /// How long making a QUIC connection may take; any other may take twice as long.
    pub handshake: Duration,
    /// How often an idle QUIC connection shows that it lives; well below `idle`.
    pub keep_alive: Duration,
    /// Silence after which a QUIC connection is given up. A crash goes unnoticed for so long unless
    /// the peer comes back and dials us; then it is noticed at once. (QUIC's own reset does not
    /// help: the stack answers it only for connection ids of its present run.)
    pub idle: Duration,
    /// How often a connection is pinged, and how long the answer may take; where peers are far, a
    /// connection on which none is answered for both together is closed, since its path is gone:
    /// NATs forget, addresses change.
    pub ping: Duration,
    /// A connection younger than this is not closed to make room.
    pub grace: Duration,
    /// How long we wait for somebody to confirm an address of ours before we call the node private.
    pub reach: Duration,
    /// How long a connection may take to identify itself as one of our network.
    pub admission: Duration,
    /// How long the bytes of a frame may take once its stream stands, beyond a second for each 64
    /// KiB of it.
    pub frame: Duration,
    /// Longest wait for an answer, whatever the caller of `request` asked for.
    pub request: Duration,
    /// Score below which a peer is disconnected and banned. One rejected message costs 20, two
    /// at once 80 (squared), a malformed frame 30; all fades within about a minute.
    pub ban_score: f64,
    /// Duration of such a ban.
    pub ban_time: Duration,
    /// Whether many peers behind one IP address lose score. Must be off where all nodes share one.
    pub ip_colocation: bool,
}

impl Tuning {
    /// One machine or one LAN: everything fast, peers may share an address. Signs of life are few:
    /// a hundred idle nodes on one machine do little else.
    pub fn local() -> Self {
        Self {
            heartbeat: Duration::from_secs(3),
            redial_first: Duration::from_millis(100),
            redial_max: Duration::from_secs(5),
            handshake: Duration::from_secs(3),
            keep_alive: Duration::from_secs(50),
            idle: Duration::from_secs(60),
            ping: Duration::from_secs(300),
            grace: numbers::GRACE,
            reach: Duration::from_secs(4),
            admission: Duration::from_secs(5),
            frame: Duration::from_secs(5),
            request: Duration::from_secs(30),
            ban_score: -100.0,
            ban_time: Duration::from_secs(60),
            ip_colocation: false,
        }
    }

    /// Institutions across the Internet.
    pub fn wide_area() -> Self {
        Self {
            heartbeat: Duration::from_secs(1),
            redial_first: numbers::REDIAL_FIRST,
            redial_max: numbers::REDIAL_MAX,
            handshake: numbers::HANDSHAKE,
            keep_alive: numbers::KEEP_ALIVE,
            idle: numbers::IDLE,
            ping: numbers::PING,
            admission: Duration::from_secs(15),
            frame: Duration::from_secs(10),
            ip_colocation: true,
            ban_time: Duration::from_secs(600),
            ..Self::local()
        }
    }
}
