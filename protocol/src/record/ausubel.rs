//! Clearings: the public record of bids, offers, winners and payments.
//!
//! A record holds the whole input of the mechanism, so anybody can recompute it; the block's
//! effects root binds it.

use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, ClearingId, Hash32, OfferId, OrderId};
use crate::lease::Share;
use crate::mechanism::ausubel::sellers;
use crate::mechanism::ausubel::{Bidder, sponsor};
use crate::order::{Step, unit_prices};
use crate::policy::ausubel::AuctionPolicy;
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// The scope of a clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearingKind {
    /// Every unit that is not firm, for the next slot.
    Boundary,
    /// Free units between boundaries, for what is left of the slot.
    Free,
}

/// An offer as it entered a clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearingOffer {
    /// The offer.
    pub offer: OfferId,
    /// Units for sale in this clearing.
    pub units: u32,
    /// Reserve per unit for the time sold (a prorated reserve is rounded up).
    pub reserve: Price,
}

/// A bid as it entered a clearing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearingBid {
    /// The order.
    pub order: OrderId,
    /// Sponsor of the account that ordered: winners of one sponsor pay at least for their joint
    /// removal.
    pub sponsor: AccountId,
    /// Round of its commitment: the first tie-break.
    pub round: u64,
    /// Rank drawn from the beacon at its first clearing: the second tie-break.
    pub rank: Hash32,
    /// Fewest units of use.
    pub min: u32,
    /// Marginal values for the time sold (prorated values are rounded down).
    pub steps: Vec<Step>,
}

/// The units that a bid won, and its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Award {
    /// The order.
    pub order: OrderId,
    /// Units.
    pub units: u32,
    /// Payment for the time sold.
    pub pay: Credits,
}

/// The units that an offer sold, and their earnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sold {
    /// The offer.
    pub offer: OfferId,
    /// Units.
    pub units: u32,
    /// Their earnings for the time sold, if delivered.
    pub earns: Credits,
}

/// One clearing: input and outcome. Lists are sorted by id; losers are not among the awards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearingRecord {
    /// Its id.
    pub id: ClearingId,
    /// The class.
    pub class: ClassId,
    /// Its scope.
    pub kind: ClearingKind,
    /// Height of the block that holds it.
    pub height: u64,
    /// Slot whose time was sold.
    pub slot: u64,
    /// Heights sold of that slot.
    pub heights: u64,
    /// The federation's policy, as it counts for a clearing of this kind.
    pub policy: AuctionPolicy,
    /// Offers.
    pub offers: Vec<ClearingOffer>,
    /// Units of these that running bids held when they competed; only at a boundary.
    pub held: Vec<Share>,
    /// Bids.
    pub bids: Vec<ClearingBid>,
    /// Winners.
    pub awards: Vec<Award>,
    /// Units sold by offer.
    pub sold: Vec<Sold>,
}

/// Id of a bid in the auction: its rank, then its order, which break ties of bids of one round.
pub type BidId = (Hash32, OrderId);

impl ClearingRecord {
    /// The auction's input. The units offered must be within a clearing's limit.
    pub fn input(&self) -> sellers::Input<OfferId, BidId> {
        let supply = self.offers.iter().map(|o| o.units).sum();
        let held = |offer: &OfferId| {
            let at = self.held.binary_search_by_key(offer, |share| share.offer);
            at.map_or(0, |at| self.held[at].units)
        };
        let offers = self.offers.iter().map(|o| sellers::Offer {
            id: o.offer,
            units: o.units,
            held: held(&o.offer),
            reserve: o.reserve.0,
        });
        sellers::Input {
            rule: self.policy.rule,
            switch_cost: self.policy.switch_cost.0,
            offers: offers.collect(),
            bids: bidders(&self.bids, supply),
        }
    }
}

/// The bids as the auction takes them, with prices for at most `supply` units each; ties go by
/// round, rank and order.
fn bidders(bids: &[ClearingBid], supply: u32) -> Vec<Bidder<BidId>> {
    let sponsors: Vec<AccountId> = bids.iter().map(|bid| bid.sponsor).collect();
    let numbered = bids.iter().zip(sponsor::numbers(&sponsors));
    let bidder = |(bid, sponsor): (&ClearingBid, u32)| Bidder {
        id: (bid.rank, bid.order),
        time: bid.round,
        min: bid.min,
        prices: unit_prices(&bid.steps, supply),
        sponsor: Some(sponsor),
    };
    numbered.map(bidder).collect()
}

/// Id of the clearing of `class` at `height`.
pub fn clearing_id(class: &ClassId, height: u64) -> ClearingId {
    ClearingId(hash(
        Domain::Clearing,
        &[class.as_bytes(), &height.to_be_bytes()],
    ))
}
