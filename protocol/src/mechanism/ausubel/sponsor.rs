//! The sponsor rule: to split a bid over several accounts of one sponsor gains nothing.
//!
//! With all-or-none bids about, VCG has a leak: two accounts that each win a part can both pay
//! little or nothing, because without either of them the other still stands in the rivals' way. So,
//! under rule `exact`:
//!
//! 1. The winners of one sponsor pay together at least the VCG payment of their joint removal,
//!    `reserve * units + (W without them - (W - their net value))`.
//! 2. If their own payments come to less, the excess is split in proportion to headroom, a winner's
//!    stated value of its units less its payment, by largest remainders, ties to the smaller (time,
//!    id).
//!
//! Nobody pays above its bid: W without them is at most W, so the joint payment is at most their
//! stated value together, and the excess at most their headroom. However many accounts a sponsor
//! uses, its units cost it at least the payment of one single bidder for them. So one truthful bid
//! is the best it can do.
//!
//! Where nobody is all-or-none, nothing is left to do: the value that a bidder adds to the total
//! then falls with every further bidder, so the payments of several always reach that of their
//! joint removal.
//!
//! Let C be the capacity, K the sponsors with several winners. Their removals need the tables of
//! the all-or-none bidders twice more than the payments of single bidders do, O(C) for each
//! sponsor, and O(C log C) for one that has divisible and all-or-none winners.

use super::Share;
use super::exact::{Item, Mixed};
use super::maxplus::{Sum, best_split, spread};
use crate::apportion;
use crate::mechanism::meter;
use std::collections::BTreeMap;

/// The winners of one sponsor, at least two, as lots in (time, id) order.
struct Group {
    lots: Vec<usize>,
    /// Positions of the all-or-none ones among the items.
    items: Vec<usize>,
    /// Whether there are divisible ones.
    singles: bool,
}

/// Raises the payments of sponsors whose winners pay less than for their joint removal.
pub(super) fn charge<N: Sum>(market: &Mixed<'_, N>, shares: &mut [Share]) {
    let groups = groups(market, shares);
    if groups.is_empty() {
        return;
    }
    for (group, without) in groups.iter().zip(without(market, &groups)) {
        raise(market, group, without, shares);
    }
}

fn groups<N: Sum>(market: &Mixed<'_, N>, shares: &[Share]) -> Vec<Group> {
    let mut items = (0..).zip(&market.items).peekable();
    let mut by_sponsor: BTreeMap<u32, Group> = BTreeMap::new();
    for (index, (lot, share)) in market.prepared.lots.iter().zip(shares).enumerate() {
        let item = items.next_if(|(_, item)| item.lot == index);
        let (Some(sponsor), true) = (lot.sponsor, share.units > 0) else {
            continue;
        };
        let group = by_sponsor.entry(sponsor).or_insert(Group {
            lots: vec![],
            items: vec![],
            singles: false,
        });
        group.lots.push(index);
        match item {
            Some((item, _)) => group.items.push(item),
            None => group.singles = true,
        }
    }
    let several = by_sponsor.into_values().filter(|g| g.lots.len() > 1);
    several.collect()
}

/// Steps 1 and 2 for one sponsor.
fn raise<N: Sum>(market: &Mixed<'_, N>, group: &Group, without: N, shares: &mut [Share]) {
    let reserve = u128::from(market.prepared.reserve);
    let (mut value, mut least, mut paid) = (0, 0, 0);
    let mut headroom = Vec::with_capacity(group.lots.len());
    for &lot in &group.lots {
        let (stated, share) = (
            market.prepared.lots[lot].value(shares[lot].units),
            shares[lot],
        );
        value += stated;
        least += reserve * u128::from(share.units);
        paid += share.pay;
        headroom.push(stated - share.pay);
    }
    let own = N::of(value - least);
    let joint = least + without.plus(own).minus(market.best).get();
    let excess = joint.saturating_sub(paid);
    let extra = apportion::wide(excess, &headroom);
    for (&lot, extra) in group.lots.iter().zip(extra) {
        shares[lot].pay += extra;
    }
}

/// For each sponsor the greatest net value without its winners.
fn without<N: Sum>(market: &Mixed<'_, N>, groups: &[Group]) -> Vec<N> {
    let mut without = vec![N::NONE; groups.len()];
    let which = |wanted: &dyn Fn(&Group) -> bool| -> Vec<usize> {
        (0..groups.len()).filter(|&g| wanted(&groups[g])).collect()
    };
    // Only all-or-none winners: the whole curve stays.
    let lumps = which(&|g| !g.singles);
    let curve = market.curve.table(market.capacity);
    for_each_removal(market, groups, &lumps, curve, |g, before, behind| {
        without[g] = best_split(before, behind, 0, market.capacity);
    });
    if lumps.len() == groups.len() {
        return without;
    }
    let merged = Merged::new(market, groups);
    // Only divisible winners: all items stay.
    for g in which(&|g| g.items.is_empty()) {
        without[g] = best_split(&merged.without(g), &market.suffix[0], 0, market.capacity);
    }
    let both = which(&|g| g.singles && !g.items.is_empty());
    let nothing = vec![N::ZERO; market.capacity + 1];
    for_each_removal(market, groups, &both, nothing, |g, before, behind| {
        meter::steps(before.len());
        let mut with_curve = before.to_vec();
        spread(before, 0, &merged.without(g), &mut with_curve);
        without[g] = best_split(&with_curve, behind, 0, market.capacity);
    });
    without
}

