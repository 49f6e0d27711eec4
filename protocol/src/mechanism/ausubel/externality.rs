//! VCG payments where some bidders are all-or-none: the value that the others would reach without a
//! winner.
//!
//! 1. Without an all-or-none winner: the best split between the curve with the items before it (a
//!    table carried forward) and the items behind it (`suffix`). O(m) each.
//! 2. Without a divisible winner j: the best split between the curve without j and all items. With
//!    t of j's units skipped, the curve without j at y is the curve at y + t less the value of
//!    j's first t units, for the y between two of j's places. So every t asks for the greatest
//!    `curve[y + t] + items[m - y]` over a range of y. Questions with one t share a table of
//!    block maxima when that is cheaper than looking at their ranges; either way all questions
//!    together cost at most O(m sqrt(m)) and typically O(m) per length of bid.

use super::Share;
use super::exact::Mixed;
use super::maxplus::{Sum, best_split};
use crate::mechanism::meter;

/// Entries per block of the maxima.
const BLOCK: usize = 64;

/// Shares with payments; lots that are not charged pay 0.
pub(super) fn charge<N: Sum>(market: &Mixed<'_, N>, units: &[u32]) -> Vec<Share> {
    let mut without = vec![None; units.len()];
    without_lumps(market, units, &mut without);
    without_singles(market, units, &mut without);
    let mut items = market.items.iter().peekable();
    let mut shares = Vec::with_capacity(units.len());
    for (lot, (&units, without)) in units.iter().zip(without).enumerate() {
        let item = items.next_if(|item| item.lot == lot);
        let Some(without) = without else {
            shares.push(Share { units, pay: 0 });
            continue;
        };
        let own = match item {
            Some(item) => item.value(units),
            None => single_value(market, lot, units as usize),
        };
        let externality = without.plus(own).minus(market.best).get();
        // A.4: reserve * A_i + (W_without_i - (W - w_i(A_i))).
        let pay = u128::from(market.prepared.reserve) * u128::from(units) + externality;
        shares.push(Share { units, pay });
    }
    shares
}

/// Net value of a divisible lot's first units.
fn single_value<N: Sum>(market: &Mixed<'_, N>, lot: usize, units: usize) -> N {
    meter::steps(units);
    let prices = &market.prepared.lots[lot].prices[..units];
    let net = |&price: &u64| N::of(u128::from(price - market.prepared.reserve));
    prices.iter().map(net).fold(N::ZERO, N::plus)
}

fn without_lumps<N: Sum>(market: &Mixed<'_, N>, units: &[u32], without: &mut [Option<N>]) {
    let mut before = market.curve.table(market.capacity);
    for (item, behind) in market.items.iter().zip(&market.suffix[1..]) {
        if units[item.lot] > 0 {
            without[item.lot] = Some(best_split(&before, behind, 0, market.capacity));
        }
        before = item.add_to(&before);
    }
}

/// The greatest sum over y in `from ..= to` when `skipped` units of `lot` are left out.
struct Question<N> {
    skipped: usize,
    lot: usize,
    from: usize,
    to: usize,
    /// Value of the units left out.
    theirs: N,
}

fn without_singles<N: Sum>(market: &Mixed<'_, N>, units: &[u32], without: &mut [Option<N>]) {
    let mut questions = Vec::new();
    for (lot, bid) in market.prepared.lots.iter().enumerate() {
        if bid.divisible() && bid.bidder.is_some() && units[lot] > 0 {
            ask(market, lot, &mut questions);
        }
    }
    questions.sort_by_key(|question| question.skipped);
    let items: Vec<N> = market.suffix[0].iter().rev().copied().collect();
    for alike in questions.chunk_by(|a, b| a.skipped == b.skipped) {
        let shifted = &market.curve.sums[alike[0].skipped..];
        let looks: usize = alike.iter().map(|q| q.to - q.from + 1).sum();
        let maxima = (looks > items.len()).then(|| Maxima::new(shifted, &items));
        for question in alike {
            let range = question.from..question.to + 1;
            let greatest = match &maxima {
                Some(maxima) => maxima.greatest(range),
                None => greatest(&shifted[range.clone()], &items[range]),
            };
            let value = greatest.minus(question.theirs);
            let best = without[question.lot].get_or_insert(value);
            *best = (*best).max(value);
        }
    }
}

/// The questions of one divisible winner.
fn ask<N: Sum>(market: &Mixed<'_, N>, lot: usize, questions: &mut Vec<Question<N>>) {
    let places = market.curve.places(lot);
    let mut theirs = N::ZERO;
    for skipped in 0..=places.len() {
        meter::steps(1);
        let from = if skipped == 0 {
            0
        } else {
            places[skipped - 1] as usize + 1 - skipped
        };
        let end = places
            .get(skipped)
            .map_or(market.curve.len(), |&place| place as usize);
        if from > market.capacity {
            break;
        }
        let to = (end - skipped).min(market.capacity);
        questions.push(Question {
            skipped,
            lot,
            from,
            to,
            theirs,
        });
        if let Some(&place) = places.get(skipped) {
            let place = place as usize;
            let unit = market.curve.sums[place + 1].minus(market.curve.sums[place]);
            theirs = theirs.plus(unit);
        }
    }
}

fn greatest<N: Sum>(a: &[N], b: &[N]) -> N {
    meter::steps(a.len().min(b.len()));
    a.iter()
        .zip(b)
        .map(|(&x, &y)| x.plus(y))
        .fold(N::NONE, N::max)
}

/// Maxima of blocks of the sums of two rows.
struct Maxima<'a, N> {
    a: &'a [N],
    b: &'a [N],
    blocks: Vec<N>,
}

impl<'a, N: Sum> Maxima<'a, N> {
    fn new(a: &'a [N], b: &'a [N]) -> Self {
        let blocks = a
            .chunks(BLOCK)
            .zip(b.chunks(BLOCK))
            .map(|(a, b)| greatest(a, b))
            .collect();
        Maxima { a, b, blocks }
    }

    fn greatest(&self, range: std::ops::Range<usize>) -> N {
        let look = |range: std::ops::Range<usize>| greatest(&self.a[range.clone()], &self.b[range]);
        let (first, last) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
        if first >= last {
            return look(range);
        }
        meter::steps(last - first);
        let whole = self.blocks[first..last]
            .iter()
            .copied()
            .fold(N::NONE, N::max);
        let front = look(range.start..first * BLOCK);
        whole.max(front).max(look(last * BLOCK..range.end))
    }
}
