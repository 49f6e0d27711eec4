//! Bids in the auction as the ledger keeps them once they are opened.

use gridbay_protocol::ids::Hash32;
use gridbay_protocol::order::Bid;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// An opened bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BidOrder {
    /// The bid.
    pub bid: Bid,
    /// Drawn from the beacon at the first clearing.
    pub rank: Option<Hash32>,
    /// Paid so far, less refunds.
    pub paid: Credits,
    /// Full slots used.
    pub slots_used: u32,
    /// What takes the bid's place before the next clearing that the order takes part in.
    pub next: Option<NextBid>,
}

/// What an amendment says, until it takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextBid {
    /// Round of the amendment's commitment.
    pub round: u64,
    /// The bid.
    pub bid: Bid,
}

impl BidOrder {
    /// One slot at the bid: what its escrow must hold before it competes.
    pub fn slot_at_bid(&self) -> Credits {
        self.bid.slot()
    }
    /// What may still be paid.
    pub fn budget_left(&self) -> Credits {
        self.bid.budget.saturating_sub(self.paid)
    }
}
