//! Seals: a commitment in one round, its opening in the next.

use super::ausubel::{Amendment, Bid};
use super::flaw::Flaw;
use super::reservation::Reservation;
use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, EntryId, Hash32, NetworkId};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// A sealed wish: binds the account to open it in the next round or lose the deposit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The class, needed for deposit and quota.
    pub class: ClassId,
    /// The seal.
    pub seal: Hash32,
    /// Size bracket: the wish is for at most `2^bracket` units, 0 to
    /// [`BRACKET`](crate::limits::BRACKET).
    pub bracket: u8,
}

/// The contents of a seal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// A bid in the auction of a class.
    Bid(Bid),
    /// A reservation ahead.
    Reservation(Reservation),
    /// Another price for a bid that stands.
    Amendment(Amendment),
}

/// Opens a commitment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The entry that committed.
    pub commit: EntryId,
    /// The contents that were sealed.
    pub wish: Wish,
    /// The salt of the seal.
    #[serde(with = "crate::ids::byte_array")]
    pub salt: [u8; 32],
}

impl Wish {
    /// The class.
    pub fn class(&self) -> ClassId {
        match self {
            Wish::Bid(bid) => bid.class,
            Wish::Reservation(reservation) => reservation.class,
            Wish::Amendment(amendment) => amendment.bid.class,
        }
    }
    /// Units wanted at once: what the bracket bounds.
    pub fn units(&self) -> u32 {
        match self {
            Wish::Bid(bid) => bid.units(),
            Wish::Reservation(reservation) => reservation.units(),
            Wish::Amendment(amendment) => amendment.bid.units(),
        }
    }
    /// The escrow once it is open: one slot at the bid, or all that a reservation can cost; of an
    /// amendment, the escrow of the order.
    pub fn lock(&self) -> Credits {
        match self {
            Wish::Bid(bid) | Wish::Amendment(Amendment { bid, .. }) => bid.slot(),
            Wish::Reservation(reservation) => reservation.value,
        }
    }
    /// Checks that all values are in range.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        match self {
            Wish::Bid(bid) => bid.check(),
            Wish::Reservation(reservation) => reservation.check(),
            Wish::Amendment(amendment) => amendment.check(),
        }
    }
    /// The commitment that seals this wish.
    pub fn seal(&self, network: &NetworkId, account: &AccountId, salt: &[u8; 32]) -> Hash32 {
        let bytes = codec::encode(self);
        let parts: [&[u8]; 4] = [network.as_bytes(), account.as_bytes(), salt, &bytes];
        Hash32(hash(Domain::Commitment, &parts))
    }
}

impl From<Bid> for Wish {
    fn from(bid: Bid) -> Wish {
        Wish::Bid(bid)
    }
}

impl From<Reservation> for Wish {
    fn from(reservation: Reservation) -> Wish {
        Wish::Reservation(reservation)
    }
}

impl From<Amendment> for Wish {
    fn from(amendment: Amendment) -> Wish {
        Wish::Amendment(amendment)
    }
}
