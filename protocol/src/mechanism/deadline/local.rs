//! A good order of many jobs: three starts, each improved by the best move until there is none.
//!
//! 1. Starts: by hard deadline; by soft deadline; by work per price lost in an interval of delay,
//!    cheap and urgent jobs first (Smith's rule). Ties go to the smaller id.
//! 2. In the last two a job may miss its hard deadline. They are rebuilt from the end: of the jobs
//!    that may complete when all open work is done, the one latest in the start goes there. A job
//!    that may go last in some plan leaves a plan for the others, so this never gets stuck.
//! 3. A move takes one job out and puts it back at another place. Moves that make any job late are
//!    not looked at. Of the others the one that gains most is made, ties to the smallest (old
//!    place, new place), until none gains or [`MOVES`] were made.
//! 4. Of the three results the one of greatest revenue is taken, ties to the smallest sequence of
//!    ids.
//!
//! Moving a job past a neighbour changes nobody else, so following it from place to place gives
//! every move's gain for two prices.

use std::cmp::{Ordering, Reverse};

use super::lot::Lot;
use crate::mechanism::meter;

/// Moves from one start at the most, so that prices that fall by single micro-credits cannot make a
/// search long. Random markets of the most jobs needed 163 at the most.
pub(super) const MOVES: usize = 512;

/// The best order found; `edf` is the order by hard deadline, in which every job meets its own.
pub(super) fn search(lots: &[Lot], capacity: u64, edf: &[usize]) -> Vec<usize> {
    let sorted = |by: &dyn Fn(&Lot, &Lot) -> Ordering| {
        let mut order: Vec<usize> = (0..lots.len()).collect();
        order.sort_by(|&a, &b| by(&lots[a], &lots[b]).then(a.cmp(&b)));
        repair(lots, order)
    };
    let by_soft = sorted(&|a, b| a.soft_left().cmp(&b.soft_left()));
    let by_slope = sorted(&|a, b| compare(a.work_per_slope(), b.work_per_slope()));
    let improved = [edf.to_vec(), by_soft, by_slope].map(|order| {
        let mut line = Line::new(lots, capacity, order);
        line.improve();
        (Reverse(line.revenue()), line.order)
    });
    let [first, second, third] = improved;
    first.min(second).min(third).1
}

/// Compares two fractions; a denominator of 0 is infinitely large.
fn compare(a: (u128, u64), b: (u128, u64)) -> Ordering {
    match (a.1, b.1) {
        (0, _) | (_, 0) => (a.1 == 0).cmp(&(b.1 == 0)),
        _ => (a.0 * u128::from(b.1)).cmp(&(b.0 * u128::from(a.1))),
    }
}

/// Step 2. Changes nothing if every job meets its hard deadline.
fn repair(lots: &[Lot], mut open: Vec<usize>) -> Vec<usize> {
    let mut end: u64 = open.iter().map(|&place| lots[place].work()).sum();
    let mut backwards = Vec::with_capacity(open.len());
    while !open.is_empty() {
        meter::steps(open.len());
        let last = open.iter().rposition(|&place| end <= lots[place].due);
        let last = open.remove(last.expect("a market with a plan has a job that may go last"));
        end -= lots[last].work();
        backwards.push(last);
    }
    backwards.reverse();
    backwards
}

/// A job taken out of place `from` and put back so that it stands at place `to`.
#[derive(Clone, Copy)]
struct Move {
    gain: i128,
    from: usize,
    to: usize,
}

struct Line<'a> {
    lots: &'a [Lot],
    capacity: u64,
    order: Vec<usize>,
    /// Parallel to the order: work done when the job ends.
    ends: Vec<u64>,
    /// Parallel to the order: what the job pays.
    pays: Vec<u64>,
}

impl<'a> Line<'a> {
    fn new(lots: &'a [Lot], capacity: u64, order: Vec<usize>) -> Self {
        let (ends, pays) = (vec![0; order.len()], vec![0; order.len()]);
        let mut line = Line {
            lots,
            capacity,
            order,
            ends,
            pays,
        };
        line.settle(0, line.order.len());
        line
    }

    fn lot(&self, at: usize) -> &'a Lot {
        &self.lots[self.order[at]]
    }

    fn revenue(&self) -> u128 {
        self.pays.iter().map(|&pay| u128::from(pay)).sum()
    }

    /// Recomputes ends and pays of the places `first .. behind`.
    fn settle(&mut self, first: usize, behind: usize) {
        let mut end = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        for at in first..behind {
            meter::steps(1);
            end += self.lot(at).work();
            self.ends[at] = end;
            self.pays[at] = self.lot(at).pay(end, self.capacity);
        }
    }

    /// Step 3.
    fn improve(&mut self) {
        for _ in 0..MOVES {
            let Some(best) = self.best_move() else { return };
            let (first, last) = (best.from.min(best.to), best.from.max(best.to));
            if best.from < best.to {
                self.order[first..=last].rotate_left(1);
            } else {
                self.order[first..=last].rotate_right(1);
            }
            self.settle(first, last + 1);
        }
    }

    fn best_move(&self) -> Option<Move> {
        let moves = (0..self.order.len()).filter_map(|from| {
            let (back, forth) = (self.best_back(from), self.best_forth(from));
            better(back, forth)
        });
        moves.fold(None, |best, next| better(best, Some(next)))
    }

    /// The best move of a job to a later place: those it passes end earlier by its work.
    fn best_forth(&self, from: usize) -> Option<Move> {
        let lot = self.lot(from);
        let (mut others, mut best) = (0i128, None);
        for to in from + 1..self.order.len() {
            meter::steps(1);
            let end = self.ends[to];
            if end > lot.due {
                break;
            }
            let passed = self.lot(to).pay(end - lot.work(), self.capacity);
            others += i128::from(passed) - i128::from(self.pays[to]);
            let own = i128::from(lot.pay(end, self.capacity)) - i128::from(self.pays[from]);
            best = better(
                best,
                Some(Move {
                    gain: others + own,
                    from,
                    to,
                }),
            );
        }
        best
    }

    /// The best move of a job to an earlier place: those it passes end later by its work.
    fn best_back(&self, from: usize) -> Option<Move> {
        let lot = self.lot(from);
        let (mut others, mut best) = (0i128, None);
        for to in (0..from).rev() {
            meter::steps(1);
            let passed = self.lot(to);
            let end = self.ends[to] + lot.work();
            if end > passed.due {
                break;
            }
            others += i128::from(passed.pay(end, self.capacity)) - i128::from(self.pays[to]);
            let own = lot.pay(end - passed.work(), self.capacity);
            let own = i128::from(own) - i128::from(self.pays[from]);
            best = better(
                best,
                Some(Move {
                    gain: others + own,
                    from,
                    to,
                }),
            );
        }
        best
    }
}

/// The better of two moves; one that gains nothing is none.
fn better(a: Option<Move>, b: Option<Move>) -> Option<Move> {
    let key = |m: &Move| (m.gain, Reverse((m.from, m.to)));
    a.into_iter()
        .chain(b)
        .filter(|m| m.gain > 0)
        .max_by_key(key)
}
