//! Earnings that are held, and complaints.

use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// The earnings of a lease's slot at an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retained {
    /// The order of the lease.
    pub order: OrderId,
    /// The buyer, which may complain.
    pub buyer: AccountId,
    /// The account that is paid if nobody complains.
    pub seller: AccountId,
    /// How much, above zero.
    pub amount: Credits,
    /// How much of it the buyer gets back if it complains: no more than it paid.
    pub back: Credits,
}

/// Complaints of an account, and of those that it answers for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complaints {
    /// The epoch.
    pub epoch: u64,
    /// How many of its own in it.
    pub own: u32,
    /// How many of all accounts of which it is the sponsor, itself among them.
    pub house: u32,
}
