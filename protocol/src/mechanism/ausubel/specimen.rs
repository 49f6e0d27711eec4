//! Small markets drawn from a seed, with ties, reserves and all-or-none bids.

use super::{Bidder, Input, Rule};
use crate::mechanism::dice::dice;

/// Draws a market of up to 8 bidders and 12 units; its rule is `seed` modulo three.
pub(super) fn draw<K: From<u8>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let rule = [Rule::Exact, Rule::Floor, Rule::Paper][(seed % 3) as usize];
    let supply = next(13) as u32;
    let reserve = next(4);
    let bidders = (0..next(9) as u8)
        .map(|id| {
            let mut prices: Vec<u64> = (0..next(7)).map(|_| next(12)).collect();
            prices.sort_unstable_by(|a, b| b.cmp(a));
            let min = if next(2) == 0 { 0 } else { next(7) as u32 };
            Bidder {
                id: K::from(id),
                time: next(3),
                min,
                prices,
                sponsor: (next(2) == 0).then(|| next(3) as u32),
            }
        })
        .collect();
    Input {
        rule,
        supply,
        reserve,
        bidders,
    }
}
