//! Learns about a buyer's jobs: the weights of the resource types, from the shares and results of
//! past runs (Abacus, section V).
//!
//! 1. [`least_squares`] finds the weights `w` with `u = sum w_r x_r` as nearly as the observations
//!    allow, by their normal equations: elimination with the largest pivot of each column. Where
//!    the smallest pivot is below [`PIVOT_RATIO`] of the largest, the observations do not tell the
//!    types apart, and there is no estimate.
//! 2. A [`Learner`] keeps the last [`RUNS_MAX`] runs of one kind of job. For linear utility `u` is
//!    the output per slot and `x` the shares. For log utility `u` is the output's logarithm and `x`
//!    those of the shares, with one more column of ones: output then is a constant times the
//!    product of `s_r^w_r`, and its unit does not matter.
//! 3. Weights of the next order keep the estimate's proportions: the largest becomes
//!    [`WEIGHT_TOP`], negative ones 0.
//!
//! Everything here is in floating point and may differ in its last bits between machines. It is
//! advice to the signer of the order, and never part of a clearing or a payment.

use std::collections::VecDeque;

use gridbay_protocol::mechanism::share::{TYPES_MAX, Utility};

/// Smallest pivot of regular equations, of the largest.
pub const PIVOT_RATIO: f64 = 1e-9;
/// Runs that a learner keeps: tastes change, and old runs say little about the next.
pub const RUNS_MAX: usize = 64;
/// The largest weight of an estimate; leaves 20 bits to tell the others from it.
pub const WEIGHT_TOP: u32 = 1 << 20;

/// One as a Q32 share.
const ONE: f64 = 4_294_967_296.0;

/// One row of a regression.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The factors of the result, one number for each weight.
    pub given: Vec<f64>,
    /// The result.
    pub result: f64,
}

/// The weights that come closest to the results, in the sense of least squares; `None` if the
/// observations are none or empty, of different lengths, or do not determine the weights in finite
/// numbers.
#[must_use]
pub fn least_squares(observations: &[Observation]) -> Option<Vec<f64>> {
    let width = observations.first()?.given.len();
    if width == 0 || observations.iter().any(|row| row.given.len() != width) {
        return None;
    }
    // The normal equations: a row for each weight, the right-hand side as the last column.
    let mut rows = vec![vec![0.0; width + 1]; width];
    for observation in observations {
        for (row, left) in rows.iter_mut().zip(&observation.given) {
            let all = observation.given.iter().chain([&observation.result]);
            for (cell, right) in row.iter_mut().zip(all) {
                *cell += left * right;
            }
        }
    }
    eliminate(&mut rows)?;
    let mut weights = vec![0.0; width];
    for index in (0..width).rev() {
        let row = &rows[index];
        let known: f64 = (index + 1..width).map(|k| row[k] * weights[k]).sum();
        weights[index] = (row[width] - known) / row[index];
    }
    weights
        .iter()
        .all(|w: &f64| w.is_finite())
        .then_some(weights)
}

