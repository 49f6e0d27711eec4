//! Orders as the ledger keeps them, from their entry until they end.

use super::live::Live;
use super::{
    BidOrder, BuyOrder, DeadlineOrder, PostedOrder, ReservationOrder, Serving, ShareOrder,
};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::Hire;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A live order. Its money lies in its escrow purse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Its owner.
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
    /// Its terms and its progress.
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
        /// Least that the account could pay in any block so far in which it could have opened the
        /// bid; `None` if it replaced its keys meanwhile.
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
    /// A hire at posted prices, which runs or is decided in this block.
    Posted(Box<PostedOrder>),
}

impl Stage {
    /// The order as its way of sale sees it; `None` while it is sealed.
    pub(crate) fn live(&self) -> Option<&dyn Live> {
        match self {
            Stage::Sealed { .. } => None,
            Stage::Bid(bid) => Some(&**bid),
            Stage::Buy(buy) => Some(&**buy),
            Stage::Deadline(job) => Some(&**job),
            Stage::Reservation(reservation) => Some(&**reservation),
            Stage::Share(share) => Some(&**share),
            Stage::Posted(posted) => Some(&**posted),
        }
    }
    /// The same, to be changed.
    pub(crate) fn live_mut(&mut self) -> Option<&mut dyn Live> {
        match self {
            Stage::Sealed { .. } => None,
            Stage::Bid(bid) => Some(&mut **bid),
            Stage::Buy(buy) => Some(&mut **buy),
            Stage::Deadline(job) => Some(&mut **job),
            Stage::Reservation(reservation) => Some(&mut **reservation),
            Stage::Share(share) => Some(&mut **share),
            Stage::Posted(posted) => Some(&mut **posted),
        }
    }
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
        let several = self.stage.live().and_then(Live::classes);
        several.unwrap_or_else(|| vec![self.class])
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
    /// The hire at posted prices.
    pub fn hire(&self) -> Option<&Hire> {
        match &self.stage {
            Stage::Posted(posted) => Some(&posted.hire),
            _ => None,
        }
    }
    /// The money that its escrow must hold before it competes for a slot, and the rest of its
    /// budget.
    pub(crate) fn next_slot(&self) -> Option<(Credits, Credits)> {
        self.stage.live()?.next_slot()
    }
    /// Its payments so far, if they count for a budget.
    pub(crate) fn paid_mut(&mut self) -> Option<&mut Credits> {
        self.stage.live_mut()?.paid_mut()
    }
    /// The work hash that it names; `None` while it is sealed.
    pub fn work(&self) -> Option<Hash32> {
        self.stage.live().map(Live::work)
    }
    /// The most tasks that its job may have; 0 while it is sealed.
    pub fn tasks(&self) -> u32 {
        self.stage.live().map_or(0, Live::tasks)
    }
    /// Whether it waits for another lease after one that ended for that reason.
    pub(crate) fn stands_again(&self, after: LeaseEnd) -> bool {
        let live = self.stage.live();
        live.is_some_and(|live| live.stands_again(after, self.exiting))
    }
}
