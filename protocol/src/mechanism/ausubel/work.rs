//! The most work that a clearing takes.
//!
//! A step is one look at one unit of a bid or at one entry of a table. Let U be the number of units
//! asked for, n that of bidders, C that of units that can be sold, `row = C + 1` the length of a
//! table, R the longest divisible bid and `L = row + R` the length of the merged curve.
//!
//! 1. Every rule looks at each unit a few times: `8 U`, and `65 n` more for the bisection of long
//!    bids.
//! 2. Without all-or-none bids, that is all the work of `exact`. With them, to add one of k choices
//!    to a table takes `add = row + row * k`, or with more than 24 choices `row + row *
//!    (log2(row) + 2)`. Each item is added
//!    - once to the suffixes, once more for the payments, and three times for sponsors with several
//!      bidders;
//!    - and is walked past in `row * k + row` with up to 16 choices, else in `row * (log2(row) +
//!      4)`.
//! 3. The payments of divisible winners ask `Q <= L + n` questions, each about a piece of the
//!    curve. The questions of a rank share a table; the few bidders of the high ranks ask about
//!    pieces that do not overlap. Together `L + 3 L sqrt(Q) + Q (C / 64 + 192)`.
//! 4. A sponsor with several bidders takes `row * (log2(row) + 10)`, all of them `4 U`.
//! 5. `floor` ranks all units once more: `4 U`.
//! 6. `paper` takes no table. Pricing a winner follows the clock until no unit is left to it. It
//!    passes at most as many blocks as the winner wins, stay idle and are the winner's own: `2 U +
//!    C + n * (longest head + 1)`.

use std::collections::BTreeMap;

use super::maxplus::PLAIN_CHOICES;
use super::{Bidder, Input, Rule};
use crate::mechanism::meter::{product, sum, wide};

/// Steps at the most; see the module.
pub(super) fn bound<K>(input: &Input<K>) -> u64 {
    let all = wide(input.bidders.iter().map(|bidder| bidder.prices.len()).sum());
    let looks = sum([8 * all, 65 * wide(input.bidders.len())]);
    let tables = || match input.bidders.iter().any(|bidder| bidder.min > 1) {
        true => Tables::new(input).steps(input),
        false => 0,
    };
    let rule = match input.rule {
        Rule::Exact => tables(),
        Rule::Floor => tables().saturating_add(4 * all),
        Rule::Paper => {
            let cut = |b: &Bidder<K>| u64::from(b.min.min(input.supply)).min(wide(b.prices.len()));
            let head = input.bidders.iter().map(cut).max().unwrap_or(0);
            let clock = product(&[wide(input.bidders.len()), head + 1]);
            sum([2 * all, all.min(input.supply.into()), clock])
        }
    };
    sum([looks, rule])
}

/// The lengths of the module.
struct Tables {
    row: u64,
    /// Binary digits of a row.
    digits: u64,
    curve: u64,
}

impl Tables {
    fn new<K>(input: &Input<K>) -> Tables {
        let supply = input.supply as usize;
        let cut = |bidder: &Bidder<K>| bidder.prices.len().min(supply);
        let wanted: usize = input.bidders.iter().map(cut).sum();
        let row = wide(wanted.min(supply)) + 1;
        let divisible = input.bidders.iter().filter(|bidder| bidder.min <= 1);
        Tables {
            row,
            digits: u64::from(row.ilog2()),
            curve: row + wide(divisible.map(cut).max().unwrap_or(0)),
        }
    }

    /// Steps 2 to 4.
    fn steps<K>(&self, input: &Input<K>) -> u64 {
        let all: usize = input.bidders.iter().map(|bidder| bidder.prices.len()).sum();
        let sponsors = several(&input.bidders);
        let times = if sponsors > 0 { 5 } else { 2 };
        let items = input.bidders.iter().filter(|bidder| bidder.min > 1);
        let items = sum(items.map(|bidder| {
            let cut = bidder.prices.len().min(input.supply as usize);
            let choices = cut.saturating_sub(bidder.min as usize - 1);
            self.item(choices, times)
        }));
        let questions = self.curve + wide(input.bidders.len());
        let pieces = product(&[3, self.curve, questions.isqrt() + 1]);
        let blocks = product(&[questions, self.row / 64 + 192]);
        let removals = product(&[sponsors, self.row, self.digits + 10]);
        sum([items, self.curve, pieces, blocks, removals, 4 * wide(all)])
    }

    /// The steps of an item with so many choices that is added `times` times; 0 for an item that
    /// the supply leaves no choice.
    fn item(&self, choices: usize, times: u64) -> u64 {
        if choices == 0 {
            return 0;
        }
        let spread = match choices <= PLAIN_CHOICES {
            true => wide(choices),
            false => self.digits + 2,
        };
        let walk = match choices <= 16 {
            true => wide(choices) + 1,
            false => self.digits + 4,
        };
        // Each addition takes `spread + 1` rows, and one more for the best split beside it.
        product(&[self.row, times * (spread + 2) + walk])
    }
}

/// The number of sponsors with several bidders.
fn several<K>(bidders: &[Bidder<K>]) -> u64 {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for sponsor in bidders.iter().filter_map(|bidder| bidder.sponsor) {
        *counts.entry(sponsor).or_default() += 1;
    }
    wide(counts.values().filter(|count| **count > 1).count())
}
