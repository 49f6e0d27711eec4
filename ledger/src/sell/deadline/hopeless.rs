//! Jobs to give up where not all can be done in time any more.
//!
//! The jobs are taken in order of their hard deadlines, ties to the smaller id. Whenever one would
//! be late, the one with the most work left so far is given up, ties to the smaller id. No choice
//! gives up fewer (Moore and Hodgson).

use gridbay_protocol::ids::OrderId;
use gridbay_protocol::record::deadline::PlannedJob;

/// The jobs to give up, in the order in which they are; `capacity` units work in every slot from
/// now on.
pub(super) fn hopeless(jobs: &[PlannedJob], capacity: u64) -> Vec<OrderId> {
    let left = |job: &PlannedJob| u64::from(job.hard.saturating_sub(job.elapsed));
    let mut by_due: Vec<&PlannedJob> = jobs.iter().collect();
    by_due.sort_unstable_by_key(|job| (left(job), job.order));
    let mut kept: Vec<&PlannedJob> = Vec::new();
    let (mut end, mut given_up) = (0u64, Vec::new());
    for job in by_due {
        kept.push(job);
        end += job.left;
        if end <= capacity.saturating_mul(left(job)) {
            continue;
        }
        let most = kept.iter().enumerate();
        let most = most.max_by_key(|(_, job)| (job.left, std::cmp::Reverse(job.order)));
        if let Some(place) = most.map(|(place, _)| place) {
            let lost = kept.remove(place);
            end -= lost.left;
            given_up.push(lost.order);
        }
    }
    given_up
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::mechanism::deadline::Shape;
    use gridbay_protocol::units::Credits;

    fn job(id: u8, left: u64, hard: u32) -> PlannedJob {
        PlannedJob {
            order: OrderId([id; 32]),
            left,
            elapsed: 2,
            soft: 1,
            hard: 2 + hard,
            pmax: Credits::MAX,
            pmin: Credits::ZERO,
            shape: Shape::Linear,
        }
    }

    fn names(jobs: &[PlannedJob], capacity: u64) -> Vec<u8> {
        hopeless(jobs, capacity).iter().map(|id| id.0[0]).collect()
    }

    #[test]
    fn as_few_jobs_as_possible_are_given_up() {
        let jobs = [job(1, 4, 1), job(2, 4, 2), job(3, 8, 4)];
        assert_eq!(names(&jobs, 4), Vec::<u8>::new());
        // All due at once: one of the two is too many, and giving up the longer one saves the
        // third.
        assert_eq!(names(&[job(1, 6, 2), job(2, 5, 2), job(3, 5, 3)], 4), [1]);
        assert_eq!(names(&jobs, 0), [1, 2, 3]);
        assert_eq!(names(&[job(2, 3, 1), job(1, 3, 1)], 3), [1]);
    }

    #[test]
    fn no_smaller_choice_exists() {
        let mut dice = 1u64;
        let mut next = |below: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (dice >> 33) % below
        };
        for _ in 0..2_000 {
            let count = 1 + next(7);
            let jobs: Vec<_> = (0..count)
                .map(|id| job(id as u8, 1 + next(12), next(6) as u32))
                .collect();
            let capacity = 1 + next(5);
            let fits = |set: u32| {
                let in_set = |id: &OrderId| set >> id.0[0] & 1 == 1;
                let mut by_due: Vec<_> = jobs.iter().filter(|j| in_set(&j.order)).collect();
                by_due.sort_by_key(|j| j.hard);
                let mut end = 0;
                by_due.iter().all(|j| {
                    end += j.left;
                    end <= capacity * u64::from(j.hard - j.elapsed)
                })
            };
            let lost = hopeless(&jobs, capacity);
            let kept = lost
                .iter()
                .fold((1 << count) - 1, |set, id| set & !(1 << id.0[0]));
            assert!(fits(kept));
            let most = (0u32..1 << count).filter(|s| fits(*s)).map(u32::count_ones);
            assert_eq!(Some(kept.count_ones()), most.max());
        }
    }
}
