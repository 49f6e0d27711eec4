//! The bank's publications.

use crate::api::types::amount;
use gridbay_protocol::bank::Redistribution;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /ledger/bank`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BankReport {
    /// Height at which this holds.
    pub height: u64,
    /// The bank's policy.
    pub policy: BankRules,
    /// How much money there is.
    pub supply: MoneySupply,
    /// Payments over the mean supply of the epochs listed that have ended, in millionths; `null`
    /// before the first end.
    pub velocity_ppm: Option<u64>,
    /// Whether a tax is being taken.
    pub taxing: bool,
    /// The last epochs, ascending.
    pub epochs: Vec<EpochMoney>,
    /// Prices by class, in the order of classes.
    pub classes: Vec<ClassIndex>,
}

/// The bank's policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BankRules {
    /// Heights from one sharing of the revenue to the next; `null` if it goes to the owners of the
    /// units.
    pub shared_every: Option<u64>,
    /// Baseline per weight; zero for none.
    #[serde(with = "amount")]
    pub baseline: Credits,
    /// Shares per weight.
    pub shares: u64,
    /// Tax on savings above the baseline, in millionths; `null` for none.
    pub tax_ppm: Option<u32>,
    /// Heights from one tax to the next.
    pub tax_every: Option<u64>,
    /// The recipients of the tax.
    pub tax_goes_to: Option<Redistribution>,
}

/// How much money there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MoneySupply {
    /// Ever minted.
    #[serde(with = "amount")]
    pub minted: Credits,
    /// Money that can change hands.
    #[serde(with = "amount")]
    pub circulating: Credits,
    /// Credit drawn.
    #[serde(with = "amount")]
    pub drawn: Credits,
    /// In the treasury.
    #[serde(rename = "pool", with = "amount")]
    pub treasury: Credits,
}

/// An epoch's money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EpochMoney {
    /// Number of the epoch.
    pub epoch: u64,
    /// Payments in it.
    #[serde(with = "amount")]
    pub payments: Credits,
    /// The supply at its end; `null` while it runs.
    pub supply: Option<MoneySupply>,
}

/// The price index of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClassIndex {
    /// Its name.
    pub class: String,
    /// Prices at the end of the last epoch against those of the first that sold anything, in
    /// millionths; `null` before.
    pub index_ppm: Option<u64>,
}
