//! Orders, one file per kind: sealed bids and reservations (committed in one round, opened in the
//! next), buy-it-now, work by a deadline, contracts, claims on pools, hires at posted prices.

mod ausubel;
mod buy;
mod contract;
mod deadline;
mod flaw;
mod posted;
mod reservation;
mod sealed;
mod share;

pub use ausubel::{Amendment, Bid, Step, unit_prices};
pub use buy::{Buy, BuyPart};
pub use contract::{ContractEntry, ContractFault, ContractTerms, JobTerms};
pub use deadline::Deadline;
pub use flaw::Flaw;
pub use posted::Hire;
pub use reservation::{Group, Reservation};
pub use sealed::{Commit, Open, Wish};
pub use share::Claim;

use crate::ids::{EntryId, OrderId};

/// Id of the order that an entry (a commitment or a buy) made.
pub fn order_of(entry: &EntryId) -> OrderId {
    OrderId(entry.0)
}
/// Id of the entry that made an order.
pub fn entry_of(order: &OrderId) -> EntryId {
    EntryId(order.0)
}