/// Brings the equations into upper triangular form; `None` if they are singular.
fn eliminate(rows: &mut [Vec<f64>]) -> Option<()> {
    let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
    for column in 0..rows.len() {
        let size = |index: &usize| rows[*index][column].abs();
        let pivot = (column..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        rows.swap(column, pivot);
        let (upper, lower) = rows.split_at_mut(column + 1);
        let leader = &upper[column];
        smallest = smallest.min(leader[column].abs());
        largest = largest.max(leader[column].abs());
        if leader[column] == 0.0 || !leader[column].is_finite() {
            return None;
        }
        for row in lower {
            let factor = row[column] / leader[column];
            for (cell, above) in row.iter_mut().zip(leader).skip(column) {
                *cell -= factor * above;
            }
        }
    }
    (smallest >= PIVOT_RATIO * largest).then_some(())
}

/// The observations of one kind of job.
#[derive(Clone, Debug)]
pub struct Learner {
    utility: Utility,
    types: usize,
    runs: VecDeque<Observation>,
}

impl Learner {
    /// Knows nothing yet of jobs over so many types; `None` if no pool has that many.
    #[must_use]
    pub fn new(utility: Utility, types: usize) -> Option<Self> {
        (1..=TYPES_MAX).contains(&types).then(|| Learner {
            utility,
            types,
            runs: VecDeque::new(),
        })
    }

    /// Notes a run: its average Q32 share of each type and its output per slot (tasks, samples, in
    /// any unit). Says whether it was of use: other types, an output that is no positive number or,
    /// for log utility, a share of zero are not. Beyond [`RUNS_MAX`] the oldest is forgotten.
    pub fn observe(&mut self, shares: &[u64], output: f64) -> bool {
        let logs = self.utility == Utility::Log;
        let usable = |share: &u64| !logs || *share > 0;
        if shares.len() != self.types || !shares.iter().all(usable) {
            return false;
        }
        if !output.is_finite() || output <= 0.0 {
            return false;
        }
        let share = |share: &u64| *share as f64 / ONE;
        let run = if logs {
            let logarithms = shares.iter().map(|s| share(s).ln());
            Observation {
                given: logarithms.chain([1.0]).collect(),
                result: output.ln(),
            }
        } else {
            Observation {
                given: shares.iter().map(share).collect(),
                result: output,
            }
        };
        if self.runs.len() == RUNS_MAX {
            self.runs.pop_front();
        }
        self.runs.push_back(run);
        true
    }

    /// Runs kept, at most [`RUNS_MAX`].
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Weights for the next order, the largest [`WEIGHT_TOP`]; `None` while the runs do not tell
    /// the types apart, or if no type helps. The buyer states its own weights then.
    #[must_use]
    pub fn weights(&self) -> Option<Vec<u32>> {
        let runs: Vec<Observation> = self.runs.iter().cloned().collect();
        let mut estimate = least_squares(&runs)?;
        estimate.truncate(self.types);
        let largest = estimate.iter().fold(0.0, |most: f64, w| most.max(*w));
        if largest <= 0.0 {
            return None;
        }
        // Within 0 and the top: negative weights and rounding saturate.
        let scaled = |w: &f64| (w / largest * f64::from(WEIGHT_TOP)).round() as u32;
        Some(estimate.iter().map(scaled).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares that differ from run to run in both types.
    fn shares(run: u64) -> [u64; 2] {
        [(1 + run % 7) << 28, (1 + run * run % 5) << 28]
    }

    #[test]
    fn a_plane_is_found_exactly_and_noise_is_averaged() {
        let row = |given: [f64; 2], result| Observation {
            given: given.to_vec(),
            result,
        };
        let mut rows = vec![row([1.0, 2.0], 8.0), row([3.0, 1.0], 9.0)];
        assert_eq!(least_squares(&rows), Some(vec![2.0, 3.0]));
        // Two more that err in opposite directions.
        rows.extend([row([0.0, 1.0], 4.0), row([0.0, 1.0], 2.0)]);
        let close = least_squares(&rows).unwrap();
        assert!((close[0] - 2.0).abs() < 1e-9 && (close[1] - 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_determines_nothing_has_no_estimate() {
        let row = |given: &[f64], result| Observation {
            given: given.to_vec(),
            result,
        };
        assert_eq!(least_squares(&[]), None);
        assert_eq!(least_squares(&[row(&[1.0, 2.0], 3.0)]), None);
        assert_eq!(
            least_squares(&[row(&[1.0, 2.0], 3.0), row(&[2.0, 4.0], 6.0)]),
            None
        );
        assert_eq!(
            least_squares(&[row(&[1.0], 3.0), row(&[1.0, 2.0], 3.0)]),
            None
        );
        assert_eq!(least_squares(&[row(&[], 3.0)]), None);
        assert_eq!(least_squares(&[row(&[0.0], 3.0)]), None);
        assert_eq!(least_squares(&[row(&[1e200], 3.0)]), None);
        assert_eq!(least_squares(&[row(&[f64::NAN], 3.0)]), None);
    }

    #[test]
    fn linear_weights_are_learnt_in_proportion() {
        let mut learner = Learner::new(Utility::Linear, 2).unwrap();
        assert_eq!(learner.weights(), None);
        for run in 0..9 {
            let [a, b] = shares(run);
            assert!(learner.observe(&[a, b], (4.0 * a as f64 + b as f64) / ONE));
        }
        assert_eq!(learner.weights(), Some(vec![WEIGHT_TOP, WEIGHT_TOP / 4]));
    }

    #[test]
    fn log_weights_do_not_depend_on_the_unit_of_output() {
        for unit in [0.001, 1.0, 50_000.0] {
            let mut learner = Learner::new(Utility::Log, 2).unwrap();
            for run in 0..9 {
                let [a, b] = shares(run);
                let output = (a as f64 / ONE).powf(0.25) * (b as f64 / ONE).powf(0.5);
                assert!(learner.observe(&[a, b], unit * output));
            }
            assert_eq!(learner.weights(), Some(vec![WEIGHT_TOP / 2, WEIGHT_TOP]));
        }
    }

    #[test]
    fn useless_runs_are_not_kept_and_old_ones_forgotten() {
        let mut learner = Learner::new(Utility::Log, 2).unwrap();
        assert!(!learner.observe(&[1], 1.0));
        assert!(!learner.observe(&[0, 1], 1.0));
        for output in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(!learner.observe(&[1, 1], output));
        }
        assert_eq!(learner.runs(), 0);
        for run in 0..2 * RUNS_MAX as u64 {
            let [a, b] = shares(run);
            // Early runs wanted the first type, late ones the second.
            let wanted = if run < RUNS_MAX as u64 { a } else { b };
            learner.observe(&[a, b], wanted as f64);
        }
        assert_eq!(learner.runs(), RUNS_MAX);
        assert_eq!(learner.weights(), Some(vec![0, WEIGHT_TOP]));
        assert!(Learner::new(Utility::Log, 0).is_none());
        assert!(Learner::new(Utility::Log, TYPES_MAX + 1).is_none());
    }
}
