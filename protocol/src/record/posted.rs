//! Sales at posted prices: the public record of a class in a block, namely the hires that came, the
//! free units that they could reach, and the hires served.
//!
//! Anybody can recompute the outcome with [`PostedRecord::serve`]; the block's effects root binds
//! the record. It lists no offer that decides nothing: what hires lock bounds its length, so that
//! one for nothing does not make every node keep all prices.

use super::ausubel::ClearingOffer;
use crate::hash::{Domain, hash};
use crate::ids::{ClassId, ClearingId, OfferId, OrderId};
use crate::limits;
use crate::mechanism::posted::{self, Input, Missing, Offer, Order};
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A hire as it was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostedBid {
    /// The order.
    pub order: OrderId,
    /// Units.
    pub units: u32,
    /// The most that each may cost per slot.
    pub limit: Price,
}

/// The units that a hire got, and their price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hired {
    /// The order.
    pub order: OrderId,
    /// Units taken by offer, ascending, with the price of each.
    pub taken: Vec<ClearingOffer>,
    /// Price of all of them per slot.
    pub price: Credits,
}

/// The hires of a class in one block: input and outcome. Hires that got nothing are not among the
/// served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostedRecord {
    /// The class.
    pub class: ClassId,
    /// Height of the block that holds it.
    pub height: u64,
    /// Free units that hires could reach, by (price posted, offer), ascending, see
    /// [`Input::shorten`].
    pub offers: Vec<ClearingOffer>,
    /// Free units beyond those.
    pub left_out: u32,
    /// Who came, in the order in which they came.
    pub bids: Vec<PostedBid>,
    /// The hires served, in the same order.
    pub served: Vec<Hired>,
}

/// The fate of the bids of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The bids served, in the order in which they came.
    pub served: Vec<Hired>,
    /// The bids not served, in the same order.
    pub refused: Vec<(OrderId, Missing)>,
}

impl PostedRecord {
    /// Decides on the bids, in their order, among the free units of a class; also returns the bids
    /// not served.
    pub fn decide(
        class: ClassId,
        height: u64,
        offers: Vec<ClearingOffer>,
        bids: Vec<PostedBid>,
    ) -> (PostedRecord, Vec<(OrderId, Missing)>) {
        let mut record = PostedRecord {
            class,
            height,
            offers,
            left_out: 0,
            bids,
            served: Vec::new(),
        };
        record.shorten();
        let Served { served, refused } = record.serve();
        record.served = served;
        (record, refused)
    }
    /// Leaves out the offers that no bid can reach.
    pub fn shorten(&mut self) {
        let mut input = self.input();
        input.shorten();
        let offers = input.offers.into_iter().map(|offer| ClearingOffer {
            offer: offer.id,
            units: offer.units,
            reserve: Price(offer.price),
        });
        self.offers = offers.collect();
        self.left_out = input.left_out;
    }
    /// Its id.
    pub fn id(&self) -> ClearingId {
        let height = self.height.to_be_bytes();
        let parts: [&[u8]; 3] = [b"posted", self.class.as_bytes(), &height];
        ClearingId(hash(Domain::Clearing, &parts))
    }
    /// The input of the mechanism.
    pub fn input(&self) -> Input<OfferId, OrderId> {
        let offers = self.offers.iter().map(|offer| Offer {
            id: offer.offer,
            units: offer.units,
            price: offer.reserve.0,
        });
        let bids = self.bids.iter().zip(0..).map(|(bid, time)| Order {
            id: bid.order,
            time,
            units: bid.units,
            limit: bid.limit.0,
        });
        Input {
            offers: offers.collect(),
            left_out: self.left_out,
            orders: bids.collect(),
        }
    }
    /// Computes what belongs to this input. Nothing if the input is none the ledger makes.
    pub fn serve(&self) -> Served {
        let Ok(outcome) = posted::clear(&self.input()) else {
            return Served::default();
        };
        let prices = self.offers.iter().map(|offer| (offer.offer, offer.reserve));
        let prices: BTreeMap<OfferId, Price> = prices.collect();
        let taken = |(offer, units): (OfferId, u32)| ClearingOffer {
            offer,
            units,
            reserve: prices.get(&offer).copied().unwrap_or_default(),
        };
        let awards = outcome.awards.into_iter();
        let served = awards.map(|award| Hired {
            order: award.id,
            taken: award.taken.into_iter().map(taken).collect(),
            // Within the units of an order at the highest price, so it is an amount.
            price: Credits::from_wide(award.pay).unwrap_or(Credits::MAX),
        });
        Served {
            served: served.collect(),
            refused: outcome.refused,
        }
    }
}

const _: () = assert!(limits::BLOCK_ENTRIES <= posted::ORDERS_MAX);
const _: () = assert!(limits::CLASS_UNITS as usize <= posted::OFFERS_MAX);
const _: () = assert!(limits::ORDER_UNITS <= posted::UNITS_MAX);
const _: () = assert!(limits::OFFER_UNITS <= posted::UNITS_MAX);
