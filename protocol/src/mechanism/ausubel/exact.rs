//! Rule `exact` (A.4): the allocation of greatest net value, and VCG payments.
//!
//! Net value of k units to a bidder: their prices less the reserve on each. The best total W is
//! sought over all allocations within the supply; among the best ones the lexicographically largest
//! in (time, id) order is taken. A winner of A units pays `reserve * A + (W without it - (W - its
//! net value))`.
//!
//! 1. Nobody all-or-none: `divisible`, by selection.
//! 2. Otherwise the divisible bidders are one [`Curve`] and every all-or-none bidder an [`Item`].
//!    `suffix[i][c]` = most that the items i.. give with capacity c. W is the best split of the
//!    supply between the curve and `suffix[0]`.
//! 3. Bidders are walked in (time, id) order. At each step some prefixes y of the curve still
//!    belong to a best allocation. The longest such y gives a divisible bidder the most units, and
//!    only those y stay open that give it as many: a lower bound on y. An all-or-none bidder gets
//!    the most units that leave some y open.
//! 4. `externality` computes the payments, `sponsor` raises those of accounts that hang together.

use super::curve::Curve;
use super::maxplus::{Sum, best_split, spread};
use super::prepare::{Lot, Prepared};
use super::{Share, divisible, externality, sponsor};
use crate::mechanism::meter;

/// Shares parallel to the lots.
pub(super) fn solve(prepared: &Prepared<'_>) -> Vec<Share> {
    if prepared.lots.iter().all(Lot::divisible) {
        return divisible::solve(prepared);
    }
    // Every sum met is one of at most three times `capacity` net prices: two tables' worth, and
    // as much again where the curve is followed beyond the capacity.
    let dearest = prepared
        .lots
        .iter()
        .map(|lot| lot.prices[0])
        .max()
        .unwrap_or(0);
    let bound = u128::from(dearest) * (3 * capacity(prepared) as u128);
    if bound < 1 << 62 {
        Mixed::<i64>::new(prepared).shares()
    } else {
        Mixed::<i128>::new(prepared).shares()
    }
}

/// Units that can be sold at most.
fn capacity(prepared: &Prepared<'_>) -> usize {
    let wanted: usize = prepared.lots.iter().map(Lot::len).sum();
    wanted.min(prepared.supply as usize)
}

/// An all-or-none bidder: nothing, or `head ..` units.
#[derive(Debug)]
pub(super) struct Item<N> {
    pub(super) lot: usize,
    pub(super) head: usize,
    /// Net value of head, head + 1, ... units; concave, never negative.
    pub(super) worth: Vec<N>,
}

impl<N: Sum> Item<N> {
    fn new(index: usize, lot: &Lot<'_>, reserve: u64) -> Self {
        let head = lot.head as usize;
        // A.4: w(k) for k from q on.
        let mut sum = lot.value(lot.head) - u128::from(reserve) * head as u128;
        meter::steps(lot.len());
        let mut worth = vec![N::of(sum)];
        for &price in &lot.prices[head..] {
            sum += u128::from(price - reserve);
            worth.push(N::of(sum));
        }
        Item {
            lot: index,
            head,
            worth,
        }
    }

    /// Net value of `units`, which is 0 or at least the head.
    pub(super) fn value(&self, units: u32) -> N {
        match (units as usize).checked_sub(self.head) {
            Some(further) => self.worth[further],
            None => N::ZERO,
        }
    }

    /// Adds the bidder to a table of best values.
    pub(super) fn add_to(&self, table: &[N]) -> Vec<N> {
        meter::steps(table.len());
        let mut with = table.to_vec();
        spread(table, self.head, &self.worth, &mut with);
        with
    }
}

/// A market with all-or-none bidders, and its tables.
#[derive(Debug)]
pub(super) struct Mixed<'a, N> {
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) capacity: usize,
    pub(super) curve: Curve<N>,
    pub(super) items: Vec<Item<N>>,
    /// `suffix[i][c]` = most that the items i.. give with capacity c.
    pub(super) suffix: Vec<Vec<N>>,
    /// The greatest net value.
    pub(super) best: N,
}

