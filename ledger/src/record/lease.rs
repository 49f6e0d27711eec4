//! Leases as the ledger keeps them while they run.

use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseTerms, Share};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A running lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Its order.
    pub order: OrderId,
    /// The buyer.
    pub account: AccountId,
    /// The class of its order: of units of several, the first.
    pub class: ClassId,
    /// The slot it is paid for.
    pub slot: u64,
    /// Units by offer, ascending.
    pub shares: Vec<Share>,
    /// Paid for this slot, less refunds.
    pub paid: Credits,
    /// The pot that holds the payment.
    pub pot: Hash32,
    /// Whether it is paid for the whole of the slot.
    pub whole_slot: bool,
    /// Full slots it has run.
    pub slots_run: u32,
    /// Last slot it is firm through; `None` for a preemptible lease.
    pub firm_through: Option<u64>,
    /// Offers acknowledged by their sellers, ascending.
    pub delivered: Vec<OfferId>,
    /// Height by which all offers must be acknowledged.
    pub deliver_by: u64,
}

impl Lease {
    /// Units of all offers.
    pub fn units(&self) -> u32 {
        self.shares.iter().map(|s| s.units).sum()
    }
    /// Units of one offer.
    pub fn units_of(&self, offer: &OfferId) -> u32 {
        self.shares
            .iter()
            .filter(|s| s.offer == *offer)
            .map(|s| s.units)
            .sum()
    }
    /// Whether it holds whatever others bid.
    pub fn is_firm(&self) -> bool {
        self.firm_through.is_some()
    }
    /// Whether an offer was acknowledged.
    pub fn has_delivered(&self, offer: &OfferId) -> bool {
        self.delivered.binary_search(offer).is_ok()
    }
    /// Offers of which it holds acknowledged units, ascending.
    pub(crate) fn served_by(&self) -> impl Iterator<Item = OfferId> {
        let offers = self.delivered.iter().copied();
        offers.filter(|offer| self.units_of(offer) > 0)
    }
    /// Whether every offer was acknowledged.
    pub fn is_delivered(&self) -> bool {
        self.shares.iter().all(|s| self.has_delivered(&s.offer))
    }
    /// Its terms for the slot, as effects show them.
    pub fn terms(&self, lease: LeaseId) -> LeaseTerms {
        LeaseTerms {
            lease,
            order: self.order,
            account: self.account,
            class: self.class,
            slot: self.slot,
            shares: self.shares.clone(),
            paid: self.paid,
            firm_through: self.firm_through,
        }
    }
}
