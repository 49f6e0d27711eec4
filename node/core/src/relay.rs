//! Relays: nodes that carry the packets of a lease's network between members of which neither
//! reaches the other, for the lease's buyer.
//!
//! ```text
//! buyer                                      relay
//!   Relay(signed wish: tickets)  ─────────►  checks it against the ledger, admits the tickets
//!                                ◄─────────  Carried: where it is, what went through, what is left
//! buyer                                      member
//!   Links(lease)                 ─────────►
//!                                ◄─────────  Links: which others it reaches, bytes by relay
//! ```
//!
//! 1. The buyer makes up the tickets, two for each pair of members, and gives each member its own
//!    ([`Member`](crate::cluster::Member)). It repeats its wish every few seconds; a relay that was
//!    restarted has forgotten it, one that is not asked any more forgets it.
//! 2. What pays is a lease at the relay's node whose job is [`is_relay`]: a unit of it carries so
//!    many bytes in a slot. Without one, a node may carry a little for each account and day.
//! 3. A relay has neither the lease's secret nor its members: it sees tickets, addresses and sealed
//!    bytes. Members and relay count these bytes; both sign what they say of them, so that the
//!    buyer can show who said what.

use crate::cluster::{MEMBERS, PLACES, PROGRAM, is_place};
use gridbay_protocol::codec;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{AccountId, LeaseId, NetworkId, byte_array};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::{KeyError, PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Attribute of adverts: whether a node carries for those that lease a unit of it.
pub const SELLS: &str = "x.relay";
/// Attribute of adverts: whether it carries a little for nothing.
pub const GIVES: &str = "x.free-relay";
/// Pairs in one wish at the most.
pub const PAIRS: usize = 512;
/// Relays that a member names for another at the most.
const VIAS: usize = 16;

/// Whether a job only stands for a relay: it holds the unit that pays.
pub fn is_relay(spec: &JobSpec) -> bool {
    spec.argv == [PROGRAM, "relay"]
}

/// Such a job.
pub fn relay_job(wall_seconds: u32) -> JobSpec {
    JobSpec {
        argv: [PROGRAM, "relay"].map(str::to_owned).into(),
        env: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        wall_seconds,
        // The program is shown to networked jobs alone.
        network: true,
        internet: false,
        checkpoint: None,
    }
}

/// How much a node carries for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayTerms {
    /// Bytes in a slot for each leased unit; 0: it sells no relaying.
    pub unit_slot: u64,
    /// Bytes in a day for each account that pays nothing; 0: none.
    pub free_day: u64,
}

/// Secret bytes in front of what one member sends to a relay for another.
pub type Ticket = [u8; 16];

/// The tickets of a pair of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tickets(#[serde(with = "byte_array")] pub [u8; 32]);

impl Tickets {
    /// That of the member whose node's key is the lower one, and the other's.
    pub fn ends(&self) -> [Ticket; 2] {
        let (mut low, mut high) = ([0; 16], [0; 16]);
        low.copy_from_slice(&self.0[..16]);
        high.copy_from_slice(&self.0[16..]);
        [low, high]
    }
}

/// What a buyer wants of a relay from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// The relay's node.
    pub relay: PublicKey,
    /// The lease whose members it is to carry for.
    pub carries: LeaseId,
    /// The buyer's lease that pays for it; none if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<LeaseId>,
    /// All pairs, ascending, at most [`PAIRS`]; those of an earlier wish that are not among them
    /// end.
    pub pairs: Vec<Tickets>,
    /// A key of the buyer's account; needs the role `trade`.
    pub key: PublicKey,
}

impl Wish {
    /// Whether pairs are in order, few enough, and all tickets different.
    pub fn is_valid(&self) -> bool {
        let ends: BTreeSet<Ticket> = self.pairs.iter().flat_map(Tickets::ends).collect();
        self.pairs.len() <= PAIRS
            && self.pairs.windows(2).all(|w| w[0] < w[1])
            && ends.len() == 2 * self.pairs.len()
    }
}

/// What a relay says of a wish that it fulfils.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The lease whose members it carries for.
    pub carries: LeaseId,
    /// What pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<LeaseId>,
    /// Addresses and ports at which it takes packets, best first.
    pub places: Vec<String>,
    /// Bytes that it will still carry in this slot, or this day.
    pub left: u64,
    /// Bytes carried for each pair, in the order of the wish, from either end.
    pub bytes: Vec<[u64; 2]>,
}

