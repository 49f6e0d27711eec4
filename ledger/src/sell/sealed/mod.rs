//! Sealed orders, committed in one round and opened in the next: bids of the auction, their
//! amendments, and reservations.

pub(crate) mod appeal;
pub(crate) mod commit;
pub(crate) mod open;
pub(crate) mod unopened;
