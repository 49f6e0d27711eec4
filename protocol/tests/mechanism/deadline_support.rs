//! Shared by the tests of deadline planning: random jobs, and oracles that restate the rules
//! without calling production code.

use crate::support::Dice;
use gridbay_protocol::mechanism::deadline::{Input, Job, Plan, Shape, clear};

/// Jobs with random ids of which most sets can be planned, some cannot.
pub(crate) fn jobs(dice: &mut Dice, count: u64, capacity: u64) -> Vec<Job<u64>> {
    let longest = dice.within(1, 6);
    let tight = dice.within(1, 3);
    let bound = [4, 30, 1_000_000, 1 << 62][dice.below(4) as usize];
    (0..count)
        .map(|index| {
            let least = longest * count / tight;
            let soft = dice.within(1, least.max(1)) as u32;
            let elapsed = dice.below(3) as u32;
            let pmax = dice.below(bound);
            Job {
                id: dice.below(1_000) * 100 + index,
                work: dice.within(1, capacity * longest),
                elapsed,
                soft: soft + elapsed,
                hard: soft + elapsed + dice.below(least + longest * count) as u32,
                pmax,
                pmin: if dice.chance(30) {
                    pmax
                } else {
                    dice.below(pmax + 1)
                },
                shape: [Shape::Linear, Shape::Convex, Shape::Concave][dice.below(3) as usize],
            }
        })
        .collect()
}

/// The plan of jobs that are within the ranges.
pub(crate) fn plan(capacity: u64, jobs: &[Job<u64>]) -> Option<Plan<u64>> {
    let input = Input {
        capacity,
        jobs: jobs.to_vec(),
        new: None,
        min_gain_ppm: 0,
    };
    clear(&input).unwrap().plan
}

pub(crate) fn ids(plan: &Plan<u64>) -> Vec<u64> {
    plan.stints.iter().map(|stint| stint.id).collect()
}

/// The price, straight from the formulas.
pub(crate) fn price(job: &Job<u64>, completion: u64) -> Option<i128> {
    let t = i128::from(job.elapsed) + i128::from(completion);
    let (soft, hard) = (i128::from(job.soft), i128::from(job.hard));
    let (pmax, pmin) = (i128::from(job.pmax), i128::from(job.pmin));
    let (x, w) = (t - soft, hard - soft);
    match job.shape {
        _ if t > hard => None,
        _ if t <= soft => Some(pmax),
        Shape::Linear => Some(pmax - (pmax - pmin) * x / w),
        Shape::Convex => Some(pmin + (pmax - pmin) * (w - x) * (w - x) / (w * w)),
        Shape::Concave => Some(pmax - (pmax - pmin) * x * x / (w * w)),
    }
}

/// The yield of an order that is played interval by interval.
pub(crate) struct Played {
    pub(crate) revenue: i128,
    /// Per job of the order, the intervals with their units.
    pub(crate) allocation: Vec<Vec<(u64, u64)>>,
}

/// Plays an order; `None` if somebody is late.
pub(crate) fn play(capacity: u64, order: &[&Job<u64>]) -> Option<Played> {
    let mut played = Played {
        revenue: 0,
        allocation: vec![],
    };
    let (mut interval, mut free) = (1, capacity);
    for job in order {
        let (mut open, mut runs) = (job.work, vec![]);
        while open > 0 {
            if free == 0 {
                (interval, free) = (interval + 1, capacity);
            }
            let units = open.min(free);
            runs.push((interval, units));
            open -= units;
            free -= units;
        }
        played.revenue += price(job, interval)?;
        played.allocation.push(runs);
    }
    Some(played)
}

/// The best order by looking at all of them, and of equal ones that of the smallest ids.
pub(crate) fn brute_force(capacity: u64, jobs: &[Job<u64>]) -> Option<(Vec<u64>, Played)> {
    let mut best = None;
    permute(&mut jobs.iter().collect(), 0, &mut |order| {
        let Some(played) = play(capacity, order) else {
            return;
        };
        let ids: Vec<u64> = order.iter().map(|job| job.id).collect();
        let better = |(others, other): &(Vec<u64>, Played)| {
            (-played.revenue, &ids) < (-other.revenue, others)
        };
        if best.as_ref().is_none_or(better) {
            best = Some((ids, played));
        }
    });
    best
}

fn permute<'a>(list: &mut Vec<&'a Job<u64>>, fixed: usize, see: &mut impl FnMut(&[&'a Job<u64>])) {
    if fixed == list.len() {
        return see(list);
    }
    for at in fixed..list.len() {
        list.swap(fixed, at);
        permute(list, fixed + 1, see);
        list.swap(fixed, at);
    }
}

/// The best order by a full table over sets of finished jobs, each with the smallest of its best
/// sequences.
pub(crate) fn full_table(capacity: u64, jobs: &[Job<u64>]) -> Option<(i128, Vec<u64>)> {
    let mut table: Vec<Option<(i128, Vec<u64>)>> = vec![None; 1 << jobs.len()];
    table[0] = Some((0, vec![]));
    for set in 1..table.len() {
        let members = || (0..jobs.len()).filter(|j| set >> j & 1 == 1);
        let work: u64 = members().map(|j| jobs[j].work).sum();
        let ways = members().filter_map(|last| {
            let pay = price(&jobs[last], work.div_ceil(capacity))?;
            let (before, ids) = table[set & !(1 << last)].as_ref()?;
            let mut ids = ids.clone();
            ids.push(jobs[last].id);
            Some((-before - pay, ids))
        });
        table[set] = ways.min().map(|(cost, ids)| (-cost, ids));
    }
    table.pop().flatten()
}
