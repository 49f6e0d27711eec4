//! The bank's records: payments and supply by epoch, prices by class, savings by account, and the
//! running tax.

use super::Way;
use crate::bank::index::{Index, Sales};
use crate::bank::supply::Supply;
use gridbay_protocol::ids::AccountId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An epoch's money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Epoch {
    /// Micro-credits of payments in it, at most 2^64 - 1.
    pub volume: u64,
    /// The supply at its end; `None` while it runs.
    pub supply: Option<Supply>,
}

/// A class's prices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The index, as of the end of the last epoch.
    pub index: Index<Way>,
    /// Sales settled in the running epoch; units are counted by the height.
    pub period: BTreeMap<Way, Sales>,
}

/// An account's savings beyond its purse; an account whose values are all zero has no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Savings {
    /// Micro-credits in the escrows of its orders, and staked on others' orders.
    pub frozen: u64,
    /// Micro-credits of tax that were due and could not be taken.
    pub arrears: u64,
    /// Taxed by the tax that runs, before its turn came.
    pub levied: bool,
}

/// A tax that runs, by the height at which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The last account that had its turn.
    pub through: Option<AccountId>,
}
