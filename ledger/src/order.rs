//! Orders as the ledger keeps them, from their entry until they end.

use crate::contract::Serving;
use crate::firm::{self, Sale};
use crate::reservation::ReservationOrder;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::{Bid, Buy, Claim, Deadline};
use gridbay_protocol::sharing::Portion;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A live order. Its money lies in its escrow purse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Whose it is.
    pub account: AccountId,
    /// The class; of a buy of several, the first.
    pub class: ClassId,
    /// Round in which its entry was included.
    pub round: u64,
    /// Its lease while it runs.
    pub lease: Option<LeaseId>,
    /// Cancelled: the lease ends with the running slot.
    pub exiting: bool,
    /// The job of a contract that it serves, or served: then the lease is that client's to use.
    pub serves: Option<Serving>,
    /// What it asks for, and how far it has come.
    pub stage: Stage,
}

/// The stages of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A sealed bid, to be opened in the round after its commitment's.
    Sealed {
        /// The seal.
        seal: Hash32,
        /// Asks for at most `2^bracket` units.
        bracket: u8,
        /// Least that the account could pay in any block so far in which it could have opened the bid; `None` if it
        /// replaced its keys meanwhile.
        reach: Option<Credits>,
    },
    /// An opened bid that stands, or runs if it has a lease.
    Bid(Box<BidOrder>),
    /// A buy that waits for its decision, or runs if it has a lease.
    Buy(Box<BuyOrder>),
    /// A job by a deadline that asks its seller, or was taken.
    Deadline(Box<DeadlineOrder>),
    /// An opened reservation that stands, is booked, or runs if it has a lease.
    Reservation(Box<ReservationOrder>),
    /// A claim on a pool that stands, or runs if it has a lease.
    Share(Box<ShareOrder>),
}

/// A bid that was not opened. It is in the book no more; its deposit waits for an appeal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unopened {
    /// Whose it was.
    pub account: AccountId,
    /// The class.
    pub class: ClassId,
    /// Round of the commitment.
    pub round: u64,
    /// The seal.
    pub seal: Hash32,
    /// It asked for at most `2^bracket` units.
    pub bracket: u8,
    /// As in [`Stage::Sealed`], over all blocks in which it could have been opened.
    pub reach: Option<Credits>,
    /// Last height of an appeal.
    pub until: u64,
}

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

/// A buy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyOrder {
    /// What was asked.
    pub buy: Buy,
    /// Whether it was decided on and waits for units since.
    pub waits: bool,
    /// Of a buy of several classes that waits: which of them had too few units when it was last decided on; `None` if all
    /// together were too dear.
    pub short: Option<ClassId>,
    /// Units taken once it is served, class by class, each with its buy price of that moment, and the price of all of them
    /// per slot.
    pub sales: Vec<Sale>,
}

impl BuyOrder {
    /// A buy that is still to be decided.
    pub(crate) fn new(buy: Buy) -> BuyOrder {
        BuyOrder {
            buy,
            waits: false,
            short: None,
            sales: Vec::new(),
        }
    }
    /// Price per slot once it is served.
    pub fn price(&self) -> Credits {
        firm::sum(&self.sales)
    }
}

/// A job by a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadlineOrder {
    /// What was asked.
    pub deadline: Deadline,
    /// What became of it since its seller took it; `None` before.
    pub taken: Option<Taken>,
}

/// How far a taken job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The slot at whose end it was taken: its age counts the slots after.
    pub since: u64,
    /// Work done, units times slots, at most the work declared.
    pub done: u64,
    /// Whether its seller failed to serve it in some slot.
    pub failed: bool,
    /// What the seller has staked.
    pub bond: Credits,
}

/// A claim on a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareOrder {
    /// What was asked.
    pub claim: Claim,
    /// What it may use in the running slot; `None` without a lease.
    pub portion: Option<Portion>,
    /// Paid so far, less refunds.
    pub paid: Credits,
    /// Full slots used.
    pub slots_used: u32,
}

