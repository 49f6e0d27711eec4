//! Reservations as the ledger keeps them once they are opened.

use super::live::{Live, Opening};
use super::{Sale, Way};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::lease::Share;
use gridbay_protocol::order::Reservation;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// An opened reservation: it stands, is booked, or runs if its order has a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservationOrder {
    /// The terms asked for.
    pub wish: Reservation,
    /// Drawn from the beacon at the first decision.
    pub rank: Option<Hash32>,
    /// Its booking, once it has won.
    pub booking: Option<Booking>,
}

/// Units for a run of slots that is still to come, or has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Booking {
    /// First slot.
    pub start: u64,
    /// Last slot.
    pub last: u64,
    /// Units that serve it, each with the posted price of a node-slot; ascending by offer.
    pub taken: Vec<ClearingOffer>,
    /// Its channel.
    pub channel: Option<u32>,
    /// Price of a slot.
    pub price: Credits,
    /// Surcharge of the first slot.
    pub first: Credits,
}

impl Booking {
    /// Units by offer, ascending.
    pub fn shares(&self) -> Vec<Share> {
        let taken = self.taken.iter();
        taken
            .map(|t| Share {
                offer: t.offer,
                units: t.units,
            })
            .collect()
    }
    /// Units of all offers.
    pub fn units(&self) -> u32 {
        self.taken.iter().map(|t| t.units).sum()
    }
    /// The price of the first slot.
    pub fn first_slot(&self) -> Credits {
        let sum = self.price.checked_add(self.first);
        sum.expect("the parts of a value are an amount")
    }
}

impl ReservationOrder {
    /// An opened reservation that stands.
    pub(crate) fn new(wish: Reservation) -> ReservationOrder {
        ReservationOrder {
            wish,
            rank: None,
            booking: None,
        }
    }
    /// Whether it can begin in a later slot than this one.
    pub(crate) fn may_begin_after(&self, slot: u64) -> bool {
        self.booking.is_some() || self.wish.latest > slot
    }
}

impl Live for ReservationOrder {
    fn way(&self) -> Way {
        Way::Reservation
    }
    fn work(&self) -> Hash32 {
        self.wish.work
    }
    fn tasks(&self) -> u32 {
        self.wish.units()
    }
    fn agreed(&self) -> Option<Vec<Sale>> {
        let booking = self.booking.as_ref()?;
        let (price, taken) = (booking.price, booking.taken.clone());
        Some(vec![Sale { price, taken }])
    }
    fn is_undecided(&self, opening: &Opening) -> bool {
        self.booking.is_none() && opening.this_slot
    }
    fn timed_out(&self, _height: u64, slot: u64) -> bool {
        !self.may_begin_after(slot)
    }
}
