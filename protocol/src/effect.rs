//! Effects: everything a block does, in order. Their root is in the header, so a single effect
//! (a payment, a clearing, a refusal) can be proved to a stranger.

use crate::booking::ReservationRecord;
use crate::clearing::{BuyRecord, ClearingRecord};
use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{ClassId, OrderId};
use crate::lease::LeaseEvent;
use crate::order::ContractEvent;
use crate::payment::Posting;
use crate::planning::Planning;
use crate::sharing::Sharing;
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
    /// A buy whose units another one took for a surcharge; it got back what it had not used, and the surcharge.
    Evicted,
    /// Never opened, but all blocks in which it could have been were of one auctioneer; the deposit was returned.
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
}

impl Effect {
    /// Leaf of the effects log.
    pub fn leaf(&self) -> [u8; 32] {
        hash(Domain::Effect, &[&codec::encode(self)])
    }
}
