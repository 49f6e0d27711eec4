//! What preemption costs: CloudBay's experiment (Zhao et al., IV.B, Fig. 7) with gridbay's rules.
//!
//! As the paper has it: 512 alike units; requests for 1 to 32 of them, which arrive as a Poisson
//! process for a month; a share of them bids at a price from Normal(8, 4) within (0, 20), all
//! others buy at 20. It has its durations from traces that are not public, "several hours" long:
//! here they are exponential. It gives no cost of a preemption but that it grows with the units of
//! the request; here that cost follows from what a preempted job of ours goes through
//! ([`keep`]).
//!
//! 1. The product's auction decides who runs at every slot, and which bids give way to a buy
//!    (`market`).
//! 2. A unit is busy while it is leased. Work that was lost, the writing of the last state, and the
//!    time until a job that was moved works again are what preemption costs.
//! 3. The same requests run again with jobs that keep nothing.
//!
//! Not modelled: several classes and sellers, budgets, deadlines, sealed rounds before a bid
//! counts, dead nodes.

pub mod keep;
mod market;
pub mod scenario;

use keep::Keeping;
use scenario::Scenario;
use serde::Serialize;

/// Milliseconds of a slot: of the policy for a wide area.
pub const SLOT_MS: u64 = 60_000;

/// The figures of one run, in unit-milliseconds where no other unit is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Of the leases of bids.
    pub busy_bids: u64,
    /// Of the leases of buys.
    pub busy_buys: u64,
    /// Work of preempted attempts that no checkpoint held.
    pub lost: u64,
    /// Writing of the state that preempted jobs left behind.
    pub leaving: u64,
    /// From the lease of a moved job to its going on: the checkpoint comes, is put in place, and
    /// the program starts.
    pub returning: u64,
    /// Writing of states now and then, which is no cost of a preemption.
    pub saving: u64,
    /// Work that counts.
    pub useful: u64,
    /// Leases of bids that were taken.
    pub preemptions: u64,
    /// The largest number of times that one job lost its lease.
    pub most_often: u64,
    /// Requests that were done.
    pub done: u64,
    /// Requests that came.
    pub came: u64,
    /// Milliseconds of the whole run.
    pub span_ms: u64,
}

impl Figures {
    /// Unit-milliseconds that preemption cost.
    pub fn cost(&self) -> u64 {
        self.lost + self.leaving + self.returning
    }
    /// Unit-milliseconds of all leases.
    pub fn busy(&self) -> u64 {
        self.busy_bids + self.busy_buys
    }
    /// Share of the units' time that was leased, percent.
    pub fn utilisation(&self) -> f64 {
        percent(self.busy(), self.span_ms * u64::from(scenario::UNITS))
    }
    /// Cost by all busy time, percent.
    pub fn of_all(&self) -> f64 {
        percent(self.cost(), self.busy())
    }
    /// Cost by the busy time of bids, percent.
    pub fn of_bids(&self) -> f64 {
        percent(self.cost(), self.busy_bids)
    }
    /// Time spent on states that are written now and then by all busy time, percent.
    pub fn saved(&self) -> f64 {
        percent(self.saving, self.busy())
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / (whole.max(1)) as f64
}

/// One point of the figure: the same requests with and without checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The load that the requests are drawn for, percent of all units.
    pub load: f64,
    /// Share of requests that bid, percent.
    pub bids: u32,
    /// Jobs that keep their progress.
    pub kept: Figures,
    /// Jobs that keep nothing.
    pub baseline: Figures,
}

/// Runs one point.
pub fn point(scenario: &Scenario, keeping: &Keeping) -> Point {
    let requests = scenario.draw();
    let run = |keeping| market::run(&requests, keeping, scenario.span_ms());
    Point {
        load: scenario.load,
        bids: scenario.bids,
        kept: run(keeping),
        baseline: run(&Keeping::nothing(keeping)),
    }
}

#[cfg(test)]
mod tests;
