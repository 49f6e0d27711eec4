//! Makes a failing plan smaller while the same invariant still breaks.
//!
//! 1. Everything after the breach goes.
//! 2. Liars go, one by one.
//! 3. Faults go: halves, then quarters, down to single ones.
//! 4. The weather clears, no house floods, the users hire no more, and do less.
//!
//! It ends when nothing more can go, or after a number of runs.

use crate::plan::{Plan, Weather};
use crate::run::{Outcome, run};
use crate::trace::Trace;

/// A plan that is being made smaller.
struct Shrinking {
    best: Outcome,
    id: &'static str,
    left: usize,
}

impl Shrinking {
    /// Runs a smaller plan and takes it if it fails in the same way.
    fn takes(&mut self, plan: Plan) -> bool {
        if self.left == 0 || plan == self.best.plan {
            return false;
        }
        self.left -= 1;
        let outcome = run(&plan, None, Trace::default());
        let same = outcome.broken.as_ref().is_some_and(|b| b.id == self.id);
        if same {
            self.best = outcome;
        }
        same
    }
    fn with(&self, change: impl FnOnce(&mut Plan)) -> Plan {
        let mut plan = self.best.plan.clone();
        change(&mut plan);
        plan
    }
    fn cut_end(&mut self) {
        let at = self.best.broken.as_ref().map_or(0, |b| b.at);
        let plan = self.with(|plan| {
            plan.faults.retain(|timed| timed.at <= at);
            plan.active_ms = plan.active_ms.min(at + 1);
        });
        self.takes(plan);
    }
    fn drop_liars(&mut self) {
        for i in (0..self.best.plan.liars.len()).rev() {
            let plan = self.with(|plan| {
                plan.liars.remove(i);
            });
            self.takes(plan);
        }
    }
    fn drop_faults(&mut self) {
        let mut size = self.best.plan.faults.len().div_ceil(2);
        while size > 0 {
            let mut start = 0;
            while start < self.best.plan.faults.len() {
                let plan = self.with(|plan| {
                    let end = (start + size).min(plan.faults.len());
                    plan.faults.drain(start..end);
                });
                if !self.takes(plan) {
                    start += size;
                }
            }
            size /= 2;
        }
    }
    fn calm(&mut self) {
        let plan = self.with(|plan| plan.weather = Weather::FAIR);
        self.takes(plan);
        let plan = self.with(|plan| plan.hires = false);
        self.takes(plan);
        let plan = self.with(|plan| plan.progress = false);
        self.takes(plan);
        let plan = self.with(|plan| plan.crowd = false);
        self.takes(plan);
        for _ in 0..3 {
            let plan = self.with(|plan| plan.deed_ms *= 2);
            self.takes(plan);
        }
    }
}

/// Makes the plan of a failing outcome smaller, in at most `runs` runs. An outcome without a breach
/// comes back as it is.
pub fn shrink(outcome: Outcome, runs: usize) -> Outcome {
    let Some(id) = outcome.broken.as_ref().map(|b| b.id) else {
        return outcome;
    };
    let mut shrinking = Shrinking {
        best: outcome,
        id,
        left: runs,
    };
    shrinking.cut_end();
    shrinking.drop_liars();
    shrinking.drop_faults();
    shrinking.calm();
    shrinking.cut_end();
    shrinking.best
}
