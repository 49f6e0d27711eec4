//! Units in a row of lots, ascending by price, so that the cheapest are found without going through
//! all of them: a tree of sums. A change and a question cost the logarithm of the lots.

/// Units, and their cost together.
type Sum = (u64, u128);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    prices: Vec<u64>,
    /// The sum of node n is that of its children, 2n and 2n + 1; the lots are the last half.
    tree: Vec<Sum>,
}

impl Sums {
    /// Lots as price and units, ascending by price.
    pub(super) fn new(lots: impl Iterator<Item = (u64, u32)>) -> Sums {
        let lots: Vec<(u64, u32)> = lots.collect();
        let first = lots.len().next_power_of_two();
        let mut tree = vec![(0, 0); 2 * first];
        for (at, (price, units)) in lots.iter().enumerate() {
            tree[first + at] = sum(*price, (*units).into());
        }
        for node in (1..first).rev() {
            tree[node] = both(&tree, node);
        }
        let prices = lots.into_iter().map(|(price, _)| price).collect();
        Sums { prices, tree }
    }
    fn first(&self) -> usize {
        self.tree.len() / 2
    }
    /// Units of all lots.
    pub(super) fn units(&self) -> u64 {
        self.tree.get(1).map_or(0, |(units, _)| *units)
    }
    /// Units of one lot.
    pub(super) fn of(&self, at: usize) -> u32 {
        let (units, _) = self.tree[self.first() + at];
        u32::try_from(units).unwrap_or(u32::MAX)
    }
    /// Takes units from a lot.
    pub(super) fn take(&mut self, at: usize, units: u32) {
        let mut node = self.first() + at;
        let left = self.tree[node].0.saturating_sub(units.into());
        self.tree[node] = sum(self.prices[at], left);
        while node > 1 {
            node /= 2;
            self.tree[node] = both(&self.tree, node);
        }
    }
    /// The cost of the cheapest units; `None` if there are not so many.
    pub(super) fn cost(&self, units: u32) -> Option<u128> {
        let mut left = u64::from(units);
        if self.units() < left {
            return None;
        }
        let (mut node, mut cost) = (1, 0);
        while node < self.first() {
            node *= 2;
            let (here, price) = self.tree[node];
            if here < left {
                (left, cost, node) = (left - here, cost + price, node + 1);
            }
        }
        let price = self.prices.get(node - self.first()).copied();
        Some(cost + u128::from(price.unwrap_or(0)) * u128::from(left))
    }
    /// The cheapest units, by lot: as many as asked for, or all.
    pub(super) fn cheapest(&self, units: u32) -> Vec<(usize, u32)> {
        let (mut left, mut found) = (units, Vec::new());
        self.gather(1, &mut left, &mut found);
        found
    }
    fn gather(&self, node: usize, left: &mut u32, found: &mut Vec<(usize, u32)>) {
        if *left == 0 || self.tree.get(node).is_none_or(|(units, _)| *units == 0) {
            return;
        }
        if node >= self.first() {
            let at = node - self.first();
            let units = self.of(at).min(*left);
            *left -= units;
            return found.push((at, units));
        }
        self.gather(2 * node, left, found);
        self.gather(2 * node + 1, left, found);
    }
}

fn sum(price: u64, units: u64) -> Sum {
    (units, u128::from(price) * u128::from(units))
}

fn both(tree: &[Sum], node: usize) -> Sum {
    let (left, right) = (tree[2 * node], tree[2 * node + 1]);
    (left.0 + right.0, left.1 + right.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cheapest_units_are_those_of_a_search(
            lots in prop::collection::vec((0..9u64, 0..5u32), 0..12),
            taken in prop::collection::vec((0..12usize, 0..5u32), 0..6),
        ) {
            let mut lots = lots;
            lots.sort_unstable();
            let mut sums = Sums::new(lots.iter().copied());
            for (at, units) in taken {
                if let Some(lot) = lots.get_mut(at) {
                    lot.1 = lot.1.saturating_sub(units);
                    sums.take(at, units);
                }
            }
            let all: u32 = lots.iter().map(|(_, units)| units).sum();
            prop_assert_eq!(sums.units(), u64::from(all));
            for want in 0..=all + 1 {
                let (mut left, mut cost, mut found) = (want, 0, Vec::new());
                for (at, (price, units)) in lots.iter().enumerate() {
                    let here = left.min(*units);
                    (left, cost) = (left - here, cost + u128::from(*price) * u128::from(here));
                    found.extend((here > 0).then_some((at, here)));
                }
                prop_assert_eq!(sums.cost(want), (left == 0).then_some(cost));
                prop_assert_eq!(sums.cheapest(want), found);
            }
        }
    }
}
