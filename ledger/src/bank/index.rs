//! The price index of a class: the cost of its units compared with its first period.
//!
//! The units of a class are alike, but the ways to buy them are not: a firm unit is worth more than
//! one that can be preempted. So a class has an *item* for each way of sale, and within an item the
//! price is the unit value: payments over units sold. The index is Fisher's, chained:
//!
//! 1. Each item sold in this period and in some period before is compared with the last of these:
//!    prices `p0`, `p1`, quantities `q0`, `q1`. Items never sold before have no part yet; items not
//!    sold now wait with their last price.
//! 2. `L = sum(p1 q0) / sum(p0 q0)` (Laspeyres: then's basket) and `P = sum(p1 q1) / sum(p0 q1)`
//!    (Paasche: now's).
//! 3. The link is `sqrt(L * P)`, and the index is multiplied by it. Without a common item it stays.
//!
//! Why not Laspeyres alone, which needs no `q1`? Buyers of computing time wait for low prices, so
//! quantities are high where prices are low. Chained over prices that fall and come back, Laspeyres
//! climbs for ever; Fisher's formula run backwards is its own inverse, so prices and quantities
//! that return the same way bring it back to where it was. A little drift remains where quantities
//! lag behind prices. It grows with the number of links: take the epoch for a period, not the slot.
//!
//! Numbers are Q32 (see `fixed`), ratios and roots round down, the product rounds to nearest. Sums
//! of a basket have 28 bits behind the point: 2^63 (paid) times 2^32 (units) times 2^28, 16 of
//! them, are below 2^128. A link is clamped to `2^-32 ..= 2^32`, about, and the index likewise, so
//! that no period, however odd, ends the chain. Units given away have no price and do not count.
//! The index decides nothing, because an owner that trades with itself can move it.

use gridbay_protocol::fixed::ONE;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most items of a class: the ways of sale, twice over.
pub const ITEMS: usize = 16;
/// Micro-credits paid for an item in one period are below this.
pub const PAID: u64 = 1 << 63;
/// Units of an item sold in one period, each for one height or one slot, are below this: all units
/// of a class 262,144 times.
pub const UNITS: u64 = 1 << 32;

/// Bits behind the point of a basket's cost.
const COST_BITS: u32 = 28;

/// The sales of an item in one period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sales {
    /// Micro-credits paid, below [`PAID`].
    pub paid: u64,
    /// Units, each for the same time, below [`UNITS`].
    pub units: u64,
}

/// Why a period cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError<K> {
    /// More than [`ITEMS`] items, of all periods together.
    #[error("more than {ITEMS} items")]
    Items,
    /// Sales out of range.
    #[error("sales of {0} are out of range")]
    Range(K),
}

/// An index with what its next link needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "K: Ord + Deserialize<'de>"))]
pub struct Index<K> {
    /// The index in Q32, never zero.
    value: u64,
    /// The last sales of each item.
    last: BTreeMap<K, Sales>,
}

