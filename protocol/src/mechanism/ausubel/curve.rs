//! All divisible bidders as one concave curve: their net unit prices merged in descending order.
//!
//! For any number of units that goes to divisible bidders, the best and lexicographically largest
//! way to spread them is a prefix of this order (dearest first, ties by (time, id)). So these
//! allocations are nested, and one number, the length of the prefix, stands for all of them.

use super::maxplus::Sum;
use super::prepare::Prepared;
use crate::mechanism::meter;

/// The merged order, as far as a clearing can look into it.
#[derive(Debug)]
pub(super) struct Curve<N> {
    /// `sums[n]` = value of the n dearest units.
    pub(super) sums: Vec<N>,
    /// `places[starts[lot] .. starts[lot + 1]]` = ascending places of the lot's units in the order.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl<N: Sum> Curve<N> {
    /// Merges the divisible lots. `reach` units beyond `capacity` are kept: as many as the longest
    /// charged bid, whose removal lets that many others move up.
    pub(super) fn new(prepared: &Prepared<'_>, capacity: usize, reach: usize) -> Self {
        let mut order: Vec<(u64, u32)> = Vec::new();
        for (index, lot) in (0u32..).zip(&prepared.lots) {
            if lot.divisible() {
                order.extend(lot.prices.iter().map(|&p| (p - prepared.reserve, index)));
            }
        }
        let by_worth = |a: &(u64, u32), b: &(u64, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        meter::steps(order.len());
        let kept = capacity + reach;
        if kept < order.len() {
            order.select_nth_unstable_by(kept, by_worth);
            order.truncate(kept);
        }
        order.sort_unstable_by(by_worth);
        let mut sums = Vec::with_capacity(order.len() + 1);
        let mut sum = N::ZERO;
        sums.push(sum);
        for &(net, _) in &order {
            sum = sum.plus(N::of(u128::from(net)));
            sums.push(sum);
        }
        let (starts, places) = index(&order, prepared.lots.len());
        Curve {
            sums,
            starts,
            places,
        }
    }

    /// Units in the order.
    pub(super) fn len(&self) -> usize {
        self.sums.len() - 1
    }

    /// Where the units of a lot stand, dearest first.
    pub(super) fn places(&self, lot: usize) -> &[u32] {
        &self.places[self.starts[lot] as usize..self.starts[lot + 1] as usize]
    }

    /// The curve as a table of capacities 0 ..= `capacity`; flat where units run out.
    pub(super) fn table(&self, capacity: usize) -> Vec<N> {
        meter::steps(capacity + 1);
        let last = self.sums[self.len().min(capacity)];
        let mut table = self.sums[..=self.len().min(capacity)].to_vec();
        table.resize(capacity + 1, last);
        table
    }
}

/// Groups the places of an order by lot.
fn index(order: &[(u64, u32)], lots: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; lots + 1];
    for &(_, lot) in order {
        starts[lot as usize + 1] += 1;
    }
    for lot in 0..lots {
        starts[lot + 1] += starts[lot];
    }
    let mut next = starts.clone();
    let mut places = vec![0u32; order.len()];
    for (place, &(_, lot)) in (0u32..).zip(order) {
        let slot = &mut next[lot as usize];
        places[*slot as usize] = place;
        *slot += 1;
    }
    (starts, places)
}
