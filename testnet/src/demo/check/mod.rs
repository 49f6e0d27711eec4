//! The demo's checks: pure functions from the evidence to a verdict, one file each. The tests
//! beside each check show that it fails on evidence that it must not accept.

mod auctions;
mod blocks;
mod clearings;
mod contest;
mod contracts;
mod deadlines;
mod hires;
mod ledgers;
mod leftovers;
mod losers;
mod money;
mod outputs;
mod preemption;
mod recovery;
mod reservations;
mod sharings;
mod statements;
mod verdict;

#[cfg(test)]
pub(super) mod sample;

pub(crate) use verdict::{Check, Verdict};

use super::evidence::Evidence;

/// A check.
type Judge = fn(&Evidence) -> Verdict;

/// All checks of the evidence, in the order of the report.
const CHECKS: &[(&str, Judge)] = &[
    ("every job's output is right", outputs::judge),
    ("more was wanted than offered", contest::judge),
    ("each loser has a reason", losers::judge),
    ("the preempted order was made good", preemption::judge),
    ("jobs by deadlines paid their price", deadlines::judge),
    (
        "nodes reserved ahead, decided and paid right",
        reservations::judge,
    ),
    ("the contract was settled right", contracts::judge),
    ("every statement adds up", statements::judge),
    ("equal blocks and state roots on all nodes", blocks::judge),
    ("money is conserved", money::judge),
    ("paid = earned, nobody above his bid", clearings::judge),
    ("the pool was shared", sharings::judge),
    ("first come was first served", hires::judge),
    ("auction verify", auctions::judge),
    ("ledger verify", ledgers::judge),
    ("the killed validator caught up", recovery::judge),
    ("no job process is left behind", leftovers::judge),
];

/// Judges everything.
pub(crate) fn judge(evidence: &Evidence) -> Vec<Check> {
    let checks = CHECKS.iter();
    checks
        .map(|(name, judge)| Check::new(name, judge(evidence)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_evidence_passes_all_checks() {
        for check in judge(&sample::good()) {
            assert!(check.ok, "{}: {}", check.name, check.detail);
            assert!(!check.detail.is_empty(), "{}", check.name);
        }
    }
}
