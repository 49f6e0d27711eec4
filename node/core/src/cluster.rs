//! A lease as a private cluster: the words by which its buyer introduces the leased nodes to one
//! another.
//!
//! ```text
//! buyer                                  seller
//!   Connect(ranks, others)  ─────────►   checks them against the ledger's lease
//!                           ◄─────────   Presence: its key for this lease, where it is reached,
//!                                        and how it reaches the others
//! ```
//!
//! 1. The buyer asks every node that runs tasks of a lease, again after each change of the others,
//!    and now and then without one: a node that was restarted has a new key.
//! 2. A node takes the word of the buyer's node alone, by the key with which that is connected. It
//!    opens the network to no node that holds no unit of the lease.
//! 3. The secret that all members share follows from the buyer's order. Those that only carry
//!    packets do not have it.
//! 4. The buyer's own node may be a member too, under the rank [`OWNER`], without a unit: sellers
//!    take it from the buyer's node alone. It leaves when the buyer says so, or with the lease.
//! 5. A user whom the owner admits ([`Visit`]) has a node among the members as well, under one of
//!    the ranks [`GUESTS`], for as long as it asks for it.
//! 6. A key is one member's: the buyer's node takes none from another node while it knows its
//!    owner. After a restart it may hear a copied one first; the owner, told of its own key, takes
//!    a new one.
//! 7. A node whose last task of the lease ends, or whose lease is gone, leaves and forgets all
//!    keys. A member that leaves the lease is cut off by the others with the same block.

use crate::relay::Ticket;
use gridbay_protocol::ids::{LeaseId, byte_array};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;

/// Where a networked job finds the program by which ranks command one another.
pub const PROGRAM: &str = "/run/gridbay-rank";

/// Whether the first task of a job leads the others, which serve it until it is done.
pub fn is_led(spec: &JobSpec) -> bool {
    let mut words = spec.argv.iter().map(String::as_str);
    spec.network && words.next() == Some(PROGRAM) && words.next() == Some("lead")
}

/// Whether the ranks of a job run what its owner asks them to, as long as the lease lasts.
pub fn is_held(spec: &JobSpec) -> bool {
    let mut words = spec.argv.iter().map(String::as_str);
    spec.network && words.next() == Some(PROGRAM) && words.next() == Some("hold")
}

/// Whether a rank is that of a task, and not of a user's own node.
pub fn is_task(rank: u32) -> bool {
    rank < RANKS
}

/// A user's node asks for a place among the members of a lease's network. It asks its owner's node,
/// again every few seconds; signed with the key that the owner has admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    /// The lease.
    pub lease: LeaseId,
    /// Transport key of the node that asks.
    pub node: PublicKey,
    /// That of the node that is asked.
    pub owner: PublicKey,
    /// The key that was admitted.
    pub key: PublicKey,
}

/// Tasks that may share a network.
pub const RANKS: u32 = 512;
/// The rank of the buyer's own node, the last one that has an address.
pub const OWNER: u32 = 1_021;
/// The ranks of admitted users' nodes, below that of the owner's.
pub const GUESTS: Range<u32> = OWNER - 64..OWNER;
/// Networks of others that a node is a guest in at the most.
pub const VISITS: usize = 64;
/// Members of a network at the most.
pub const MEMBERS: usize = RANKS as usize + 64 + 1;
/// Addresses at which one node may be reached, at the most.
pub const PLACES: usize = 8;
/// Points of low order on Curve25519, with which nobody shares a secret (RFC 7748, section 6.1).
const LOW_ORDER: [[u8; 32]; 7] = [
    [0; 32],
    with_ends(1, 0, 0),
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ],
    with_ends(0xec, 0xff, 0x7f),
    with_ends(0xed, 0xff, 0x7f),
    with_ends(0xee, 0xff, 0x7f),
];
/// Characters of one such address at the most.
const PLACE_TEXT: usize = 64;