impl Carried {
    /// Whether it answers a wish, and its places are addresses and few enough.
    pub fn answers(&self, wish: &Wish) -> bool {
        (self.carries, self.paid_by) == (wish.carries, wish.paid_by)
            && self.bytes.len() == wish.pairs.len()
            && self.places.len() <= PLACES
            && self.places.iter().all(|p| is_place(p))
    }
}

/// What a member counted of one relay: bytes of sealed packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByRelay {
    /// The member's ticket.
    #[serde(with = "byte_array")]
    pub ticket: Ticket,
    /// Sent to it.
    pub sent: u64,
    /// Received from it.
    pub received: u64,
    /// Whether the other answers probes by it, also where packets take another way.
    pub answers: bool,
    /// Whether packets to the other take this way now.
    pub used: bool,
}

/// One member as another one sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The other's node.
    pub node: PublicKey,
    /// Whether there is a way to it now.
    pub reached: bool,
    /// The relays that were named for it, with what went through them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relayed: Vec<ByRelay>,
}

/// The network of a lease as one member sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The lease.
    pub lease: LeaseId,
    /// The others, ascending by node.
    pub links: Vec<Link>,
}

impl Links {
    /// Whether there are no more than a lease can have, in order, each once.
    pub fn is_valid(&self) -> bool {
        self.links.len() <= MEMBERS
            && self.links.windows(2).all(|w| w[0].node < w[1].node)
            && self.links.iter().all(|link| link.relayed.len() <= VIAS)
    }
}

/// Something said, with a signature that binds it to the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed<T> {
    /// What was said.
    pub said: T,
    /// The signature.
    pub signature: Signature,
}

impl<T: Serialize> Signed<T> {
    /// Signs.
    pub fn new(network: &NetworkId, said: T, key: &SecretKey) -> Signed<T> {
        let signature = key.sign(Domain::Agent, network, &codec::encode(&said));
        Signed { said, signature }
    }
    /// Checks whose word it is.
    ///
    /// # Errors
    /// It is not that of `key`.
    pub fn verify(&self, network: &NetworkId, key: &PublicKey) -> Result<(), KeyError> {
        let bytes = codec::encode(&self.said);
        key.verify(Domain::Agent, network, &bytes, &self.signature)
    }
}

/// What a relay's grants draw on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purse {
    /// A lease of a unit.
    Lease(LeaseId),
    /// What an account has for nothing.
    Free(AccountId),
}

/// What a node carries for a buyer from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it draws on.
    pub purse: Purse,
    /// The lease whose members it is for.
    pub carries: LeaseId,
    /// The slot, or the day, in which [`Grant::bytes`] may be carried; nothing is used of them
    /// when the next one begins.
    pub period: u64,
    /// Bytes for all that draws on the purse.
    pub bytes: u64,
    /// All pairs.
    pub pairs: Vec<Tickets>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(pairs: &[(u8, u8)]) -> Wish {
        let tickets = |(low, high): &(u8, u8)| {
            let mut bytes = [*low; 32];
            bytes[16..].fill(*high);
            Tickets(bytes)
        };
        Wish {
            relay: SecretKey::from_seed(&[1; 32]).public(),
            carries: LeaseId([1; 32]),
            paid_by: None,
            pairs: pairs.iter().map(tickets).collect(),
            key: SecretKey::from_seed(&[2; 32]).public(),
        }
    }

    #[test]
    fn a_wish_has_each_ticket_once_and_in_order() {
        assert!(wish(&[]).is_valid());
        assert!(wish(&[(1, 2), (3, 4)]).is_valid());
        for bad in [&[(1, 1)][..], &[(1, 2), (2, 3)], &[(3, 4), (1, 2)]] {
            assert!(!wish(bad).is_valid(), "{bad:?}");
        }
    }

    #[test]
    fn words_are_bound_to_speaker_and_network() {
        let key = SecretKey::from_seed(&[7; 32]);
        let network = NetworkId([1; 32]);
        let signed = Signed::new(&network, wish(&[(1, 2)]), &key);
        assert!(signed.verify(&network, &key.public()).is_ok());
        assert!(signed.verify(&NetworkId([2; 32]), &key.public()).is_err());
        let other = SecretKey::from_seed(&[8; 32]).public();
        assert!(signed.verify(&network, &other).is_err());
    }
}
