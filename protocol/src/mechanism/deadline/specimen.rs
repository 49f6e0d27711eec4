//! Small markets drawn from a seed, with ties, all shapes, jobs that are too late, and now and then
//! more jobs than the exact search takes.

use super::{CAPACITY, EXACT_JOBS, HORIZON, Input, JOBS, Job, PRICE, Shape, WHOLE_PPM};
use crate::mechanism::dice::{dice, pick};

/// Draws a market of up to 9 jobs, or of some more than the exact search takes at every 16th seed.
pub(super) fn draw<K: From<u8>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let many = seed % 16 == 15;
    let count = if many {
        EXACT_JOBS as u64 + next(4)
    } else {
        next(9)
    };
    let capacity = next(12);
    let longest = if many { 8 } else { 1 };
    let mut jobs: Vec<Job<K>> = (0..=count as u8)
        .map(|id| {
            let soft = 1 + next(6 * longest) as u32;
            let pmax = next(60);
            Job {
                id: K::from(id),
                work: 1 + next(20),
                elapsed: next(3) as u32,
                soft,
                hard: soft + next(12 * longest) as u32,
                pmax,
                pmin: next(pmax + 1),
                shape: [Shape::Linear, Shape::Convex, Shape::Concave][next(3) as usize],
            }
        })
        .collect();
    let new = jobs.pop().filter(|_| next(4) > 0);
    let min_gain_ppm = [0, 0, 800_000, WHOLE_PPM][next(4) as usize];
    Input {
        capacity,
        jobs,
        new,
        min_gain_ppm,
    }
}

/// The largest capacity, works, deadlines and prices. Odd seeds: as many jobs as a seller may have,
/// and one more at every eighth; even ones: as many as the exact search takes.
pub(super) fn extreme<K: From<u16>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let count = match seed % 8 {
        7 => JOBS as u64 + 1,
        1 | 3 | 5 => JOBS as u64,
        _ => EXACT_JOBS as u64,
    };
    let share = CAPACITY * u64::from(HORIZON) / count;
    let mut job = |id: u16| {
        let hard = pick(&[HORIZON, HORIZON, HORIZON - id as u32], &mut next);
        let soft = pick(&[0, 1, hard / 2, hard - 1, hard], &mut next);
        let pmax = PRICE - next(3) * next(PRICE / 4);
        Job {
            id: K::from(id),
            work: share - next(share / 2),
            elapsed: next(3) as u32 / 2,
            soft,
            hard,
            pmax,
            pmin: pick(&[0, pmax / 2, pmax], &mut next),
            shape: pick(&[Shape::Linear, Shape::Convex, Shape::Concave], &mut next),
        }
    };
    let mut jobs: Vec<Job<K>> = (0..count as u16).map(&mut job).collect();
    let new = jobs.pop();
    Input {
        capacity: CAPACITY,
        jobs,
        new,
        min_gain_ppm: pick(&[0, WHOLE_PPM], &mut next),
    }
}
