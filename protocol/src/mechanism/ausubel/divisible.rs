//! Rule `exact` (A.4) when nobody is all-or-none: selection instead of sorting.
//!
//! 1. The units sold are the `supply` dearest; those at the border price go by (time, id).
//! 2. Without a winner of A units, the A dearest losing units of the others would be sold (or kept
//!    at the reserve), so their sum is the payment. A bidder with n prices never needs more than
//!    the n dearest losing units, so only as many as the longest bid are ranked.
//! 3. Where long bids ask for many times the supply, the price of the last unit that either step
//!    can look at is found by bisection over all bids, and no cheaper unit is copied at all.

use super::Share;
use super::prepare::{Lot, Prepared};
use super::ranking::Ranking;
use crate::mechanism::meter;

/// Average units of a bid from which on bisection is faster than a copy of all prices.
const LONG_BID: usize = 1_024;

/// Where the winning prices end.
struct Border {
    price: u64,
    /// Units at exactly this price that win.
    ties: usize,
}

/// Shares parallel to the lots, all of which are divisible.
pub(super) fn solve(prepared: &Prepared<'_>) -> Vec<Share> {
    let supply = prepared.supply as usize;
    let total: usize = prepared.lots.iter().map(Lot::len).sum();
    if total <= supply {
        let sold = |lot: &Lot<'_>| Share {
            units: lot.len() as u32,
            pay: match lot.bidder {
                Some(_) => lot.len() as u128 * u128::from(prepared.reserve),
                None => 0,
            },
        };
        return prepared.lots.iter().map(sold).collect();
    }
    let longest = longest_bid(prepared);
    let kept = supply + longest;
    let long = total / prepared.lots.len() >= LONG_BID && total > 2 * kept;
    let mut flat = match long {
        true => dearest_of_all(&prepared.lots, kept),
        false => all(&prepared.lots, total),
    };
    let border = split(&mut flat, supply);
    let losers = dearest(&mut flat[supply..], longest);
    charge(prepared, border, &Ranking::new(losers, prepared.reserve))
}

fn all(lots: &[Lot<'_>], total: usize) -> Vec<u64> {
    meter::steps(total);
    let mut flat = Vec::with_capacity(total);
    for lot in lots {
        flat.extend_from_slice(lot.prices);
    }
    flat
}

/// The `kept` dearest prices of all lots, which have more, in any order.
fn dearest_of_all(lots: &[Lot<'_>], kept: usize) -> Vec<u64> {
    let dearer = |lot: &Lot<'_>, price: u64| lot.prices.partition_point(|&p| p > price);
    let count = |price: u64| {
        meter::steps(lots.len());
        lots.iter().map(|lot| dearer(lot, price)).sum::<usize>()
    };
    // The lowest price that no more than `kept` units exceed.
    let mut high = lots.iter().map(|lot| lot.prices[0]).max().unwrap_or(0);
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if count(middle) <= kept {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut flat = Vec::with_capacity(kept);
    for lot in lots {
        flat.extend_from_slice(&lot.prices[..dearer(lot, low)]);
    }
    // The rest stands at exactly this price: one less, and more than `kept` would exceed it.
    flat.resize(kept, low);
    flat
}

/// Moves the `supply` dearest prices to the front. Needs 0 < supply < length.
fn split(flat: &mut [u64], supply: usize) -> Border {
    meter::steps(flat.len());
    let (dearer, &mut price, _) = flat.select_nth_unstable_by(supply - 1, |a, b| b.cmp(a));
    let ties = 1 + dearer.iter().filter(|&&p| p == price).count();
    Border { price, ties }
}

fn longest_bid(prepared: &Prepared<'_>) -> usize {
    let charged = prepared.lots.iter().filter(|lot| lot.bidder.is_some());
    charged.map(Lot::len).max().unwrap_or(0)
}

fn dearest(losers: &mut [u64], count: usize) -> Vec<u64> {
    if count < losers.len() {
        losers.select_nth_unstable_by(count, |a, b| b.cmp(a));
    }
    losers[..count.min(losers.len())].to_vec()
}

fn charge(prepared: &Prepared<'_>, mut border: Border, losers: &Ranking) -> Vec<Share> {
    let mut share = |lot: &Lot<'_>| {
        let sure = lot.prices.partition_point(|&p| p > border.price);
        let tied = lot.prices[sure..]
            .iter()
            .take_while(|&&p| p == border.price);
        let lucky = tied.take(border.ties).count();
        meter::steps(lucky);
        border.ties -= lucky;
        let units = sure + lucky;
        let pay = match lot.bidder {
            Some(_) if units > 0 => losers.sum_without(units, lot.prices[units..].iter().copied()),
            _ => 0,
        };
        Share {
            units: units as u32,
            pay,
        }
    };
    prepared.lots.iter().map(&mut share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::dice::{dice, pick};

    #[test]
    fn bisection_keeps_what_a_sort_would() {
        let mut next = dice(1);
        for _ in 0..2_000 {
            let bound = pick(&[1, 3, 50, u64::MAX], &mut next);
            let mut bids: Vec<Vec<u64>> = (0..1 + next(6))
                .map(|_| (0..1 + next(20)).map(|_| next(bound)).collect())
                .collect();
            bids.iter_mut()
                .for_each(|bid| bid.sort_unstable_by(|a, b| b.cmp(a)));
            let lot = |prices| Lot {
                bidder: Some(0),
                sponsor: None,
                head: 1,
                prices,
            };
            let lots: Vec<Lot<'_>> = bids.iter().map(|bid| lot(&bid[..])).collect();
            let mut sorted: Vec<u64> = bids.concat();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let kept = next(sorted.len() as u64) as usize;
            let mut found = dearest_of_all(&lots, kept);
            found.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(found, sorted[..kept]);
        }
    }
}
