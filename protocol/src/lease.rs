//! Leases: the right to use units of named sellers, slot by slot.

use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, LeaseId, OfferId, OrderId};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// Units of one offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The offer.
    pub offer: OfferId,
    /// Units, at least 1.
    pub units: u32,
}

/// Why a lease ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseEnd {
    /// The buyer ended it; the running slot is paid out.
    Exit,
    /// All slots of the order were used.
    Expired,
    /// Outbid at a slot boundary; the order stands again.
    Outbid,
    /// Preempted by a buy; the order stands again.
    Preempted,
    /// Budget or balance could not cover the next slot.
    Unfunded,
    /// A seller did not deliver; the order stands again.
    Undelivered,
    /// The seller's plan has no units for its job in the next slot; the order stands.
    Paused,
    /// Its claim got no processor of its pool in the next slot; the order stands again.
    Unserved,
    /// The buyer complained that a seller did not serve it; the order stands again.
    Disputed,
}

impl LeaseEnd {
    /// Whether the order stands in the next rounds again.
    pub fn order_stands(self) -> bool {
        matches!(
            self,
            LeaseEnd::Outbid
                | LeaseEnd::Preempted
                | LeaseEnd::Undelivered
                | LeaseEnd::Paused
                | LeaseEnd::Unserved
                | LeaseEnd::Disputed
        )
    }
}

/// An event in the life of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LeaseEvent {
    /// It began, effective from the next height.
    Started(LeaseTerms),
    /// It goes on in the next slot with these terms.
    Renewed(LeaseTerms),
    /// It ended with this height.
    Ended {
        /// The lease.
        lease: LeaseId,
        /// Its order.
        order: OrderId,
        /// Why.
        end: LeaseEnd,
    },
    /// Its buyer complained that a seller did not serve it in a slot.
    Disputed {
        /// The lease.
        lease: LeaseId,
        /// Its order.
        order: OrderId,
        /// The offer that was not served.
        offer: OfferId,
        /// The slot.
        slot: u64,
        /// Whether the offer is withdrawn for it, until its seller sets it again.
        withdrawn: bool,
    },
}

impl LeaseEvent {
    /// The order of the lease.
    pub fn order(&self) -> &OrderId {
        match self {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => &terms.order,
            LeaseEvent::Ended { order, .. } | LeaseEvent::Disputed { order, .. } => order,
        }
    }
}

/// Terms of a lease for one slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseTerms {
    /// The lease.
    pub lease: LeaseId,
    /// Its order.
    pub order: OrderId,
    /// The buyer.
    pub account: AccountId,
    /// The class.
    pub class: ClassId,
    /// The slot.
    pub slot: u64,
    /// Units by offer, ascending.
    pub shares: Vec<Share>,
    /// Paid for this slot (or what was left of it).
    pub paid: Credits,
    /// Last slot it is firm through; `None` for a preemptible lease.
    pub firm_through: Option<u64>,
}

/// Id of the lease that `order` got at `height`.
pub fn lease_id(order: &OrderId, height: u64) -> LeaseId {
    LeaseId(hash(
        Domain::Lease,
        &[order.as_bytes(), &height.to_be_bytes()],
    ))
}
