//! Quantities with units: money, prices, counts. Integers only, checked arithmetic only.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Micro-credits in one credit.
pub const MICROS_PER_CREDIT: u64 = 1_000_000;

/// An amount of money in micro-credits, never negative, at most `i64::MAX`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "u64", into = "u64")]
pub struct Credits(u64);

impl TryFrom<u64> for Credits {
    type Error = OutOfRange;
    fn try_from(micros: u64) -> Result<Credits, OutOfRange> {
        Credits::from_micros(micros).ok_or(OutOfRange { micros })
    }
}

impl From<Credits> for u64 {
    fn from(amount: Credits) -> u64 {
        amount.0
    }
}

/// More micro-credits than an amount may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{micros} micro-credits are more than an amount may have")]
pub struct OutOfRange {
    /// Micro-credits found.
    pub micros: u64,
}

impl Credits {
    /// Nothing.
    pub const ZERO: Credits = Credits(0);
    /// The largest amount.
    pub const MAX: Credits = Credits(i64::MAX as u64);

    /// An amount of `micros` micro-credits, if it is in range.
    pub const fn from_micros(micros: u64) -> Option<Credits> {
        if micros <= Self::MAX.0 {
            Some(Credits(micros))
        } else {
            None
        }
    }
    /// The same, for mechanism results held in wider integers.
    pub fn from_wide(micros: u128) -> Option<Credits> {
        u64::try_from(micros).ok().and_then(Credits::from_micros)
    }
    /// Micro-credits.
    pub const fn micros(self) -> u64 {
        self.0
    }
    /// Sum, unless out of range.
    pub fn checked_add(self, other: Credits) -> Option<Credits> {
        self.0.checked_add(other.0).and_then(Credits::from_micros)
    }
    /// Difference, unless negative.
    pub fn checked_sub(self, other: Credits) -> Option<Credits> {
        self.0.checked_sub(other.0).map(Credits)
    }
    /// Difference, or nothing if negative.
    pub fn saturating_sub(self, other: Credits) -> Credits {
        Credits(self.0.saturating_sub(other.0))
    }
    /// Product, unless out of range.
    pub fn checked_mul(self, factor: u64) -> Option<Credits> {
        self.0.checked_mul(factor).and_then(Credits::from_micros)
    }
    /// `self * num / den`, rounded down. `None` if `den` is 0 or the result is out of range.
    pub fn share_floor(self, num: u64, den: u64) -> Option<Credits> {
        let wide = u128::from(self.0).checked_mul(u128::from(num))?;
        Credits::from_wide(wide.checked_div(u128::from(den))?)
    }
    /// `self * num / den`, rounded up. `None` if `den` is 0 or the result is out of range.
    pub fn share_ceil(self, num: u64, den: u64) -> Option<Credits> {
        let wide = u128::from(self.0).checked_mul(u128::from(num))?;
        if den == 0 {
            return None;
        }
        Credits::from_wide(wide.div_ceil(u128::from(den)))
    }
    /// Sum of many, unless out of range.
    pub fn sum(amounts: impl IntoIterator<Item = Credits>) -> Option<Credits> {
        amounts
            .into_iter()
            .try_fold(Credits::ZERO, Credits::checked_add)
    }
}

/// Credits with up to six decimals, trailing zeros cut: `10`, `0.005555`.
impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / MICROS_PER_CREDIT, self.0 % MICROS_PER_CREDIT);
        if rest == 0 {
            return f.pad(&whole.to_string());
        }
        let text = format!("{whole}.{rest:06}");
        f.pad(text.trim_end_matches('0'))
    }
}

/// Text that is not an amount of credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of credits: want digits, at most six decimals, as in 10 or 0.25")]
pub struct NotCredits;

impl FromStr for Credits {
    type Err = NotCredits;
    fn from_str(text: &str) -> Result<Credits, NotCredits> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 6 {
            return Err(NotCredits);
        }
        let whole: u64 = whole.parse().map_err(|_| NotCredits)?;
        let micros: u64 = format!("{rest:0<6}").parse().map_err(|_| NotCredits)?;
        whole
            .checked_mul(MICROS_PER_CREDIT)
            .and_then(|w| w.checked_add(micros))
            .and_then(Credits::from_micros)
            .ok_or(NotCredits)
    }
}