impl<K> Default for Index<K> {
    fn default() -> Index<K> {
        Index {
            value: ONE as u64,
            last: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Index<K> {
    /// The index in Q32: 2^32 before anything was sold twice.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The index after a further period.
    ///
    /// # Errors
    /// Too many items, or sales out of range.
    pub fn after(&self, period: &BTreeMap<K, Sales>) -> Result<Index<K>, IndexError<K>> {
        let mut next = self.clone();
        let mut pairs = Vec::new();
        for (item, now) in period {
            if now.paid >= PAID || now.units >= UNITS {
                return Err(IndexError::Range(item.clone()));
            }
            if now.paid == 0 || now.units == 0 {
                continue;
            }
            let before = next.last.insert(item.clone(), *now);
            pairs.extend(before.map(|before| (before, *now)));
        }
        if next.last.len() > ITEMS {
            return Err(IndexError::Items);
        }
        if let Some(link) = link(&pairs) {
            let product = u128::from(self.value) * u128::from(link);
            let rounded = product.saturating_add(ONE / 2) / ONE;
            next.value = u64::try_from(rounded).unwrap_or(u64::MAX).max(1);
        }
        Ok(next)
    }
}

/// Fisher's index in Q32 of (then, now), at most [`ITEMS`] of them in range and without zeros;
/// `None` without any.
fn link(pairs: &[(Sales, Sales)]) -> Option<u64> {
    if pairs.is_empty() {
        return None;
    }
    let sum = |cost: fn(&(Sales, Sales)) -> u128| pairs.iter().map(cost).sum::<u128>();
    let laspeyres = ratio(
        sum(|(then, now)| cost(now, then.units)),
        sum(|(then, _)| cost(then, then.units)),
    );
    let paasche = ratio(
        sum(|(_, now)| cost(now, now.units)),
        sum(|(then, now)| cost(then, now.units)),
    );
    // The root of the product of two Q32 is a Q32, and no larger than the larger of them.
    let root = (u128::from(laspeyres) * u128::from(paasche)).isqrt();
    Some(u64::try_from(root).unwrap_or(u64::MAX).max(1))
}

/// What `units` units cost at the price of some sales, with [`COST_BITS`] bits behind the point.
fn cost(sales: &Sales, units: u64) -> u128 {
    ((u128::from(sales.paid) * u128::from(units)) << COST_BITS) / u128::from(sales.units)
}

/// `a / b` in Q32, at least 1 and at most 2^64 - 1.
fn ratio(a: u128, b: u128) -> u64 {
    // Low bits of both go where `a` needs the room. That leaves `b` 64 bits or the quotient is
    // clamped anyway.
    let excess = (u128::BITS - a.leading_zeros()).saturating_sub(96);
    let quotient = ((a >> excess) << 32).checked_div(b >> excess);
    let bounded = quotient.and_then(|q| u64::try_from(q).ok());
    bounded.unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 1 << 32;

    fn period(sales: &[(&'static str, u64, u64)]) -> BTreeMap<&'static str, Sales> {
        let sales = sales.iter();
        let entry = |&(item, price, units): &(&'static str, u64, u64)| {
            let paid = price * units;
            (item, Sales { paid, units })
        };
        sales.map(entry).collect()
    }

    fn chain(periods: &[BTreeMap<&'static str, Sales>]) -> u64 {
        let index = Index::default();
        let after = |index: Index<_>, period| index.after(period).unwrap();
        periods.iter().fold(index, after).value()
    }

    #[test]
    fn one_item_is_a_ratio_of_prices() {
        let prices = [5_555, 7_000, 3_000, 9_999, 8_333];
        let periods: Vec<_> = prices
            .iter()
            .map(|p| period(&[("bid", *p, p % 17 + 1)]))
            .collect();
        let expect = u128::from(UNIT) * 8_333 / 5_555;
        assert!(u128::from(chain(&periods)).abs_diff(expect) <= 8);
    }

    #[test]
    fn worked_out_by_hand() {
        // L = (6*10 + 8*20) / (4*10 + 8*20) = 1.1; P = (6*5 + 8*15) / (4*5 + 8*15) = 150/140;
        // sqrt(1.1 * 15/14).
        let then = period(&[("bid", 4_000_000, 10), ("buy", 8_000_000, 20)]);
        let now = period(&[("bid", 6_000_000, 5), ("buy", 8_000_000, 15)]);
        assert_eq!(chain(&[then, now]) * 10_000 / UNIT, 10_856);
    }

    #[test]
    fn prices_that_return_bring_the_index_back() {
        let high = period(&[("bid", 8_000_000, 10), ("buy", 9_000_000, 20)]);
        let low = period(&[("bid", 2_000_000, 90), ("buy", 9_000_000, 5)]);
        let mut periods = vec![high.clone()];
        for _ in 0..50 {
            periods.extend([low.clone(), high.clone()]);
        }
        assert!(chain(&periods).abs_diff(UNIT) <= 200);
        // Laspeyres would be 2.6 times higher after each return: 0.769 down, 3.4 up.
        let basket = |at: &BTreeMap<_, Sales>, of: &BTreeMap<_, Sales>| -> u128 {
            at.iter()
                .map(|(item, sales)| cost(sales, of[item].units))
                .sum()
        };
        let down = ratio(basket(&low, &high), basket(&high, &high));
        let up = ratio(basket(&high, &low), basket(&low, &low));
        assert_eq!(u128::from(down) * u128::from(up) * 100 / (ONE * ONE), 261);
    }

    #[test]
    fn items_come_and_wait() {
        let first = period(&[("bid", 1_000, 10)]);
        // A dear new item is no rise of prices, and an item that is not sold keeps its last price.
        let second = period(&[("buy", 9_000, 10)]);
        let third = period(&[("bid", 1_500, 10), ("buy", 9_000, 10)]);
        let index = Index::default()
            .after(&first)
            .unwrap()
            .after(&second)
            .unwrap();
        assert_eq!(index.value(), UNIT);
        // (1,500 + 9,000) / (1,000 + 9,000), in both baskets.
        let index = chain(&[first, second, third]);
        assert!(index.abs_diff(UNIT * 105 / 100) <= 2);
    }

    #[test]
    fn odd_periods_do_not_end_the_chain() {
        let sold = |paid, units| BTreeMap::from([("bid", Sales { paid, units })]);
        let most = Index::default().after(&sold(1, UNITS - 1)).unwrap();
        let most = most.after(&sold(PAID - 1, 1)).unwrap();
        assert_eq!(most.value(), u64::MAX);
        let least = most.after(&sold(1, UNITS - 1)).unwrap();
        assert!(least.value() >= 1);
        for free in [sold(0, 5), sold(0, 0), sold(7, 0)] {
            assert_eq!(least.after(&free).unwrap(), least);
        }
        assert_eq!(least.after(&sold(PAID, 1)), Err(IndexError::Range("bid")));
        assert_eq!(least.after(&sold(1, UNITS)), Err(IndexError::Range("bid")));
        let sixteen = |from: u64| -> BTreeMap<u64, Sales> {
            let sales = Sales {
                paid: PAID - 1,
                units: UNITS - 1,
            };
            (from..from + 16).map(|item| (item, sales)).collect()
        };
        let full = Index::default().after(&sixteen(0)).unwrap();
        assert_eq!(full.after(&sixteen(0)).unwrap().value(), UNIT);
        assert_eq!(full.after(&sixteen(1)), Err(IndexError::Items));
    }
}
