//! Unit prices in descending order, with sums; and the same list with one owner's units taken out.

use crate::mechanism::meter;

/// Descending prices, followed by as many units at the reserve as anybody asks for.
#[derive(Debug)]
pub(super) struct Ranking {
    prices: Vec<u64>,
    /// `sums[n]` = sum of the first n prices.
    sums: Vec<u128>,
    reserve: u64,
}

impl Ranking {
    /// Ranks `prices`, given in any order, each at least `reserve`.
    pub(super) fn new(mut prices: Vec<u64>, reserve: u64) -> Self {
        prices.sort_unstable_by(|a, b| b.cmp(a));
        meter::steps(prices.len());
        let mut sums = Vec::with_capacity(prices.len() + 1);
        let mut sum = 0u128;
        sums.push(sum);
        for &price in &prices {
            sum += u128::from(price);
            sums.push(sum);
        }
        Ranking {
            prices,
            sums,
            reserve,
        }
    }

    fn at(&self, position: usize) -> u64 {
        self.prices.get(position).copied().unwrap_or(self.reserve)
    }

    fn sum(&self, count: usize) -> u128 {
        let ranked = count.min(self.prices.len());
        self.sums[ranked] + (count - ranked) as u128 * u128::from(self.reserve)
    }

    /// Sum of the first `count` prices when the units `own` are taken out of the list.
    ///
    /// `own` is descending and part of the list. An own unit as dear as the unit at the border
    /// may lie on either side of it: both readings give one sum, so values decide, not places.
    pub(super) fn sum_without(&self, count: usize, own: impl Iterator<Item = u64>) -> u128 {
        let (mut skipped, mut theirs) = (0, 0u128);
        for price in own {
            meter::steps(1);
            if price < self.at(count + skipped) {
                break;
            }
            skipped += 1;
            theirs += u128::from(price);
        }
        self.sum(count + skipped) - theirs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_units_are_skipped_and_the_reserve_pads() {
        let ranking = Ranking::new(vec![3, 9, 5, 5], 2);
        assert_eq!(ranking.sum_without(2, [].into_iter()), 14);
        assert_eq!(ranking.sum_without(2, [9, 5].into_iter()), 8);
        assert_eq!(ranking.sum_without(2, [3].into_iter()), 14);
        assert_eq!(ranking.sum_without(6, [5].into_iter()), 9 + 5 + 3 + 2 * 3);
    }
}
