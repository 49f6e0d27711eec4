//! One slot of a pool whose processors run tasks: the claims that are in, and their allowances.
//!
//! [`units`](super::units) sells each type by itself. A task, however, needs a processor *and*
//! memory in the same slot, and a job entitled to less than half a processor would never get one by
//! largest remainders. So, with the processors as the first type:
//!
//! 1. *Drawn.* Job `i` is entitled to `x_i = units * s_i` processors, in Q32. It gets the whole
//!    part of them, and one more with exactly the probability of the rest: the jobs are laid in a
//!    row by `rank`, each as long as its rest, and those on whom one of the points `draw`, `draw +
//!    1`, `draw + 2`... falls are drawn (systematic sampling). With `draw` uniform in `[0, 1)` the
//!    expected number of processors is `x_i`, and no more are drawn than there are.
//! 2. *Capped, sold, paid* as in [`units`](super::units), and no job gets more processors than it
//!    has tasks for.
//! 3. *In* are the jobs that hold processors. The other types are divided among these alone, by the
//!    same steps, with largest remainders over their shares: a job that is not in needs no memory
//!    in this slot, and pays nothing.
//!
//! Hence no job pays more than its budget, and none pays without a processor.
//!
//! **What is for sale** ([`lots`]): of `units` slices with the least price `reserve` each, `units`
//! processors; a sixteenth of each other type goes with its processor, so that every task can run,
//! and the rest is for sale in sixteenths of a slice. With `T` types a sixteenth costs at least `q
//! = ceil(reserve / 16 T)`, a processor at least `ceil(reserve / T) + (T - 1) q`: a whole slice no
//! less than the reserve.

use std::fmt::Debug;

use super::units::{Pool, Sold, Stock, UnitsError, sell, sell_as};
use super::{Award, Outcome};

/// Parts in which a slice's memory, disk and accelerators are sold.
pub const PARTS: u64 = 16;

/// The stock of a pool of so many slices, processors first; see the module.
#[must_use]
pub fn lots(units: u32, reserve: u64, types: usize) -> Vec<Stock> {
    let count = types.max(1) as u64;
    let part = reserve.div_ceil(PARTS * count);
    let units = u64::from(units);
    let processors = Stock {
        units,
        minimum: reserve.div_ceil(count) + (count - 1) * part,
    };
    let other = Stock {
        units: units * (PARTS - 1),
        minimum: part,
    };
    std::iter::once(processors)
        .chain((1..count).map(|_| other))
        .collect()
}

/// The chance of a slot, and what a job is beyond its bid.
pub struct Slot<'a, K> {
    /// Uniform in Q32: where the first point falls.
    pub draw: u32,
    /// The order in which jobs are laid in a row; unique, and nobody's choice.
    pub rank: &'a dyn Fn(&K) -> [u8; 32],
    /// The most processors that are of use to a job.
    pub tasks: &'a dyn Fn(&K) -> u64,
}

/// Sells a slot of the pool; `user` names the one whose cap a job counts for.
///
/// # Errors
/// The pool has no type, its cap exceeds the whole, or the awards are of an auction over other
/// types.
pub fn dispatch<K: Clone + Debug, U: Ord>(
    pool: &Pool,
    outcome: &Outcome<K>,
    slot: &Slot<'_, K>,
    user: impl Fn(&K) -> U,
) -> Result<Sold<K>, UnitsError<K>> {
    let types = pool.stocks.len();
    let odd = |a: &&Award<K>| a.shares.len() != types || a.parts.len() != types;
    if let Some(odd) = outcome.awards.iter().find(odd) {
        return Err(UnitsError::Types(odd.id.clone()));
    }
    let Some(first) = pool.stocks.first() else {
        return Err(UnitsError::None);
    };
    let processors = part(pool, outcome, 0..1, |_| true);
    let drawn = |shares: &[u64]| draw(first.units, shares, &outcome.awards, slot);
    let mut sold = sell_as(&processors.0, &processors.1, &user, drawn, slot.tasks)?;
    let is_in: Vec<bool> = sold.sales.iter().map(|s| s.units[0] > 0).collect();
    let (others, those_in) = part(pool, outcome, 1..types, |index| is_in[index]);
    let rest = sell(&others, &those_in, &user)?;
    let mut in_turn = rest.sales.into_iter();
    for (sale, is_in) in sold.sales.iter_mut().zip(&is_in) {
        if let Some(other) = is_in.then(|| in_turn.next()).flatten() {
            sale.units.extend(other.units);
            sale.pay.extend(other.pay);
        }
        sale.units.resize(types, 0);
        sale.pay.resize(types, 0);
    }
    sold.kept.extend(rest.kept);
    sold.earned.extend(rest.earned);
    Ok(sold)
}

