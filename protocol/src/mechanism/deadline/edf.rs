//! Earliest deadline first.
//!
//! A job that uses all units until its work is done delays no other by more than that work. So if
//! any plan meets all hard deadlines, so does the order of the jobs by hard deadline: two
//! neighbours in the wrong order can be swapped without harm.

use super::lot::Lot;
use crate::mechanism::meter;

/// The order by (hard deadline, id), if every job meets its own in it.
pub(super) fn feasible(lots: &[Lot]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..lots.len()).collect();
    order.sort_by_key(|&place| (lots[place].hard_left(), place));
    let mut end = 0;
    let on_time = order.iter().all(|&place| {
        meter::steps(1);
        end += lots[place].work();
        // Eqs. 2 to 4 in one: all work due until then is within K for each interval (E.3).
        end <= lots[place].due
    });
    on_time.then_some(order)
}