const fn with_ends(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    (bytes[0], bytes[31]) = (first, last);
    bytes
}

/// The key of one node in one lease, and where its packets are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its public key for this lease and no other (X25519).
    #[serde(with = "byte_array")]
    pub public: [u8; 32],
    /// Addresses and ports, best first.
    pub places: Vec<String>,
    /// Where its NAT lets it be seen, if others have told it: to be punched through to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

impl Card {
    /// Whether the key can be agreed with, and there are few enough places, all of them addresses.
    /// The highest bit does not count (RFC 7748, section 5) and is never set: with it a key that
    /// somebody has copied would look like another one.
    pub fn is_valid(&self) -> bool {
        if LOW_ORDER.contains(&self.public) || self.public[31] & 0x80 != 0 {
            return false;
        }
        let mut all = self.places.iter().chain(&self.outside);
        self.places.len() <= PLACES && all.all(|p| is_place(p))
    }
}

/// Whether it is an address and a port.
pub(crate) fn is_place(place: &str) -> bool {
    place.len() <= PLACE_TEXT && place.parse::<SocketAddr>().is_ok()
}

/// Relays, and places of them, for one pair of members at the most.
pub const VIAS: usize = 4;

/// A relay by which a member is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayWay {
    /// The relay's node: where no packets pass, a stream of the overlay leads to it.
    pub node: PublicKey,
    /// Address and port at which it takes packets.
    pub place: String,
    /// What stands in front of each packet to it: of the node that is told, for this member alone.
    #[serde(with = "byte_array")]
    pub ticket: Ticket,
}

/// A node of a lease, as the others are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its transport key.
    pub node: PublicKey,
    /// The tasks that it runs, ascending; then its rank as a guest, or [`OWNER`] if it is the
    /// buyer's.
    pub ranks: Vec<u32>,
    /// What it says of itself.
    pub card: Card,
    /// Relays that carry between it and the node that is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relays: Vec<RelayWay>,
}

impl Member {
    /// Whether the card is sound, and relays are addresses and few enough.
    fn is_valid(&self) -> bool {
        self.card.is_valid()
            && self.relays.len() <= VIAS
            && self.relays.iter().all(|way| is_place(&way.place))
    }
}

/// What one node of a lease has to know of its network.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The lease.
    pub lease: LeaseId,
    /// Shared by its members alone.
    #[serde(with = "byte_array")]
    pub secret: [u8; 32],
    /// The tasks on the node that is told, ascending; then its rank as a guest, or [`OWNER`] if it
    /// is the buyer's.
    pub ranks: Vec<u32>,
    /// The others that are known, ascending by node.
    pub others: Vec<Member>,
}