/// Milliseconds in one hour.
pub const MS_PER_HOUR: u64 = 3_600_000;

/// A price in micro-credits for one unit during one slot.
///
/// Users speak of credits per node-hour; [`Price::from_hourly`] and [`Price::hourly`] convert
/// with the network's nominal length of a slot.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Price(pub u64);

impl Price {
    /// The highest price a bid, a reserve or a buy price may name (2^40 micro-credits): all units
    /// of a class at this price for one slot are still an amount of [`Credits`]. Over many slots
    /// they are not, so products with slots are checked.
    pub const MAX: Price = Price(1 << 40);

    /// Price per slot of a price per hour, rounded down. `None` above [`Price::MAX`].
    pub fn from_hourly(per_hour: Credits, slot_ms: u64) -> Option<Price> {
        let wide = u128::from(per_hour.micros()) * u128::from(slot_ms) / u128::from(MS_PER_HOUR);
        u64::try_from(wide)
            .ok()
            .map(Price)
            .filter(|p| *p <= Price::MAX)
    }
    /// Price per hour of this price per slot, rounded to the nearest micro-credit.
    pub fn hourly(self, slot_ms: u64) -> Credits {
        let slot_ms = u128::from(slot_ms.max(1));
        let wide = (u128::from(self.0) * u128::from(MS_PER_HOUR) + slot_ms / 2) / slot_ms;
        Credits::from_wide(wide).unwrap_or(Credits::MAX)
    }
    /// The price per hour that somebody has set: of all amounts that are rounded to this price the
    /// one with the fewest decimals, so that `10` is shown as `10` and not as the rounded `9.999`.
    pub fn hourly_as_set(self, slot_ms: u64) -> Credits {
        let mut step = MICROS_PER_CREDIT;
        while step > 1 {
            let least = self.hourly(slot_ms).micros().saturating_sub(1);
            let shortest = least
                .div_ceil(step)
                .checked_mul(step)
                .and_then(Credits::from_micros);
            if let Some(amount) = shortest
                && Price::from_hourly(amount, slot_ms) == Some(self)
            {
                return amount;
            }
            step /= 10;
        }
        self.hourly(slot_ms)
    }
    /// What `units` units cost for one slot.
    pub fn times(self, units: u64) -> Option<Credits> {
        self.0.checked_mul(units).and_then(Credits::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_of_credits() {
        for (text, micros) in [("10", 10_000_000), ("0.005555", 5_555), ("1.5", 1_500_000)] {
            let amount: Credits = text.parse().unwrap();
            assert_eq!(
                (amount.micros(), amount.to_string().as_str()),
                (micros, text)
            );
        }
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "1e3",
            "0.0000001",
            "99999999999999999999",
            "1 ",
        ] {
            assert_eq!(bad.parse::<Credits>(), Err(NotCredits), "{bad:?}");
        }
    }

    #[test]
    fn roundings_are_named_and_pinned() {
        let ten = Credits::from_micros(10).unwrap();
        assert_eq!(ten.share_floor(1, 3).unwrap().micros(), 3);
        assert_eq!(ten.share_ceil(1, 3).unwrap().micros(), 4);
        assert_eq!(ten.share_floor(1, 0), None);
        assert_eq!(ten.share_ceil(1, 0), None);
        assert_eq!(Credits::MAX.checked_add(ten), None);
        assert_eq!(Credits::MAX.checked_mul(2), None);
        assert_eq!(ten.checked_sub(Credits::MAX), None);
    }

    #[test]
    fn hourly_prices() {
        let price = Price::from_hourly("10".parse().unwrap(), 2_000).unwrap();
        assert_eq!(price, Price(5_555));
        assert_eq!(price.hourly(2_000).to_string(), "9.999");
        assert_eq!(Price::from_hourly(Credits::MAX, u64::MAX), None);
    }
}