/// Calls `found` with two tables for each of the `chosen` groups, in their order: `base` with all
/// items before, and all items behind, so that together they hold every item but the group's. Items
/// of no chosen group count as before.
fn for_each_removal<N: Sum>(
    market: &Mixed<'_, N>,
    groups: &[Group],
    chosen: &[usize],
    base: Vec<N>,
    mut found: impl FnMut(usize, &[N], &[N]),
) {
    if chosen.is_empty() {
        return;
    }
    let of = |g: usize| groups[g].items.iter().map(|&i| &market.items[i]);
    let add = |table: Vec<N>, item: &Item<N>| item.add_to(&table);
    let mut behind = vec![vec![N::ZERO; market.capacity + 1]];
    for &g in chosen[1..].iter().rev() {
        meter::steps(market.capacity + 1);
        let with = of(g).fold(behind[behind.len() - 1].clone(), add);
        behind.push(with);
    }
    let mut apart = vec![false; market.items.len()];
    for &i in chosen.iter().flat_map(|&g| &groups[g].items) {
        apart[i] = true;
    }
    let others = market.items.iter().zip(apart);
    let others = others.filter(|(_, apart)| !apart).map(|(item, _)| item);
    let mut before = others.fold(base, add);
    for (&g, behind) in chosen.iter().zip(behind.iter().rev()) {
        found(g, &before, behind);
        before = of(g).fold(before, add);
    }
}

/// The dearest divisible units and whose they are, far enough to take any one sponsor's winners
/// out.
///
/// The best `capacity` units without a group hold no more than `capacity` of any other group. So of
/// every group that many are kept, and of what is kept twice as many: at most half of these go with
/// a group.
struct Merged {
    capacity: usize,
    /// Net price and group, dearest first; units of none of the groups have the number of groups.
    order: Vec<(u64, usize)>,
}

impl Merged {
    fn new<N: Sum>(market: &Mixed<'_, N>, groups: &[Group]) -> Self {
        let prepared = market.prepared;
        let mut owner = vec![groups.len(); prepared.lots.len()];
        for (g, group) in groups.iter().enumerate() {
            for &lot in &group.lots {
                owner[lot] = g;
            }
        }
        let mut lots: Vec<usize> = (0..prepared.lots.len())
            .filter(|&lot| prepared.lots[lot].divisible())
            .collect();
        lots.sort_by_key(|&lot| owner[lot]);
        let capacity = market.capacity;
        let mut order = Vec::new();
        for alike in lots.chunk_by(|&a, &b| owner[a] == owner[b]) {
            let prices = alike.iter().flat_map(|&lot| prepared.lots[lot].prices);
            let mut units: Vec<(u64, usize)> = prices
                .map(|price| (price - prepared.reserve, owner[alike[0]]))
                .collect();
            meter::steps(units.len());
            keep_dearest(&mut units, capacity);
            order.append(&mut units);
        }
        keep_dearest(&mut order, 2 * capacity);
        order.sort_unstable_by(|a, b| b.cmp(a));
        Merged { capacity, order }
    }

    /// Value of the n dearest units of all others, for n = 0, 1, 2...
    fn without<N: Sum>(&self, group: usize) -> Vec<N> {
        meter::steps(self.order.len());
        let mut sums = Vec::with_capacity(self.capacity + 1);
        let mut sum = N::ZERO;
        sums.push(sum);
        let others = self.order.iter().filter(|(_, owner)| *owner != group);
        for &(net, _) in others.take(self.capacity) {
            sum = sum.plus(N::of(u128::from(net)));
            sums.push(sum);
        }
        sums
    }
}

fn keep_dearest(units: &mut Vec<(u64, usize)>, count: usize) {
    if count < units.len() {
        units.select_nth_unstable_by(count, |a, b| b.cmp(a));
        units.truncate(count);
    }
}

/// Numbers for [`Bidder::sponsor`](super::Bidder::sponsor): equal for equal sponsors, in their
/// order.
#[must_use]
pub fn numbers<S: Ord>(sponsors: &[S]) -> Vec<u32> {
    let mut known: Vec<&S> = sponsors.iter().collect();
    known.sort_unstable();
    known.dedup();
    let number = |s: &S| known.partition_point(|k| *k < s) as u32;
    sponsors.iter().map(number).collect()
}
