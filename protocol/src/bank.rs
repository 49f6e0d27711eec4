//! Bank policy: the recipients of revenue, and the tax on idle money.
//!
//! Three presets ([`Preset`]), and anything between them:
//!
//! - [`BankPolicy::owners`], the default: the buyers' money goes to the owners of the units; there
//!   is no tax; members trade on mutual credit, each up to the line voted for it. Money is earned.
//! - [`BankPolicy::mirage`]: members are endowed with a baseline; revenue is shared by all, by
//!   their shares; savings above the baseline are taxed and go to those below theirs. Money is a
//!   ration that comes back.
//! - [`BankPolicy::bellagio`], as it was revised: the buyers' money goes to the owners of the
//!   units, over a baseline and the same tax. Owners may earn, but nobody hoards.
//!
//! A member has a weight, 1 unless the vote says otherwise: its baseline and its shares are those
//! of the policy times the weight (Mirage: 16 projects of weight 1 and 2 of weight 2, 1,000 credits
//! and 1,000 shares each). Accounts that members open have neither; their money is taxed from the
//! first micro-credit, so that opening accounts neither mints money nor hides it.
//!
//! Periods count heights, as rounds and slots do. A tax or sharing falls due at the slot boundary
//! at or after the end of its period. A network at rest makes blocks at its heartbeat, so its
//! periods are longer by the clock than a busy one's.

use crate::units::{Credits, MICROS_PER_CREDIT};
use serde::{Deserialize, Serialize};

/// The highest weight of a member.
pub const WEIGHT: u32 = 1_024;
/// The highest baseline per weight: 2^50 micro-credits, about 10^9 credits. That of the highest
/// weight is an amount.
pub const BASELINE: Credits = match Credits::from_micros(1 << 50) {
    Some(most) => most,
    None => Credits::ZERO,
};
/// The most shares per weight. Those of the highest weight are below 2^43.
pub const SHARES: u64 = 1 << 32;
/// The longest period in heights: a year at four blocks a second.
pub const PERIOD: u64 = 4 * 365 * 86_400;
/// The highest tax, in millionths of the savings.
pub const TAX_PPM: u32 = 1_000_000;

const _: () = assert!(BASELINE.micros() == 1 << 50);
const _: () = assert!(BASELINE.micros() <= Credits::MAX.micros() / WEIGHT as u64);
const _: () = assert!(SHARES <= u64::MAX / WEIGHT as u64);

/// Bank policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankPolicy {
    /// The recipients of the money that buyers pay.
    pub revenue: Revenue,
    /// The highest credit line that may be voted for a member; zero is a bank without mutual
    /// credit.
    pub credit_limit: Credits,
    /// A member's endowment; it may save as much untaxed, and is helped back to it. Per weight, at
    /// most [`BASELINE`].
    pub baseline: Credits,
    /// A member's part in what is shared out, against those of others; per weight, at most
    /// [`SHARES`].
    pub shares: u64,
    /// The tax on savings, if there is one. It needs a baseline and shares.
    pub tax: Option<SavingsTax>,
}

/// The recipients of the money that buyers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Revenue {
    /// The owners of the units sold.
    Owners,
    /// All members by their shares, out of the treasury.
    Shares {
        /// Heights from one sharing to the next, 1 to [`PERIOD`].
        every: u64,
    },
}

/// A tax on what accounts hold above their baselines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavingsTax {
    /// Millionths of the savings taken each time, 1 to [`TAX_PPM`].
    pub ppm: u32,
    /// Heights from one time to the next, 1 to [`PERIOD`].
    pub every: u64,
    /// The recipients of the tax.
    pub mode: Redistribution,
}

/// The recipients of the tax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Redistribution {
    /// All members by their shares.
    All,
    /// Members below their baselines by their shares, each up to its baseline.
    Deficit,
}

named! {
    /// A policy by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Preset as name {
        /// [`BankPolicy::owners`], with credit lines up to any amount: each is voted for by itself.
        Owners = "owners",
        /// [`BankPolicy::mirage`].
        Mirage = "mirage",
        /// [`BankPolicy::bellagio`].
        Bellagio = "bellagio",
    }
}

impl Preset {
    /// Its policy for blocks of that interval.
    #[must_use]
    pub fn policy(self, block_interval_ms: u64) -> BankPolicy {
        match self {
            Preset::Owners => BankPolicy::default(),
            Preset::Mirage => BankPolicy::mirage(block_interval_ms),
            Preset::Bellagio => BankPolicy::bellagio(block_interval_ms),
        }
    }
}

