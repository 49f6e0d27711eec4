//! Effects: everything a block does, in order. Their root is in the header, so a single effect
//! (a payment, a clearing, a refusal) can be proved to a stranger.

use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, OrderId};
use crate::lease::LeaseEvent;
use crate::payment::{Posting, Purse};
use crate::record::ausubel::ClearingRecord;
use crate::record::buy::BuyRecord;
use crate::record::contract::ContractEvent;
use crate::record::deadline::Planning;
use crate::record::posted::PostedRecord;
use crate::record::reservation::ReservationRecord;
use crate::record::share::Sharing;
use serde::{Deserialize, Serialize};

/// Why an order ended, or was refused, without (further) units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderEnd {
    /// Never opened in its round, and no appeal in time; the deposit is forfeit.
    NotOpened,
    /// Opened, but the lock for one slot could not be funded: counts as not opened.
    Unfunded,
    /// The buyer cancelled it.
    Cancelled,
    /// It stood until its last height without running.
    TimedOut,
    /// Its lease ended and the order with it.
    Served,
    /// A buy that no units could serve.
    NoUnits,
    /// A buy of several classes that no units of this one could serve.
    Short(ClassId),
    /// A buy dearer than its limit or the balance.
    TooDear,
    /// A buy whose units another one took for a surcharge; it got back what it had not used, and
    /// the surcharge.
    Evicted,
    /// Never opened, but all blocks in which it could have been were of one auctioneer; the deposit
    /// was returned.
    Waived,
    /// Never opened, though acknowledged in time: the owner appealed and got the deposit back.
    Excused,
    /// A job that would not have earned its seller enough.
    NoGain,
    /// A job for which the seller has no room until its hard deadline, or sells no more.
    NoRoom,
    /// A job on which its seller could not stake the bond.
    Unstaked,
    /// An amendment that was opened: its bid takes the place of the order's that it names.
    Amended,
    /// An amendment of an order that had ended, or was about to; the deposit was returned.
    Lapsed,
    /// A job whose seller cannot do it by its hard deadline any more; the buyer gets the bond.
    Missed,
}

/// One effect of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// Money moved.
    Posting(Posting),
    /// A clearing took place.
    Clearing(ClearingRecord),
    /// A buy was served.
    Buy(BuyRecord),
    /// The seller of an offer planned.
    Planning(Planning),
    /// A contract was signed, settled or lapsed, or one of its jobs decided.
    Contract(ContractEvent),
    /// Reservations of a class were decided on.
    Reservation(ReservationRecord),
    /// A pool was shared.
    Sharing(Sharing),
    /// A lease changed.
    Lease(LeaseEvent),
    /// An order ended.
    Order {
        /// The order.
        order: OrderId,
        /// Why.
        end: OrderEnd,
    },
    /// Hires of a class were decided on.
    Posted(PostedRecord),
}

