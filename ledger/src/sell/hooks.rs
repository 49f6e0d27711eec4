//! The hooks of a mechanism: its turns, and its answers to lost units and cancelled orders.

use crate::tenancy;
use crate::view::{Floor, Money};
use crate::work::Work;
use gridbay_protocol::ids::{LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;

/// A mechanism's turns, and its answers to some events.
pub(crate) trait Sells {
    /// After the entries of a block that closes no round, which made these orders for units at
    /// once.
    fn at_block(_: &mut Work<'_>, _fresh: &[OrderId]) {}
    /// At the close of a slot, once the last one is settled.
    fn at_slot(_: &mut Work<'_>) {}
    /// At the close of a round, after the turns at the close of its slot.
    fn at_round(_: &mut Work<'_>) {}
    /// The sellers of some offers fail a lease, or its buyer says so.
    fn lost(at: &mut Floor<'_, '_>, lease: &LeaseId, _: &[OfferId], why: LeaseEnd) {
        tenancy::interrupt(at, lease, why);
    }
    /// An order without a lease is cancelled.
    fn given_up(_: &mut Money<'_, '_>, _: &OrderId) {}
}

/// A mechanism's hooks.
pub(crate) struct Hooks {
    pub(crate) at_block: fn(&mut Work<'_>, &[OrderId]),
    pub(crate) at_slot: fn(&mut Work<'_>),
    pub(crate) at_round: fn(&mut Work<'_>),
    pub(super) lost: fn(&mut Floor<'_, '_>, &LeaseId, &[OfferId], LeaseEnd),
    pub(super) given_up: fn(&mut Money<'_, '_>, &OrderId),
}

impl Hooks {
    pub(super) const fn of<M: Sells>() -> Hooks {
        Hooks {
            at_block: M::at_block,
            at_slot: M::at_slot,
            at_round: M::at_round,
            lost: M::lost,
            given_up: M::given_up,
        }
    }
}
