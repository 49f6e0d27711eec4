//! Orders, one file per kind: sealed bids (committed in one round, opened in the next), buy-it-now, claims on pools.

mod bid;
mod buy;
mod sealed;
mod share;

pub use bid::{Bid, Step};
pub use buy::Buy;
pub use sealed::{Commit, Open};
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
