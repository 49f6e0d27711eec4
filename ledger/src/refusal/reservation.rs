//! Why something cannot be reserved, or not be sold under reservation.

use gridbay_protocol::ids::OfferId;
use gridbay_protocol::units::Credits;

refusals! {
    /// Why something cannot be reserved, or not be sold under reservation.
    [Clone] Unbookable, RESERVATION_WORDS;

    /// The last start of a reservation has passed.
    Past { latest: u64, next: u64 } = "start_past", never:
        "last start in slot {latest}, the next slot is {next}",
        "choose a later last start";
    /// The last start of a reservation is not for sale yet.
    Beyond { latest: u64, limit: u64 } = "start_beyond", later:
        "last start in slot {latest}, starts are sold up to slot {limit}",
        "choose an earlier last start, or ask again later";
    /// A reservation longer than what is sold ahead.
    TooLong { slots: u32, limit: u32 } = "too_long", never:
        "{slots} slots, {limit} are sold ahead",
        "reserve fewer slots";
    /// A reservation is worth less than the posted price of its node-slots.
    BelowPosted { value: Credits, least: Credits } = "below_posted", never:
        "worth {value}, the posted price of its node-slots is {least}",
        "bid at least the posted price";
    /// A reservation names an offer that is not there, or of another class.
    UnknownOffer(OfferId) = "unknown_offer", later:
        "offer {0} is not one of this class",
        "list the offers of the class";
    /// A reservation names an offer that sells under another mechanism.
    OtherMechanism(OfferId) = "other_mechanism", later:
        "offer {0} does not sell under reservation",
        "name offers that sell under reservation, or none";
    /// An offer under reservation asks more than the posted price.
    ReserveAbovePosted { reserve: u64, posted: u64 } = "reserve_above_posted", never:
        "reserve {reserve} per unit-slot, above the posted price {posted}",
        "lower the reserve to the posted price";
}