/// A member's dues by its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its endowment and tax-free savings.
    pub base: Credits,
    /// Its shares.
    pub shares: u64,
}

impl Default for BankPolicy {
    /// [`BankPolicy::owners`], with credit lines up to any amount: each is voted for by itself.
    fn default() -> BankPolicy {
        BankPolicy::owners(Credits::MAX)
    }
}

impl BankPolicy {
    /// Revenue to the owners of the units, no tax, mutual credit.
    #[must_use]
    pub fn owners(credit_limit: Credits) -> BankPolicy {
        BankPolicy {
            revenue: Revenue::Owners,
            credit_limit,
            baseline: Credits::ZERO,
            shares: 0,
            tax: None,
        }
    }

    /// Mirage's published figures for blocks of that interval: 1,000 credits and shares, revenue
    /// shared every hour (as often as it cleared), 5 % of the savings every four hours to those
    /// below their baselines, no credit.
    #[must_use]
    pub fn mirage(block_interval_ms: u64) -> BankPolicy {
        let heights = |hours: u64| (hours * 3_600_000 / block_interval_ms.max(1)).clamp(1, PERIOD);
        BankPolicy {
            revenue: Revenue::Shares { every: heights(1) },
            credit_limit: Credits::ZERO,
            baseline: Credits::from_micros(1_000 * MICROS_PER_CREDIT).unwrap_or(BASELINE),
            shares: 1_000,
            tax: Some(SavingsTax {
                ppm: 50_000,
                every: heights(4),
                mode: Redistribution::Deficit,
            }),
        }
    }

    /// The revised Bellagio: as [`BankPolicy::mirage`], but with the revenue to the owners of the
    /// units.
    #[must_use]
    pub fn bellagio(block_interval_ms: u64) -> BankPolicy {
        BankPolicy {
            revenue: Revenue::Owners,
            ..BankPolicy::mirage(block_interval_ms)
        }
    }

    /// Whether all values are in range and what is shared out has somebody to go to.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let period = |every: u64| (1..=PERIOD).contains(&every);
        let revenue = match self.revenue {
            Revenue::Owners => true,
            Revenue::Shares { every } => self.shares > 0 && period(every),
        };
        let tax = self.tax.is_none_or(|tax| {
            let rate = (1..=TAX_PPM).contains(&tax.ppm);
            rate && period(tax.every) && self.shares > 0 && self.baseline > Credits::ZERO
        });
        self.baseline <= BASELINE && self.shares <= SHARES && revenue && tax
    }

    /// The dues of a member of that weight; `None` if the weight is not of 1 to [`WEIGHT`] or the
    /// policy is out of range.
    #[must_use]
    pub fn standing(&self, weight: u32) -> Option<Standing> {
        if !(1..=WEIGHT).contains(&weight) {
            return None;
        }
        Some(Standing {
            base: self.baseline.checked_mul(u64::from(weight))?,
            shares: self.shares.checked_mul(u64::from(weight))?,
        })
    }

    /// Whether a weight says anything: there is a baseline or there are shares for it to multiply.
    #[must_use]
    pub fn weighs(&self) -> bool {
        self.baseline > Credits::ZERO || self.shares > 0
    }

    /// Whether what is paid goes to the treasury, which is shared out, instead of to the owners of
    /// the units.
    #[must_use]
    pub fn shares_revenue(&self) -> bool {
        match self.revenue {
            Revenue::Owners => false,
            Revenue::Shares { .. } => true,
        }
    }

    /// Whether the treasury is shared out at the boundary of a slot of so many heights.
    #[must_use]
    pub fn shares_at(&self, boundary: u64, slot_heights: u64) -> bool {
        match self.revenue {
            Revenue::Owners => false,
            Revenue::Shares { every } => falls(boundary, slot_heights, every),
        }
    }

    /// The tax to take at the boundary of a slot. Profits, if due at the same boundary, are shared
    /// out before it.
    #[must_use]
    pub fn tax_at(&self, boundary: u64, slot_heights: u64) -> Option<SavingsTax> {
        self.tax
            .filter(|tax| falls(boundary, slot_heights, tax.every))
    }
}

