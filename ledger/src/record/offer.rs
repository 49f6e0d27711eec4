//! Offers as the ledger keeps them: terms in force, and a change that waits for its hour.

use gridbay_protocol::ids::AccountId;
use gridbay_protocol::offer::{OfferTerms, PoolTerms, Primary, Reclaim};
use serde::{Deserialize, Serialize};

/// An offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The account that delivers and earns.
    pub seller: AccountId,
    /// Terms in force, or the first ones while `active` is false and `pending` sets them.
    pub terms: OfferTerms,
    /// Whether the units are for sale. False before the first round's close, and after a withdrawal
    /// or a missed delivery.
    pub active: bool,
    /// Units that may be in leases: the units of the terms, or more while leases or bookings
    /// outlive a change.
    pub bound: u32,
    /// A change that takes effect when a round closes.
    pub pending: Option<Pending>,
    /// Sponsors of the buyers that complained of it in one epoch, since it was last withdrawn for
    /// that.
    pub disputed_by: Vec<AccountId>,
    /// That epoch.
    pub disputed_in: u64,
}

/// A change of an offer that is not in force yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pending {
    /// New terms.
    Set(Box<OfferTerms>),
    /// No sale any more.
    Withdraw,
}

impl Offer {
    /// Units for sale.
    pub fn supply(&self) -> u32 {
        if self.active { self.terms.units } else { 0 }
    }
    /// Units that the auction may sell: those for sale, unless they are sold in their own way
    /// alone.
    pub(crate) fn auctioned(&self) -> u32 {
        match self.terms.mechanism.spills() {
            true => self.supply(),
            false => 0,
        }
    }
    /// How the units are shared, if they are for sale in that way.
    pub fn pool(&self) -> Option<PoolTerms> {
        match self.terms.mechanism {
            Primary::Share(terms) if self.active => Some(terms),
            _ => None,
        }
    }
    /// Units bound, or for sale after the pending change, whichever are more.
    pub(crate) fn most_units(&self) -> u32 {
        match &self.pending {
            Some(Pending::Set(terms)) => self.supply().max(terms.units).max(self.bound),
            Some(Pending::Withdraw) | None => self.supply().max(self.bound),
        }
    }
    /// Units that may come to be sold under reservation.
    pub(crate) fn reservable(&self) -> u32 {
        let pending = match &self.pending {
            Some(Pending::Set(terms)) => terms.mechanism == Primary::Reservation,
            Some(Pending::Withdraw) | None => false,
        };
        match pending || self.terms.mechanism == Primary::Reservation {
            true => self.most_units(),
            false => 0,
        }
    }
    /// Whether the pending change is to the disadvantage of those who hold units.
    pub(crate) fn worsens(&self) -> bool {
        match &self.pending {
            Some(Pending::Set(terms)) => {
                terms.reserve > self.terms.reserve || terms.units < self.terms.units
            }
            Some(Pending::Withdraw) => true,
            None => false,
        }
    }
    /// Whether the pending change is to another mechanism.
    pub(crate) fn changes_mechanism(&self) -> bool {
        match &self.pending {
            Some(Pending::Set(terms)) => terms.mechanism != self.terms.mechanism,
            Some(Pending::Withdraw) | None => false,
        }
    }
    /// Whether the units can be bought firmly.
    pub fn sells_firmly(&self) -> bool {
        self.active
            && self.terms.buy_price.is_some()
            && self.terms.reclaim == Reclaim::None
            && self.terms.mechanism == Primary::Ausubel
    }
}
