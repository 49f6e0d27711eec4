//! Bids in the auction as the ledger keeps them once they are opened.

use super::Way;
use super::live::{Crowd, Live, Opening, Ran};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::lease::LeaseEnd;
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
    /// The bid that replaces this one before the next clearing that the order takes part in.
    pub next: Option<NextBid>,
}

/// The bid of an amendment that has not taken effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextBid {
    /// Round of the amendment's commitment.
    pub round: u64,
    /// The bid.
    pub bid: Bid,
}

impl BidOrder {
    /// One slot at the bid: its escrow must hold as much before it competes.
    pub fn slot_at_bid(&self) -> Credits {
        self.bid.slot()
    }
    /// The rest of the budget.
    pub fn budget_left(&self) -> Credits {
        self.bid.budget.saturating_sub(self.paid)
    }
}

impl Live for BidOrder {
    fn way(&self) -> Way {
        Way::Bid
    }
    fn work(&self) -> Hash32 {
        self.bid.work
    }
    fn tasks(&self) -> u32 {
        self.bid.units()
    }
    fn crowd(&self) -> Crowd {
        Crowd {
            all_or_none: self.bid.lumpiness(),
            ..Crowd::default()
        }
    }
    fn next_slot(&self) -> Option<(Credits, Credits)> {
        Some((self.slot_at_bid(), self.budget_left()))
    }
    fn paid_mut(&mut self) -> Option<&mut Credits> {
        Some(&mut self.paid)
    }
    fn is_undecided(&self, opening: &Opening) -> bool {
        self.next.is_some() || (!opening.runs && opening.this_round)
    }
    fn timed_out(&self, height: u64, _slot: u64) -> bool {
        self.bid.stands_until < height
    }
    fn count(&mut self, slot: &Ran) -> Option<bool> {
        self.slots_used += u32::from(slot.counts);
        Some(slot.firm_over || self.slots_used >= self.bid.slots)
    }
    fn stands_again(&self, after: LeaseEnd, exiting: bool) -> bool {
        !exiting && after.order_stands()
    }
}
