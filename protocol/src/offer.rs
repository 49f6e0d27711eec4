//! Offers: what a seller is bound to deliver (hard state on the ledger).

use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, OfferId};
use crate::keys::PublicKey;
use crate::limits;
use crate::units::Price;
use serde::{Deserialize, Serialize};

/// Whether and how a seller may take units back before a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reclaim {
    /// Never: only such units may be sold firmly.
    None,
    /// After this many seconds of notice.
    Notice(u32),
}

/// The mechanism an offer sells under first. Idle units spill into the auction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Primary {
    /// Sealed bids, cleared by the Ausubel auction; also open to buy-it-now.
    Ausubel,
}

/// Terms of an offer: units of one class at one seller's node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferTerms {
    /// Seller's own number of the offer; setting it again changes the offer.
    pub label: u32,
    /// The class of the units.
    pub class: ClassId,
    /// Units, 1 to [`limits::OFFER_UNITS`].
    pub units: u32,
    /// Least price per unit-slot.
    pub reserve: Price,
    /// Buy-it-now price per unit-slot, at least the reserve; `None` if not sold that way.
    pub buy_price: Option<Price>,
    /// Whether units may be taken back.
    pub reclaim: Reclaim,
    /// Mechanism.
    pub mechanism: Primary,
    /// Transport key of the node that delivers.
    pub node: PublicKey,
}

impl OfferTerms {
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        (1..=limits::OFFER_UNITS).contains(&self.units)
            && self.reserve <= Price::MAX
            && self
                .buy_price
                .is_none_or(|p| p >= self.reserve && p <= Price::MAX)
    }
}

/// Id of the offer with `label` of `seller`.
pub fn offer_id(seller: &AccountId, label: u32) -> OfferId {
    OfferId(hash(
        Domain::Offer,
        &[seller.as_bytes(), &label.to_be_bytes()],
    ))
}