impl Order {
    /// A new order, without a lease.
    pub(crate) fn new(account: AccountId, class: ClassId, round: u64, stage: Stage) -> Order {
        Order {
            account,
            class,
            round,
            lease: None,
            exiting: false,
            serves: None,
            stage,
        }
    }
    /// The classes whose units it asks for, ascending: one, unless it is a buy of several.
    pub fn classes(&self) -> Vec<ClassId> {
        match &self.stage {
            Stage::Buy(buy) => buy.buy.classes().collect(),
            _ => vec![self.class],
        }
    }
    /// Whether what it asks for is still secret.
    pub fn is_sealed(&self) -> bool {
        matches!(self.stage, Stage::Sealed { .. })
    }
    /// The opened bid.
    pub fn bid(&self) -> Option<&BidOrder> {
        match &self.stage {
            Stage::Bid(bid) => Some(bid),
            _ => None,
        }
    }
    pub(crate) fn bid_mut(&mut self) -> Option<&mut BidOrder> {
        match &mut self.stage {
            Stage::Bid(bid) => Some(bid),
            _ => None,
        }
    }
    /// The buy.
    pub fn buy(&self) -> Option<&BuyOrder> {
        match &self.stage {
            Stage::Buy(buy) => Some(buy),
            _ => None,
        }
    }
    /// The job by a deadline.
    pub fn deadline(&self) -> Option<&DeadlineOrder> {
        match &self.stage {
            Stage::Deadline(job) => Some(job),
            _ => None,
        }
    }
    pub(crate) fn deadline_mut(&mut self) -> Option<&mut DeadlineOrder> {
        match &mut self.stage {
            Stage::Deadline(job) => Some(job),
            _ => None,
        }
    }
    /// Whether it is a job that its seller has taken.
    pub fn is_taken(&self) -> bool {
        self.deadline().is_some_and(|job| job.taken.is_some())
    }
    /// The reservation.
    pub fn reservation(&self) -> Option<&ReservationOrder> {
        match &self.stage {
            Stage::Reservation(reservation) => Some(reservation),
            _ => None,
        }
    }
    pub(crate) fn reservation_mut(&mut self) -> Option<&mut ReservationOrder> {
        match &mut self.stage {
            Stage::Reservation(reservation) => Some(reservation),
            _ => None,
        }
    }
    /// The claim on a pool.
    pub fn share(&self) -> Option<&ShareOrder> {
        match &self.stage {
            Stage::Share(share) => Some(share),
            _ => None,
        }
    }
    /// What its escrow must hold before it competes for a slot, and what may still be paid.
    pub(crate) fn next_slot(&self) -> Option<(Credits, Credits)> {
        match &self.stage {
            Stage::Bid(bid) => Some((bid.slot_at_bid(), bid.budget_left())),
            Stage::Share(share) => {
                let left = share.claim.budget.saturating_sub(share.paid);
                Some((share.claim.rate, left))
            }
            Stage::Sealed { .. } | Stage::Buy(_) | Stage::Deadline(_) | Stage::Reservation(_) => {
                None
            }
        }
    }
    /// What it has paid so far, if that counts for a budget.
    pub(crate) fn paid_mut(&mut self) -> Option<&mut Credits> {
        match &mut self.stage {
            Stage::Bid(bid) => Some(&mut bid.paid),
            Stage::Share(share) => Some(&mut share.paid),
            Stage::Sealed { .. } | Stage::Buy(_) | Stage::Deadline(_) | Stage::Reservation(_) => {
                None
            }
        }
    }
    /// The work hash that it names; `None` while it is sealed.
    pub fn work(&self) -> Option<Hash32> {
        match &self.stage {
            Stage::Sealed { .. } => None,
            Stage::Bid(bid) => Some(bid.bid.work),
            Stage::Buy(buy) => Some(buy.buy.work),
            Stage::Deadline(job) => Some(job.deadline.work),
            Stage::Reservation(reservation) => Some(reservation.wish.work),
            Stage::Share(share) => Some(share.claim.work),
        }
    }
    /// The most tasks that its job may have; 0 while it is sealed.
    pub fn tasks(&self) -> u32 {
        match &self.stage {
            Stage::Sealed { .. } => 0,
            Stage::Bid(bid) => bid.bid.units(),
            Stage::Buy(buy) => buy.buy.units(),
            Stage::Deadline(job) => job.deadline.tasks,
            Stage::Reservation(reservation) => reservation.wish.units(),
            Stage::Share(share) => share.claim.tasks,
        }
    }
    /// Whether it waits for another lease after one that ended for that reason. A taken job always does: its end is
    /// for the plan to say.
    pub(crate) fn stands_again(&self, after: LeaseEnd) -> bool {
        let stands = matches!(self.stage, Stage::Bid(_) | Stage::Share(_));
        self.is_taken() || (stands && !self.exiting && after.order_stands())
    }
}
