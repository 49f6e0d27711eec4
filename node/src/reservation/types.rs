//! Reservations as JSON.

use crate::api::types::{JobId, amount};
use gridbay_protocol::ids::{AccountId, OfferId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A class that sells ahead of time: what is free, and what is booked. `GET /reservations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReservationWindow {
    /// Name of the class.
    pub class: String,
    /// The first slot for sale.
    pub slot: u64,
    /// Slots for sale from there on.
    pub slots: u32,
    /// Slots of these in which a reservation may start.
    pub starts: u32,
    /// Nominal length of a slot.
    pub slot_ms: u64,
    /// Posted price per node-hour, the least that a reservation may bid.
    #[serde(with = "amount")]
    pub posted: Credits,
    /// Reservations that wait for a decision.
    pub waiting: u64,
    /// Offers that sell ahead of time.
    pub offers: Vec<OfferAhead>,
    /// Bookings that have not begun.
    pub bookings: Vec<BookingAhead>,
}

/// An offer that sells ahead of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferAhead {
    /// Its id.
    pub offer: OfferId,
    /// Seller's number of it.
    pub label: u32,
    /// Seller.
    pub account: AccountId,
    /// Name of the seller, if a member.
    pub name: Option<String>,
    /// Whether this node is the seller.
    pub own: bool,
    /// Units for sale ahead of time.
    pub units: u32,
    /// Units that are free, slot by slot from the first for sale on.
    pub free: Vec<u32>,
}

/// A booking that has not begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BookingAhead {
    /// Its order.
    pub order: OrderId,
    /// The job, if it is this node's.
    pub job: Option<JobId>,
    /// That job's name.
    pub name: Option<String>,
    /// Units.
    pub units: u32,
    /// First slot.
    pub first_slot: u64,
    /// Last slot.
    pub last_slot: u64,
    /// Price of all its units for a slot; the first one may cost a little more.
    #[serde(with = "amount")]
    pub price: Credits,
}