/// Whether a period ends at one of the heights of the slot that ends at `boundary`. None does if
/// periods have no length. Several that end within one slot are one.
fn falls(boundary: u64, slot_heights: u64, every: u64) -> bool {
    let periods = |height: u64| height.checked_div(every);
    periods(boundary) > periods(boundary.saturating_sub(slot_heights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec;

    #[test]
    fn presets_are_in_range_and_survive_the_codec() {
        let owners = BankPolicy::default();
        let presets = Preset::ALL.map(|preset| preset.policy(250));
        for policy in presets.into_iter().chain([BankPolicy::mirage(0)]) {
            assert!(policy.is_valid(), "{policy:?}");
            let bytes = codec::encode(&policy);
            assert_eq!(codec::decode::<BankPolicy>(&bytes, 1_000), Ok(policy));
        }
        assert_eq!((owners.shares_at(4, 1), owners.tax_at(4, 1)), (false, None));
        assert!(!owners.weighs() && BankPolicy::bellagio(250).weighs());
    }

    #[test]
    fn mirage_by_the_hour() {
        let mirage = BankPolicy::mirage(1_000);
        let heights = |due: &dyn Fn(u64) -> bool| (0..=28_800).filter(|h| due(*h)).count();
        assert_eq!(heights(&|h| mirage.shares_at(h, 1)), 8);
        assert_eq!(heights(&|h| mirage.tax_at(h, 1).is_some()), 2);
        assert!(!BankPolicy::bellagio(1_000).shares_at(3_600, 1));
        let double = mirage.standing(2).unwrap();
        assert_eq!(
            (double.base.to_string().as_str(), double.shares),
            ("2000", 2_000)
        );
        assert_eq!(
            (mirage.standing(0), mirage.standing(WEIGHT + 1)),
            (None, None)
        );
    }

    #[test]
    fn values_out_of_range_are_seen() {
        let good = BankPolicy::mirage(1_000);
        let taxed = |change: &dyn Fn(&mut SavingsTax)| {
            let mut tax = good.tax.unwrap();
            change(&mut tax);
            BankPolicy {
                tax: Some(tax),
                ..good
            }
        };
        let bad = [
            BankPolicy { shares: 0, ..good },
            BankPolicy {
                shares: SHARES + 1,
                ..good
            },
            BankPolicy {
                baseline: Credits::ZERO,
                ..good
            },
            BankPolicy {
                baseline: Credits::MAX,
                ..good
            },
            BankPolicy {
                revenue: Revenue::Shares { every: 0 },
                ..good
            },
            BankPolicy {
                revenue: Revenue::Shares { every: PERIOD + 1 },
                ..good
            },
            taxed(&|tax| tax.ppm = 0),
            taxed(&|tax| tax.ppm = TAX_PPM + 1),
            taxed(&|tax| tax.every = 0),
            taxed(&|tax| tax.every = PERIOD + 1),
        ];
        for policy in bad {
            assert!(!policy.is_valid(), "{policy:?}");
        }
        let widest = BankPolicy {
            baseline: BASELINE,
            shares: SHARES,
            ..good
        };
        assert!(widest.is_valid() && widest.standing(WEIGHT).is_some());
        assert!(taxed(&|tax| tax.every = 0).tax_at(7, 1).is_none());
    }

    #[test]
    fn what_is_due_waits_for_the_boundary() {
        let mut policy = BankPolicy::mirage(1_000);
        policy.revenue = Revenue::Shares { every: 7 };
        // Slots of 4 heights: periods end at 7, 14, 21, 28, and 28 is a boundary itself.
        let boundaries = (1..=8).map(|slot| 4 * slot);
        let due: Vec<u64> = boundaries.filter(|b| policy.shares_at(*b, 4)).collect();
        assert_eq!(due, [8, 16, 24, 28]);
        // Periods shorter than a slot count as a slot.
        policy.revenue = Revenue::Shares { every: 1 };
        assert!((1..=8).all(|slot| policy.shares_at(4 * slot, 4)));
    }

    #[test]
    fn unknown_fields_are_refused() {
        let good = serde_json::to_value(BankPolicy::mirage(1_000)).unwrap();
        assert!(serde_json::from_value::<BankPolicy>(good.clone()).is_ok());
        for place in ["", "/tax", "/revenue/shares"] {
            let mut bad = good.clone();
            bad.pointer_mut(place).unwrap()["more"] = 1.into();
            assert!(
                serde_json::from_value::<BankPolicy>(bad).is_err(),
                "{place}"
            );
        }
    }
}
