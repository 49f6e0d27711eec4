//! Small auctions drawn from a seed: empty and equal budgets, zero weights, both utilities.

use super::{Input, Job, Terms, Utility};
use crate::mechanism::dice::dice;

/// Draws an auction of up to 7 jobs over up to 4 types.
pub(super) fn draw<K: From<u8>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let terms = Terms {
        sixteenths: next(17) as u32,
        eps: 1 + next(2_000),
        max_rounds: 1 + next(60) as u32,
        inner: 1 + next(5) as u32,
        ..Terms::usual(1 + next(4) as usize)
    };
    let jobs = (0..next(8) as u8)
        .map(|id| Job {
            id: K::from(id),
            budget: next(4) * next(50_000_000),
            utility: [Utility::Linear, Utility::Log][next(2) as usize],
            weights: (0..terms.types).map(|_| next(5) as u32).collect(),
        })
        .collect();
    Input { terms, jobs }
}
