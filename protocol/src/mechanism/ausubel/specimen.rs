//! Small markets drawn from a seed, with ties, reserves and all-or-none bids.

use super::{Bidder, Input, Rule};
use crate::limits;
use crate::mechanism::dice::{dice, pick};

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

/// Odd seeds: as many bids as all-or-none ones may be in a class, over as many units. Even ones:
/// few bids, with the largest and smallest numbers.
pub(super) fn extreme<K: From<u16>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let many = seed % 2 == 1;
    let bidders = if many {
        limits::ALL_OR_NONE_PER_CLASS
    } else {
        9
    };
    let ends = [0, 1, u64::MAX - 1, u64::MAX];
    let mut bidder = |id: u16| {
        let units = 1 + next(if many { limits::ORDER_UNITS.into() } else { 40 });
        let mut prices: Vec<u64> = match many {
            true => vec![next(1 << 40); units as usize],
            false => (0..units).map(|_| pick(&ends, &mut next)).collect(),
        };
        prices.sort_unstable_by(|a, b| b.cmp(a));
        Bidder {
            id: K::from(id),
            time: pick(&ends, &mut next),
            min: pick(&[0, units as u32, units as u32, u32::MAX], &mut next),
            prices,
            sponsor: pick(&[None, Some(0), Some(1), Some(u32::MAX)], &mut next),
        }
    };
    let bidders = (0..bidders as u16).map(&mut bidder).collect();
    Input {
        rule: [Rule::Exact, Rule::Floor, Rule::Exact, Rule::Paper][(seed / 2 % 4) as usize],
        supply: match many {
            true => limits::CLASS_UNITS,
            false => pick(&[1, 50, u32::MAX], &mut next),
        },
        reserve: if many { 1 } else { pick(&ends, &mut next) },
        bidders,
    }
}
