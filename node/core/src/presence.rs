//! What a member of a lease's network tells the buyer's node of itself, and how it reaches the
//! others. Facts for people to look at; nothing is decided by them, since members may lie.

use crate::cluster::{Card, MEMBERS};
use serde::{Deserialize, Serialize};

/// How a member reaches another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Inside one local network.
    Lan,
    /// Directly.
    Direct,
    /// Punched through NATs.
    Punched,
    /// Through a relay.
    Relay,
    /// Over a stream of the overlay.
    Stream,
}

impl Way {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Way::Lan => "lan",
            Way::Direct => "direct",
            Way::Punched => "punched",
            Way::Relay => "relay",
            Way::Stream => "stream",
        }
    }
}

/// One other member, as the one that answers sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Its lowest rank.
    pub rank: u32,
    /// The way in use; none while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// Milliseconds since there first was one; none if there never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_ms: Option<u64>,
    /// Round trip in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_us: Option<u32>,
    /// Bytes of a packet that the way takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u16>,
    /// Milliseconds since the last handshake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<u64>,
    /// Bytes sent to it, inside the tunnel.
    pub sent: u64,
    /// Bytes received from it.
    pub received: u64,
    /// Probes of the way in use that were sent, and those of them that were answered.
    pub probes: (u32, u32),
}

/// The answer to an introduction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// Its card: key and places in this lease.
    pub card: Card,
    /// How it reaches the others, each once.
    pub reach: Vec<Reach>,
}

impl Presence {
    /// Whether the card is sound and there are no more others than a lease may have.
    pub fn is_valid(&self) -> bool {
        self.card.is_valid() && self.reach.len() <= MEMBERS
    }
}
