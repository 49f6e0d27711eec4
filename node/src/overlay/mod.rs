//! The overlay of one node: its connections, and the ways in which bytes travel between nodes.
//!
//! Everything about libp2p stays in this module; the rest of the node sees bytes, a cloneable
//! [`OverlayHandle`] and one bounded stream of [`Event`]s.
//!
//! 1. [`start`] builds the swarm, opens every listener, waits until each has an address, and only
//!    then begins to dial: a dial made earlier would leave from a random port, and the address that
//!    others observe would be useless for hole punching.
//! 2. One task owns the swarm (`task`). It takes commands from a bounded queue and never waits for
//!    anybody: a full queue costs the sender of a message, not the overlay.
//! 3. A connection counts as a peer when it has proved to speak for our network: protocol names
//!    carry the network id, so a stranger can neither ask nor gossip, and identify ends it.
//! 4. Bootstrap peers and kept peers (validators) are redialled for ever with a short back-off;
//!    peers found through Kademlia are tried a few times while connections are wanted.
//!
//! The overlay's memory lies in four rooms, each a folder whose struct owns its state. A room hears
//! events and commands from the task. Its requests to the swarm or to another room are orders,
//! which the task carries out; `wire` alone is handed `peers` to charge a peer at once.
//!
//! | room | owns |
//! |---|---|
//! | `peers` | connections, the dial book, scores and bans, the owner's marks |
//! | `dht` | lookups, records of nodes and providers, peers that are sought |
//! | `reach` | our own addresses, places at relays and given to others, what moves |
//! | `wire` | messages that are not taken, judged, answered or confirmed yet |
//!
//! Three ways to move bytes:
//!
//! | call | reaches | latency | bound by |
//! |---|---|---|---|
//! | [`OverlayHandle::publish`] | everyone on a topic, each message judged before it is passed on | half a round trip to neighbours, then hop by hop | the topic's cap |
//! | [`OverlayHandle::send`] | one connected peer, no answer, in the order of its [`Line`] | half a round trip | `max_direct` |
//! | [`OverlayHandle::request`] | one connected peer, one answer | one round trip | `max_request`, `max_response` |
//!
//! Consensus among up to 50 validators uses `send` to each of them: it needs no mesh, is not
//! deduplicated, and a message lost with its connection is repeated by the engine. `publish` with
//! the same bytes twice is sent once.
//!
//! 5. A node that cannot be dialled keeps places at two relays, found through the DHT, and is
//!    reached through them; hole punching or a plain dial back makes the path direct where the NATs
//!    let it (`reach/{reachability,relays,traverse}`).
//! 6. Every node keeps a signed record of its addresses in the DHT. A peer that is asked for and
//!    not connected is looked up there (`dht/{records,lookups,seeking}`).
//! 7. A peer that connects is hostile until shown otherwise. `peers/gate` gives out the slots;
//!    `peers/{flood,meter,metered}` bound how much of each kind one peer may send, `reach/scope`
//!    the addresses that it may make this node dial, `reach/discreet` the things that it is told of
//!    this node, and `wire/{codec,budget}` how long and how large a frame may be. Every refusal is
//!    counted with its reason ([`Count`]) and costs score ([`Tuning::ban_score`]).
//! 8. Where two data planes cannot reach each other by datagrams, a stream carries these
//!    ([`OverlayHandle::packets`], `packets`).
//! 9. A node that gets another address, or whose gateway does, makes its connections anew; silent
//!    ones are given up (`reach/moved`).
//! 10. One-way messages go on long-lived streams, one for each class ([`Line`], `lines`).

mod command;
mod config;
mod connections;
mod dht;
mod error;
mod event;
mod handle;
mod identity;
mod lines;
mod names;
mod packets;
mod peers;
mod reach;
mod shared;
mod stats;
mod task;
mod view;
mod wire;

pub use config::{Limits, OverlayConfig, Quotas, RelayLimits, TopicConfig, TransportSeed, Tuning};
pub use error::{DialCause, LookupError, OverlayError, RequestError, SeekError, StartError};
pub use event::{Event, MessageId, RequestId, Verdict};
pub use handle::OverlayHandle;
pub use identity::{key_of_peer_id, peer_id_of_key};
pub use libp2p::{Multiaddr, PeerId};
pub use lines::Line;
pub use packets::{DATAGRAM_BYTES, Incoming, Packets, Receiving, Sending};
pub use peers::marks::Mark;
pub use peers::meter::{MeteredProtocol, metered_protocols};
pub use peers::rates::Rate;
pub(crate) use reach::addresses::{Range, range};
pub use reach::addresses::{ip, is_circuit, is_global, is_quic, port, prefix, split_peer};
pub use reach::reachability::{Nat, Reach};
pub use reach::serving::Router;
pub use stats::{Count, OverlayStats, TopicStats};
pub use task::start;
pub use view::{PeerInfo, Queues, Whereabouts};
