//! Peers: the connected ones, their paths, and this node's own reachability.

use crate::overlay::{Mark, Nat, Reach, Router};
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a peer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Directly over QUIC.
    Quic,
    /// Directly over TCP.
    Tcp,
    /// Through a relay.
    Relayed,
}

impl Path {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Path::Quic => "direct quic",
            Path::Tcp => "direct tcp",
            Path::Relayed => "relayed",
        }
    }
}

/// How this node is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ourselves {
    /// This node's peer id.
    pub peer: String,
    /// Its transport key.
    pub node: PublicKey,
    /// Whether others can dial it.
    pub reach: Reach,
    /// The NAT or firewall between it and the others.
    pub nat: Nat,
    /// Direct addresses at which others reach it.
    pub external: Vec<String>,
    /// Of those that its owner declared, where nobody reached it.
    pub refuted: Vec<String>,
    /// Relays at which it has a place.
    pub relays: Vec<String>,
    /// The router's service for it.
    pub router: Router,
    /// Nodes that have a place here.
    pub places_given: u32,
    /// Circuits through here.
    pub circuits: u32,
    /// Peers with a direct connection.
    pub direct: u32,
    /// Peers reached through relays alone.
    pub relayed: u32,
    /// Peers that the owner blocked.
    pub blocked: Vec<String>,
    /// Peers that the owner trusts.
    pub trusted: Vec<String>,
}

/// A connected peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeerLine {
    /// Its peer id.
    pub peer: String,
    /// Its transport key; `None` if it uses another kind of key than gridbay does.
    pub node: Option<PublicKey>,
    /// Name of the member or account that it sells or votes for, if the ledger tells.
    pub name: Option<String>,
    /// How it is reached.
    pub path: Path,
    /// The relay in between.
    pub via: Option<String>,
    /// Where.
    pub address: String,
    /// Last round trip, microseconds.
    pub rtt_us: Option<u64>,
    /// 0 is neutral, negative is bad; whole points.
    pub score: i64,
    /// Connections to it.
    pub connections: u32,
    /// Whether it is redialled for ever.
    pub kept: bool,
    /// Whether others' messages are passed on to it.
    pub mesh: bool,
    /// Whether it relays for others.
    pub relays: bool,
    /// Whether the owner trusts it.
    pub trusted: bool,
}

/// `GET /peers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeerList {
    /// This node.
    pub me: Ourselves,
    /// The others.
    pub peers: Vec<PeerLine>,
}

/// `POST /peers/{find,ping,connect}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerRequest {
    /// A peer id, a transport key, the beginning of either or the name of a connected peer, or an
    /// address that ends in `/p2p/<id>`.
    pub who: String,
}

/// `POST /peers/mark`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkRequest {
    /// As in [`PeerRequest`].
    pub who: String,
    /// Which mark.
    pub mark: Mark,
    /// Whether to set it, in place of the other one; else it is taken back if it is set.
    pub set: bool,
}

/// The present mark on a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Marked {
    /// Of whom.
    pub peer: String,
    /// The mark.
    pub mark: Option<Mark>,
    /// Whether anything changed.
    pub changed: bool,
}

/// One round trip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pinged {
    /// To whom.
    pub peer: String,
    /// How long it took, microseconds.
    pub micros: u64,
    /// On which way.
    pub path: Path,
    /// The relay in between.
    pub via: Option<String>,
    /// Where.
    pub address: String,
}

/// A node's record in the DHT.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FoundRecord {
    /// Of whom.
    pub peer: String,
    /// Its transport key, which signed the record.
    pub node: PublicKey,
    /// As in [`PeerLine::name`].
    pub name: Option<String>,
    /// Where it says it is reached, best first.
    pub addresses: Vec<String>,
    /// When it was signed, by its own clock, milliseconds since 1970.
    pub signed_ms: u64,
    /// Until when it counts, milliseconds since 1970.
    pub expires_ms: u64,
    /// How old it is by this node's clock, milliseconds.
    pub age_ms: u64,
    /// Whether the peer is connected.
    pub connected: bool,
}