impl<'a, N: Sum> Mixed<'a, N> {
    fn new(prepared: &'a Prepared<'a>) -> Self {
        let capacity = capacity(prepared);
        let charged = prepared
            .lots
            .iter()
            .filter(|lot| lot.divisible() && lot.bidder.is_some());
        let reach = charged.map(Lot::len).max().unwrap_or(0);
        let curve = Curve::new(prepared, capacity, reach);
        let lumps = prepared
            .lots
            .iter()
            .enumerate()
            .filter(|(_, lot)| !lot.divisible());
        let items: Vec<Item<N>> = lumps
            .map(|(index, lot)| Item::new(index, lot, prepared.reserve))
            .collect();
        // A.4: g[i][c].
        let mut suffix = vec![vec![N::ZERO; capacity + 1]];
        for item in items.iter().rev() {
            let with = item.add_to(&suffix[suffix.len() - 1]);
            suffix.push(with);
        }
        suffix.reverse();
        let best = best_split(&curve.sums, &suffix[0], 0, capacity);
        Mixed {
            prepared,
            capacity,
            curve,
            items,
            suffix,
            best,
        }
    }

    fn shares(&self) -> Vec<Share> {
        let units = Walk::new(self).units();
        let mut shares = externality::charge(self, &units);
        sponsor::charge(self, &mut shares);
        shares
    }
}

/// Step 3.
struct Walk<'a, N> {
    market: &'a Mixed<'a, N>,
    /// The curve as far as it can be sold.
    curve: &'a [N],
    /// Capacity and net value that bidders still to come (and the whole curve) share.
    free: usize,
    owed: N,
    /// Prefixes below this are closed.
    low: usize,
    /// The longest open prefix.
    high: usize,
}

impl<'a, N: Sum> Walk<'a, N> {
    fn new(market: &'a Mixed<'a, N>) -> Self {
        let end = market.curve.len().min(market.capacity);
        let curve = &market.curve.sums[..=end];
        let (free, owed) = (market.capacity, market.best);
        let mut walk = Walk {
            market,
            curve,
            free,
            owed,
            low: 0,
            high: 0,
        };
        walk.lower_high(0);
        walk
    }

    /// The units of every lot.
    fn units(mut self) -> Vec<u32> {
        let market = self.market;
        let mut items = (1..).zip(&market.items).peekable();
        let mut units = Vec::with_capacity(market.prepared.lots.len());
        for lot in 0..market.prepared.lots.len() {
            units.push(match items.next_if(|(_, item)| item.lot == lot) {
                Some((next, item)) => self.lump(item, next) as u32,
                None => self.single(lot) as u32,
            });
        }
        units
    }

    /// Units of a divisible lot: those in the longest open prefix.
    fn single(&mut self, lot: usize) -> usize {
        let places = self.market.curve.places(lot);
        let units = places.partition_point(|&place| (place as usize) < self.high);
        if let Some(last) = places[..units].last() {
            self.low = self.low.max(*last as usize + 1);
        }
        units
    }

    /// Units of an all-or-none lot: the most that leave a prefix open. `next` is the item behind.
    fn lump(&mut self, item: &Item<N>, next: usize) -> usize {
        let units = self.most_units(item, &self.market.suffix[next]);
        self.free -= units;
        self.owed = self.owed.minus(item.value(units as u32));
        self.lower_high(next);
        units
    }

    fn most_units(&self, item: &Item<N>, later: &[N]) -> usize {
        // A.4: the largest k with w(k) + g[i+1][c-k] = g[i][c].
        let choices = (item.head..=self.free).zip(&item.worth);
        if item.worth.len() <= 16 {
            let open = |&(units, &value): &(usize, &N)| {
                let rest = best_split(self.curve, later, self.low, self.free - units);
                rest != N::NONE && value.plus(rest) == self.owed
            };
            return choices
                .filter(open)
                .map(|(units, _)| units)
                .last()
                .unwrap_or(0);
        }
        // Many choices: all capacities at once, then one look per choice.
        let mut rest = vec![N::NONE; self.free + 1];
        spread(
            &later[..=self.free],
            self.low,
            &self.curve[self.low..],
            &mut rest,
        );
        let open = |&(units, &value): &(usize, &N)| {
            meter::steps(1);
            let rest = rest[self.free - units];
            rest != N::NONE && value.plus(rest) == self.owed
        };
        choices
            .filter(open)
            .map(|(units, _)| units)
            .last()
            .unwrap_or(0)
    }

    /// Finds the longest open prefix when the items `next..` are still to come.
    fn lower_high(&mut self, next: usize) {
        let later = &self.market.suffix[next];
        let open = |&y: &usize| {
            meter::steps(1);
            self.curve[y].plus(later[self.free - y]) == self.owed
        };
        let top = self.free.min(self.curve.len() - 1);
        let high = (self.low..=top).rev().find(open);
        self.high = high.expect("a best allocation extends every choice made so far");
    }
}
