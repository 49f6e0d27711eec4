//! Ways of selling units, a folder each, by the names that they have everywhere.
//!
//! They differ in two places. A record answers for itself (`record::Live`); a mechanism acts at its
//! turns, by the hooks of [`hooks::Sells`]. [`ROOMS`] lists all mechanisms in the order of their
//! turns, which is a rule of consensus: it is the order of their effects.
//!
//! `sealed` is no mechanism: bids of the auction and reservations come out of the same seals.
//! Contracts sell nothing themselves, but arrange the use of units bought elsewhere: they have no
//! hooks.

pub(crate) mod ausubel;
pub(crate) mod buy;
pub(crate) mod contract;
pub(crate) mod deadline;
mod hooks;
pub(crate) mod posted;
pub(crate) mod reservation;
pub(crate) mod sealed;
pub(crate) mod share;

pub use deadline::{InForce, JobInForce, Quote};
pub use reservation::FreeAhead;

use crate::record::{Live, Order, Way};
use crate::view::{Floor, Money};
use ausubel::Ausubel;
use buy::Buys;
use deadline::Deadlines;
use gridbay_protocol::ids::{LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use hooks::Hooks;
use posted::PostedPrices;
use reservation::Reservations;
use share::Shares;

static DEADLINE: Hooks = Hooks::of::<Deadlines>();
static RESERVATION: Hooks = Hooks::of::<Reservations>();
static SHARE: Hooks = Hooks::of::<Shares>();
static AUSUBEL: Hooks = Hooks::of::<Ausubel>();
static BUY: Hooks = Hooks::of::<Buys>();
static POSTED: Hooks = Hooks::of::<PostedPrices>();

/// All mechanisms, in the order of their turns.
pub(crate) static ROOMS: [&Hooks; 6] = [&DEADLINE, &RESERVATION, &SHARE, &AUSUBEL, &BUY, &POSTED];

/// The mechanism of an order; `None` while it is sealed.
fn room(order: &Order) -> Option<&'static Hooks> {
    Some(match order.stage.live().map(Live::way)? {
        Way::Bid => &AUSUBEL,
        Way::Buy => &BUY,
        Way::Deadline => &DEADLINE,
        Way::Reservation => &RESERVATION,
        Way::Share => &SHARE,
        Way::Posted => &POSTED,
    })
}

/// The sellers of some offers fail a lease, or its buyer says so; the lease's mechanism decides the
/// consequences.
pub(crate) fn lost(at: &mut Floor<'_, '_>, id: &LeaseId, offers: &[OfferId], why: LeaseEnd) {
    let lease = at.tables.leases.get(id).expect("the lease runs");
    let order = at.tables.orders.get(&lease.order);
    if let Some(room) = order.and_then(room) {
        (room.lost)(at, id, offers, why);
    }
}

/// An order without a lease is cancelled.
pub(crate) fn given_up(at: &mut Money<'_, '_>, id: &OrderId) {
    if let Some(room) = at.tables.orders.get(id).and_then(room) {
        (room.given_up)(at, id);
    }
}
