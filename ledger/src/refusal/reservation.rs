//! Why something cannot be reserved, or not be sold under reservation.

use gridbay_protocol::ids::OfferId;
use gridbay_protocol::units::Credits;

/// Why something cannot be reserved, or not be sold under reservation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbookable {
    /// Its last start has passed.
    #[error("last start in slot {latest}, the next slot is {next}")]
    Past {
        /// Last slot it may start in.
        latest: u64,
        /// Next slot.
        next: u64,
    },
    /// Its last start is not for sale yet.
    #[error("last start in slot {latest}, starts are sold up to slot {limit}")]
    Beyond {
        /// Last slot it may start in.
        latest: u64,
        /// Last start for sale.
        limit: u64,
    },
    /// Longer than what is sold ahead.
    #[error("{slots} slots, {limit} are sold ahead")]
    TooLong {
        /// Its length.
        slots: u32,
        /// Slots for sale.
        limit: u32,
    },
    /// Worth less than the posted price of its node-slots.
    #[error("worth {value}, the posted price of its node-slots is {least}")]
    BelowPosted {
        /// Its value.
        value: Credits,
        /// The least.
        least: Credits,
    },
    /// It names an offer that is not there, or of another class.
    #[error("offer {0} is not one of this class")]
    UnknownOffer(OfferId),
    /// It names an offer that sells under another mechanism.
    #[error("offer {0} does not sell under reservation")]
    OtherMechanism(OfferId),
    /// A seller asks more than buyers are asked.
    #[error("reserve {reserve} per unit-slot, above the posted price {posted}")]
    ReserveAbovePosted {
        /// The seller's reserve.
        reserve: u64,
        /// The posted price of the class.
        posted: u64,
    },
}

impl Unbookable {
    /// See [`crate::Refusal::may_pass_later`].
    pub(crate) fn may_pass_later(&self) -> bool {
        match self {
            Unbookable::Beyond { .. }
            | Unbookable::UnknownOffer(_)
            | Unbookable::OtherMechanism(_) => true,
            Unbookable::Past { .. }
            | Unbookable::TooLong { .. }
            | Unbookable::BelowPosted { .. }
            | Unbookable::ReserveAbovePosted { .. } => false,
        }
    }
    /// Advice to the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Unbookable::Past { .. } => "choose a later last start",
            Unbookable::Beyond { .. } => "choose an earlier last start, or ask again later",
            Unbookable::TooLong { .. } => "reserve fewer slots",
            Unbookable::BelowPosted { .. } => "bid at least the posted price",
            Unbookable::UnknownOffer(_) => "list the offers of the class",
            Unbookable::OtherMechanism(_) => "name offers that sell under reservation, or none",
            Unbookable::ReserveAbovePosted { .. } => "lower the reserve to the posted price",
        }
    }
}
