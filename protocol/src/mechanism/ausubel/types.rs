//! The types of a market of sealed bids, and of a clearing's outcome.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

named! {
    /// The rule that allocates and prices.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Rule as name {
        /// Welfare optimum with VCG payments. Truthful; for registered identities.
        #[default]
        Exact = "exact",
        /// Welfare optimum, payments raised to the clinching price; for cheap identities.
        Floor = "floor",
        /// The paper's greedy prefix and ascending clock.
        Paper = "paper",
    }
}

/// One sealed bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bidder<K> {
    /// Unique among the bidders of a clearing.
    pub id: K,
    /// First tie-break, smaller wins: a replicated number, never the bidder's clock.
    pub time: u64,
    /// Takes nothing below this many units; 0 and 1 mean divisible.
    pub min: u32,
    /// Price in micro-credits of the first, second... unit; never rising.
    pub prices: Vec<u64>,
    /// The sponsor that answers for the bidder, as a number that the sponsor's other bidders share;
    /// see [`sponsor`](super::sponsor). `None`: nobody does.
    pub sponsor: Option<u32>,
}

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<K> {
    /// How to allocate and price.
    pub rule: Rule,
    /// Units for sale. With all-or-none bids memory grows as their number times the smaller of
    /// supply and demand: cap both where bids enter.
    pub supply: u32,
    /// Least price of a unit, micro-credits.
    pub reserve: u64,
    /// The bids, in any order.
    pub bidders: Vec<Bidder<K>>,
}

/// The units and the payment of one winner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Award<K> {
    /// The bidder.
    pub id: K,
    /// Units won, at least 1.
    pub units: u32,
    /// Price of all these units together, micro-credits.
    pub pay: u128,
}

/// The result of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<K> {
    /// Winners only, by (time, id).
    pub awards: Vec<Award<K>>,
    /// Sum of the stated prices of the units won; the reserve is not deducted.
    pub welfare: u128,
    /// Sum of the payments.
    pub revenue: u128,
    /// Unit price of the first losing block; only [`Rule::Paper`] has one.
    pub price: Option<u64>,
}

/// Why a clearing is refused. Duplicates are looked for first; the smallest guilty id is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<K: Debug> {
    /// Two bidders have one id.
    #[error("two bidders have the id {0:?}")]
    DuplicateId(K),
    /// A bidder's prices rise.
    #[error("the prices of bidder {0:?} rise")]
    NotMonotone(K),
}

/// The result for one lot of [`Prepared`](super::prepare::Prepared) under a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) units: u32,
    pub(crate) pay: u128,
}
