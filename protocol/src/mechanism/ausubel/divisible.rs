//! Rule `exact` when nobody is all-or-none: selection instead of sorting.
//!
//! 1. The units sold are the `supply` dearest; those at the border price go by (time, id).
//! 2. Without a winner of A units the A dearest losing units of the others would be sold (or kept
//!    at the reserve), so their sum is his payment. A bidder with n prices never needs more than
//!    the n dearest losing units, so only as many as the longest bid are ranked.

use super::Share;
use super::prepare::{Lot, Prepared};
use super::ranking::Ranking;
use crate::planted::{self, Planted};

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
    let mut flat = Vec::with_capacity(total);
    for lot in &prepared.lots {
        flat.extend_from_slice(lot.prices);
    }
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
    let border = split(&mut flat, supply);
    let losers = dearest(&mut flat[supply..], longest_bid(prepared));
    charge(prepared, border, &Ranking::new(losers, prepared.reserve))
}

/// Moves the `supply` dearest prices to the front. Needs 0 < supply < length.
fn split(flat: &mut [u64], supply: usize) -> Border {
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
        border.ties -= lucky;
        let units = sure + lucky;
        let pay = match lot.bidder {
            Some(_) if units > 0 => {
                losers.sum_without(units, lot.prices[units..].iter().copied())
                    + u128::from(planted::is(Planted::PriceOffByOne))
            }
            _ => 0,
        };
        Share {
            units: units as u32,
            pay,
        }
    };
    prepared.lots.iter().map(&mut share).collect()
}
