//! Offers: units that a seller is bound to deliver (hard state on the ledger).

use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, OfferId};
use crate::keys::PublicKey;
use crate::limits;
use crate::mechanism::{deadline, share};
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

/// The mechanism an offer sells under first. Idle units spill into the auction, unless it says
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Primary {
    /// Sealed bids, cleared by the Ausubel auction; also open to buy-it-now.
    #[default]
    Ausubel,
    /// Node sets reserved ahead over a rolling window.
    Reservation,
    /// Time-malleable jobs, planned by this seller.
    Deadline(DeadlineTerms),
    /// Shares of a pool for a budget.
    Share(PoolTerms),
    /// The reserve is the price, and the first to come is served first. Idle units do not spill.
    Posted,
}

/// A way of sale: units sold in one are worth something else than in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// To bids in a clearing, preemptible.
    Bid,
    /// Bought firm.
    Buy,
    /// Planned by a seller for jobs with deadlines.
    Deadline,
    /// Reserved ahead.
    Reservation,
    /// Shared with others by the slot.
    Share,
    /// At posted prices, firm.
    Posted,
}

/// How a seller plans time-malleable jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DeadlineTerms {
    /// Least gain of revenue for which a job is accepted, millionths of its highest price, 0 to
    /// 1,000,000.
    #[cfg_attr(feature = "schema", schema(maximum = 1_000_000))]
    pub min_gain_ppm: u32,
    /// The seller's stake on each accepted job, millionths of its highest price, 0 to 1,000,000:
    /// the buyer's if the seller makes the job miss its hard deadline.
    #[cfg_attr(feature = "schema", schema(maximum = 1_000_000))]
    pub bond_ppm: u32,
}

/// How a pool is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PoolTerms {
    /// The most of each resource type that one sponsor's users may hold, millionths, 1 to
    /// 1,000,000.
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 1_000_000))]
    pub cap_ppm: u32,
    /// Sixteenths of the exponent alpha, 0 (equal shares) to 16 (in proportion to the budgets).
    #[cfg_attr(feature = "schema", schema(maximum = 16))]
    pub sixteenths: u32,
}

impl Primary {
    /// Name of the mechanism.
    pub fn name(&self) -> &'static str {
        match self {
            Primary::Ausubel => "ausubel",
            Primary::Reservation => "reservation",
            Primary::Deadline(_) => "deadline",
            Primary::Share(_) => "share",
            Primary::Posted => "posted",
        }
    }
    /// Whether idle units are sold in the auction as well.
    pub fn spills(&self) -> bool {
        match self {
            Primary::Ausubel | Primary::Reservation | Primary::Deadline(_) | Primary::Share(_) => {
                true
            }
            Primary::Posted => false,
        }
    }
    /// Whether the numbers are in range.
    pub fn is_valid(&self) -> bool {
        match self {
            Primary::Ausubel | Primary::Reservation | Primary::Posted => true,
            Primary::Deadline(terms) => {
                terms.min_gain_ppm <= deadline::WHOLE_PPM && terms.bond_ppm <= deadline::WHOLE_PPM
            }
            Primary::Share(terms) => {
                (1..=share::units::WHOLE_PPM).contains(&terms.cap_ppm)
                    && terms.sixteenths <= share::SIXTEENTHS_MAX
            }
        }
    }
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
    /// Whether all values are in range. Only what is auctioned can be taken back, or bought at
    /// once.
    pub fn is_valid(&self) -> bool {
        (1..=limits::OFFER_UNITS).contains(&self.units)
            && self.reserve <= Price::MAX
            && self
                .buy_price
                .is_none_or(|p| p >= self.reserve && p <= Price::MAX)
            && self.mechanism.is_valid()
            && self.shares_units()
            && (self.mechanism == Primary::Ausubel
                || (self.reclaim == Reclaim::None && self.buy_price.is_none()))
    }
    /// Whether the cap of a pool lets a lone user hold a unit.
    fn shares_units(&self) -> bool {
        match self.mechanism {
            Primary::Share(terms) => {
                let most = u64::from(self.units) * u64::from(terms.cap_ppm);
                most >= u64::from(share::units::WHOLE_PPM)
            }
            _ => true,
        }
    }
}

/// Id of the offer with `label` of `seller`.
pub fn offer_id(seller: &AccountId, label: u32) -> OfferId {
    OfferId(hash(
        Domain::Offer,
        &[seller.as_bytes(), &label.to_be_bytes()],
    ))
}