/// Without the secret.
impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("lease", &self.lease)
            .field("ranks", &self.ranks)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Whether ranks and nodes are in range and in order, each rank and each key once.
    pub fn is_valid(&self) -> bool {
        let ascending = |ranks: &[u32]| !ranks.is_empty() && ranks.windows(2).all(|w| w[0] < w[1]);
        let nodes = self.others.windows(2).all(|w| w[0].node < w[1].node);
        let all = self.others.iter().map(|m| &m.ranks).chain([&self.ranks]);
        let mut ranks: Vec<u32> = all.clone().flatten().copied().collect();
        ranks.sort_unstable();
        let keys: BTreeSet<_> = self.others.iter().map(|m| m.card.public).collect();
        nodes
            && keys.len() == self.others.len()
            && all.clone().all(|ranks| ascending(ranks))
            && ranks.windows(2).all(|w| w[0] < w[1])
            && ranks
                .iter()
                .all(|rank| is_task(*rank) || GUESTS.contains(rank) || *rank == OWNER)
            && self.others.iter().all(Member::is_valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn member(n: u8, ranks: &[u32]) -> Member {
        Member {
            node: SecretKey::from_seed(&[n; 32]).public(),
            ranks: ranks.to_vec(),
            card: Card {
                public: [n; 32],
                places: vec!["127.0.0.1:4000".to_owned()],
                outside: None,
            },
            relays: vec![],
        }
    }

    fn cluster(ranks: &[u32], mut others: Vec<Member>) -> Cluster {
        others.sort_by_key(|m| m.node);
        Cluster {
            lease: LeaseId([7; 32]),
            secret: [9; 32],
            ranks: ranks.to_vec(),
            others,
        }
    }

    #[test]
    fn a_cluster_has_each_rank_once_and_in_order() {
        let good = cluster(&[0, 3], vec![member(1, &[1]), member(2, &[2, 4])]);
        assert!(good.is_valid());
        assert!(cluster(&[0], vec![]).is_valid(), "alone");
        assert!(cluster(&[0], vec![member(1, &[1, OWNER])]).is_valid());
        assert!(cluster(&[GUESTS.start], vec![member(1, &[1, GUESTS.end - 1])]).is_valid());
        for bad in [
            cluster(&[], vec![member(1, &[1])]),
            cluster(&[1, 0], vec![]),
            cluster(&[0], vec![member(1, &[])]),
            cluster(&[0], vec![member(1, &[0])]),
            cluster(&[0], vec![member(1, &[1]), member(1, &[2])]),
            cluster(&[RANKS], vec![]),
            cluster(&[GUESTS.start - 1], vec![]),
            cluster(&[0, OWNER], vec![member(1, &[OWNER])]),
        ] {
            assert!(!bad.is_valid(), "{bad:?}");
        }
        let mut twice = good.clone();
        twice.others[0].card.public = twice.others[1].card.public;
        assert!(!twice.is_valid(), "one key for two");
        let mut relayed = good.clone();
        let way = |place: &str| RelayWay {
            node: SecretKey::from_seed(&[9; 32]).public(),
            place: place.to_owned(),
            ticket: [1; 16],
        };
        relayed.others[0].relays = vec![way("192.0.2.1:7412"); VIAS];
        assert!(relayed.is_valid());
        relayed.others[0].relays.push(way("192.0.2.1:7412"));
        assert!(!relayed.is_valid(), "too many");
        relayed.others[0].relays = vec![way("relay.example:7412")];
        assert!(!relayed.is_valid());
        let mut unsorted = good;
        unsorted.others.reverse();
        assert!(!unsorted.is_valid());
    }

    #[test]
    fn a_card_names_addresses_and_few_of_them() {
        let card = |places: Vec<&str>| Card {
            public: [1; 32],
            places: places.into_iter().map(str::to_owned).collect(),
            outside: None,
        };
        let outside = |place: &str| Card {
            outside: Some(place.to_owned()),
            ..card(vec!["10.0.0.1:1"; PLACES])
        };
        assert!(card(vec![]).is_valid());
        assert!(card(vec!["10.0.0.1:1", "[fe80::1]:65535"]).is_valid());
        assert!(!card(vec!["a.example:1"]).is_valid());
        assert!(!card(vec!["10.0.0.1"]).is_valid());
        assert!(outside("192.0.2.1:9").is_valid());
        assert!(!outside("a.example:9").is_valid());
        for mut public in LOW_ORDER {
            let of = |public| Card {
                public,
                ..card(vec![])
            };
            assert!(!of(public).is_valid());
            public[31] |= 0x80;
            assert!(!of(public).is_valid());
        }
        assert!(!card(vec!["10.0.0.1:1"; PLACES + 1]).is_valid());
        let mut respelled = card(vec![]);
        respelled.public[31] |= 0x80;
        assert!(!respelled.is_valid(), "a key has one spelling");
    }

    #[test]
    fn the_secret_is_not_printed() {
        let text = format!("{:?}", cluster(&[0], vec![]));
        assert!(!text.contains("secret") && text.contains("ranks"), "{text}");
    }
}