/// Some types of a pool and of the awards of some jobs.
fn part<K: Clone>(
    pool: &Pool,
    outcome: &Outcome<K>,
    types: std::ops::Range<usize>,
    takes: impl Fn(usize) -> bool,
) -> (Pool, Outcome<K>) {
    let cut = |award: &Award<K>| Award {
        id: award.id.clone(),
        parts: award.parts[types.clone()].to_vec(),
        shares: award.shares[types.clone()].to_vec(),
    };
    let taken = outcome.awards.iter().enumerate().filter(|(i, _)| takes(*i));
    let awards = taken.map(|(_, award)| cut(award)).collect();
    let pool = Pool {
        stocks: pool.stocks[types.clone()].to_vec(),
        cap_ppm: pool.cap_ppm,
    };
    let outcome = Outcome { awards, ..*outcome };
    (pool, outcome)
}

/// Step 1.
fn draw<K>(units: u64, shares: &[u64], awards: &[Award<K>], slot: &Slot<'_, K>) -> Vec<u64> {
    let entitled: Vec<u128> = shares
        .iter()
        .map(|s| u128::from(units) * u128::from(*s))
        .collect();
    // Section III: a resource goes to a job with a probability in proportion to s_ij.
    let mut drawn: Vec<u64> = entitled.iter().map(|x| (x >> 32) as u64).collect();
    let mut row: Vec<usize> = (0..awards.len()).collect();
    row.sort_by_cached_key(|&i| (slot.rank)(&awards[i].id));
    let from = u128::from(slot.draw);
    // Points before a place in the row.
    let points = |place: u128| match place.checked_sub(from + 1) {
        Some(beyond) => (beyond >> 32) as u64 + 1,
        None => 0,
    };
    let mut place = 0;
    for index in row {
        let end = place + (entitled[index] & u128::from(u32::MAX));
        drawn[index] += points(end) - points(place);
        place = end;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::super::units::WHOLE_PPM;
    use super::super::{Input, Job, ONE, Terms, Utility, clear};
    use super::*;
    use crate::mechanism::dice::dice;

    fn slot<'a>(
        draw: u32,
        rank: &'a dyn Fn(&u64) -> [u8; 32],
        tasks: &'a dyn Fn(&u64) -> u64,
    ) -> Slot<'a, u64> {
        Slot { draw, rank, tasks }
    }

    /// Shares of each type in thousandths, and a part of 1,000 of each budget for each.
    fn outcome(shares: &[&[u64]]) -> Outcome<u64> {
        let award = |(id, row): (usize, &&[u64])| Award {
            id: id as u64,
            parts: vec![1_000; row.len()],
            shares: row
                .iter()
                .map(|s| (u128::from(*s) * ONE / 1_000) as u64)
                .collect(),
        };
        Outcome {
            awards: shares.iter().enumerate().map(award).collect(),
            rounds: 1,
            converged: true,
        }
    }

    fn pool(units: u32, types: usize) -> Pool {
        Pool {
            stocks: lots(units, 0, types),
            cap_ppm: WHOLE_PPM,
        }
    }

    #[test]
    fn over_all_draws_everyone_gets_the_share_to_the_last_draw() {
        // 4 processors: 2.4, 0.9, 0.4 and 0.3 of them.
        let shares: [&[u64]; 4] = [&[600], &[225], &[100], &[75]];
        let outcome = outcome(&shares);
        for order in 0..5u8 {
            let rank = |id: &u64| [(*id as u8 * 3 + order) % 5; 32];
            let mut sums = [0u64; 4];
            let draws = 1_000u64;
            for n in 0..draws {
                let draw = ((n << 32) / draws) as u32;
                let sold = dispatch(&pool(4, 1), &outcome, &slot(draw, &rank, &|_| 9), |id| *id);
                let sold = sold.unwrap();
                let units: Vec<u64> = sold.sales.iter().map(|s| s.units[0]).collect();
                assert!(units.iter().sum::<u64>() <= 4);
                for (sum, units) in sums.iter_mut().zip(units) {
                    *sum += units;
                }
            }
            // Evenly spaced draws: off by one at most, for each of the two ends of a job's place in
            // the row.
            for (sum, share) in sums.iter().zip(shares) {
                assert!(sum.abs_diff(4 * share[0]) <= 2, "{sums:?}");
            }
        }
    }

    #[test]
    fn who_is_not_in_leaves_the_memory_to_those_who_are() {
        // Two of four equal jobs get the two processors, and half of the memory each.
        let outcome = outcome(&[&[250, 250], &[250, 250], &[250, 250], &[250, 250]]);
        let rank = |id: &u64| [*id as u8; 32];
        let sold = dispatch(&pool(2, 2), &outcome, &slot(0, &rank, &|_| 9), |id| *id).unwrap();
        let units: Vec<_> = sold.sales.iter().map(|s| s.units.clone()).collect();
        assert_eq!(units, [[1, 15], [0, 0], [1, 15], [0, 0]]);
        let pay: Vec<_> = sold.sales.iter().map(|s| s.pay.clone()).collect();
        assert_eq!(pay, [[1_000, 1_000], [0, 0], [1_000, 1_000], [0, 0]]);
        assert_eq!((sold.kept, sold.earned), (vec![0, 0], vec![2_000, 2_000]));
    }

    #[test]
    fn processors_beyond_the_tasks_stay_with_the_seller() {
        let outcome = outcome(&[&[1_000, 1_000]]);
        let rank = |_: &u64| [0; 32];
        let sold = dispatch(&pool(8, 2), &outcome, &slot(7, &rank, &|_| 3), |id| *id).unwrap();
        // Three eighths of the part for processors.
        assert_eq!(sold.sales[0].units, [3, 120]);
        assert_eq!(sold.sales[0].pay, [375, 1_000]);
        assert_eq!(sold.kept, [5, 0]);
    }

    #[test]
    fn a_whole_slice_costs_no_less_than_the_reserve() {
        for types in 1..=4 {
            for reserve in (0..2_000).chain([1 << 40, (1 << 40) - 1]) {
                let lots = lots(1, reserve, types);
                let slice: u64 = lots.iter().map(|l| l.units * l.minimum).sum();
                assert!(slice >= reserve, "{types} types, {reserve}");
                assert!(slice < reserve + 16 * 4 + 4, "{types} types, {reserve}");
            }
        }
    }

    #[test]
    fn random_slots_are_sold_within_budget_supply_and_cap() {
        for seed in 0..2_000 {
            let mut next = dice(seed);
            let types = 1 + next(4) as usize;
            let job = |id| Job {
                id,
                budget: next(4) * next(2_000),
                utility: [Utility::Linear, Utility::Log][next(2) as usize],
                weights: (0..types).map(|_| next(4) as u32).collect(),
            };
            let jobs: Vec<Job<u64>> = (0..12).map(job).collect();
            let terms = Terms::usual(types);
            let outcome = clear(&Input { terms, jobs }).unwrap();
            let units = 1 + next(9) as u32;
            let pool = Pool {
                stocks: lots(units, next(300), types),
                cap_ppm: 200_000 + next(800_001) as u32,
            };
            let rank = |id: &u64| [((id * 7 + seed) % 13) as u8; 32];
            let slot = slot(next(1 << 32) as u32, &rank, &|id| 1 + id % 4);
            let sold = dispatch(&pool, &outcome, &slot, |id| id / 2).unwrap();
            for (kind, stock) in pool.stocks.iter().enumerate() {
                let held: u64 = sold.sales.iter().map(|s| s.units[kind]).sum();
                assert_eq!(held + sold.kept[kind], stock.units);
                let paid: u128 = sold.sales.iter().map(|s| u128::from(s.pay[kind])).sum();
                assert_eq!(paid, sold.earned[kind]);
                assert!(paid >= u128::from(held * stock.minimum));
                for user in 0..6 {
                    let own = sold.sales.iter().filter(|s| s.id / 2 == user);
                    let own: u64 = own.map(|s| s.units[kind]).sum();
                    assert!(own * 1_000_000 <= stock.units * u64::from(pool.cap_ppm));
                }
            }
            for (sale, award) in sold.sales.iter().zip(&outcome.awards) {
                assert!(sale.units[0] <= 1 + sale.id % 4);
                assert!(sale.units[0] > 0 || sale.units.iter().all(|n| *n == 0));
                assert!(
                    sale.pay
                        .iter()
                        .zip(&award.parts)
                        .all(|(pay, part)| pay <= part)
                );
            }
        }
    }
}