/// The input and outcome of an auction: the record by which anybody can compute it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auction<'e> {
    /// A clearing.
    Clearing(&'e ClearingRecord),
    /// A buy that was served.
    Buy(&'e BuyRecord),
    /// A sharing of a pool.
    Sharing(&'e Sharing),
    /// A decision on reservations.
    Reservation(&'e ReservationRecord),
    /// A decision on hires.
    Posted(&'e PostedRecord),
}

/// Accounts and orders that an effect concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concerned {
    /// Accounts that it names.
    pub accounts: Vec<AccountId>,
    /// Orders and contracts whose owners it concerns as well.
    pub orders: Vec<OrderId>,
}

/// Leaf of the effects log, of an effect's canonical bytes.
pub fn leaf_of(effect: &[u8]) -> [u8; 32] {
    hash(Domain::Effect, &[effect])
}

impl Effect {
    /// Leaf of the effects log.
    pub fn leaf(&self) -> [u8; 32] {
        codec::encoded(self, leaf_of)
    }
    /// The auction that it records; `None` if it records none.
    pub fn auction(&self) -> Option<Auction<'_>> {
        match self {
            Effect::Clearing(record) => Some(Auction::Clearing(record)),
            Effect::Buy(record) => Some(Auction::Buy(record)),
            Effect::Sharing(record) => Some(Auction::Sharing(record)),
            Effect::Reservation(record) => Some(Auction::Reservation(record)),
            Effect::Posted(record) => Some(Auction::Posted(record)),
            Effect::Posting(_)
            | Effect::Planning(_)
            | Effect::Contract(_)
            | Effect::Lease(_)
            | Effect::Order { .. } => None,
        }
    }
    /// The order or contract that it is about; `None` if it is about several, or none.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Effect::Posting(posting) => posting.order,
            Effect::Buy(record) => Some(record.order),
            Effect::Contract(event) => Some(*event.contract()),
            Effect::Lease(event) => Some(*event.order()),
            Effect::Order { order, .. } => Some(*order),
            Effect::Clearing(_)
            | Effect::Planning(_)
            | Effect::Reservation(_)
            | Effect::Sharing(_)
            | Effect::Posted(_) => None,
        }
    }
    /// Accounts and orders that it concerns: it belongs to the history of their accounts.
    pub fn concerns(&self) -> Concerned {
        let (mut accounts, mut orders) = (Vec::new(), Vec::new());
        match self {
            Effect::Posting(posting) => {
                let named = [posting.from, posting.to].into_iter();
                accounts.extend(named.filter_map(|purse| match purse {
                    Purse::Account(account) | Purse::Retained(account) => Some(account),
                    Purse::Escrow(_) | Purse::Bond(_) | Purse::Class(_) | Purse::Bank => None,
                }));
                orders.extend(posting.orders());
            }
            Effect::Planning(record) => orders.extend(record.orders()),
            Effect::Contract(event) => match event.parties() {
                Some(parties) => accounts.extend(parties),
                None => orders.push(*event.contract()),
            },
            Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms)) => {
                accounts.push(terms.account);
            }
            _ => match self.auction() {
                Some(auction) => orders = auction.winners(),
                None => orders.extend(self.order()),
            },
        }
        Concerned { accounts, orders }
    }
}

impl Auction<'_> {
    /// Its id; of a buy, that of its order.
    pub fn id(&self) -> [u8; 32] {
        match self {
            Auction::Clearing(record) => record.id.0,
            Auction::Buy(record) => record.order.0,
            Auction::Sharing(record) => record.id().0,
            Auction::Reservation(record) => record.id().0,
            Auction::Posted(record) => record.id().0,
        }
    }
    /// Height of the block that holds it.
    pub fn height(&self) -> u64 {
        match self {
            Auction::Clearing(record) => record.height,
            Auction::Buy(record) => record.height,
            Auction::Sharing(record) => record.height,
            Auction::Reservation(record) => record.height,
            Auction::Posted(record) => record.height,
        }
    }
    /// The classes of which it sold units.
    pub fn classes(&self) -> Vec<ClassId> {
        match self {
            Auction::Clearing(record) => vec![record.class],
            Auction::Buy(record) => record.classes().collect(),
            Auction::Sharing(record) => vec![record.class],
            Auction::Reservation(record) => vec![record.class],
            Auction::Posted(record) => vec![record.class],
        }
    }
    /// The orders that got something.
    pub fn winners(&self) -> Vec<OrderId> {
        match self {
            Auction::Clearing(record) => record.awards.iter().map(|a| a.order).collect(),
            Auction::Buy(record) => vec![record.order],
            Auction::Sharing(record) => record.awards.iter().map(|a| a.order).collect(),
            Auction::Reservation(record) => record.booked.iter().map(|b| b.order).collect(),
            Auction::Posted(record) => record.served.iter().map(|h| h.order).collect(),
        }
    }
}

impl From<Auction<'_>> for Effect {
    fn from(auction: Auction<'_>) -> Effect {
        match auction {
            Auction::Clearing(record) => Effect::Clearing(record.clone()),
            Auction::Buy(record) => Effect::Buy(record.clone()),
            Auction::Sharing(record) => Effect::Sharing(record.clone()),
            Auction::Reservation(record) => Effect::Reservation(record.clone()),
            Auction::Posted(record) => Effect::Posted(record.clone()),
        }
    }
}
