//! Small auctions drawn from a seed: empty and equal budgets, zero weights, both utilities.

use super::{
    BUDGET_END, INNER_MAX, Input, JOBS_MAX, Job, ROUNDS_MAX, SIXTEENTHS_MAX, STEPS_MAX, TYPES_MAX,
    Terms, Utility,
};
use crate::mechanism::dice::{dice, pick};

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

/// The largest and smallest budgets and weights. Odd seeds: as many jobs, types and steps as there
/// may be; every fourth is one job or step beyond.
pub(super) fn extreme<K: From<u16>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let many = seed % 2 == 1;
    let jobs = if many { JOBS_MAX } else { 1 + next(9) as usize } + usize::from(seed % 8 == 7);
    let types = if many {
        TYPES_MAX
    } else {
        1 + next(8) as usize
    };
    let inner = if many { 5 } else { INNER_MAX };
    let rounds = STEPS_MAX / (jobs * types) as u64 / u64::from(inner) + u64::from(seed % 8 == 3);
    let terms = Terms {
        types,
        sixteenths: pick(&[0, 1, 8, 15, SIXTEENTHS_MAX], &mut next),
        eps: pick(&[1, 1, u64::MAX], &mut next),
        max_rounds: rounds.min(ROUNDS_MAX.into()) as u32,
        inner,
    };
    let mut job = |id: u16| Job {
        id: K::from(id),
        budget: pick(&[0, 1, BUDGET_END - 1], &mut next),
        utility: pick(&[Utility::Linear, Utility::Log], &mut next),
        weights: (0..types)
            .map(|_| pick(&[0, 1, u32::MAX], &mut next))
            .collect(),
    };
    let jobs = (0..jobs as u16).map(&mut job).collect();
    Input { terms, jobs }
}
