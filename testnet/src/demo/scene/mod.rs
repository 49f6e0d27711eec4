//! The demo's scenes in the order in which they are played, and all checks in the order of the
//! report.
//!
//! A scene is a folder with its play, its `check`, and for tests the evidence that it leaves
//! (`sample`). Adding one takes that folder and its rows here.

mod buy;
mod contest;
mod contract;
mod crash;
mod deadline;
mod long;
mod posted;
mod reservation;
mod settle;
mod share;

use super::check::{self, Check, Verdict};
use super::evidence::Evidence;
use super::stage::Stage;
use crate::network::Plan;
use futures::future::LocalBoxFuture;

type Play = for<'s> fn(&'s mut Stage<'_>) -> LocalBoxFuture<'s, anyhow::Result<()>>;
type Judge = fn(&Evidence) -> Verdict;

const SCENES: &[Play] = &[
    |stage| Box::pin(long::play(stage)),
    |stage| Box::pin(contest::play(stage)),
    |stage| Box::pin(buy::play(stage)),
    |stage| Box::pin(deadline::play(stage)),
    |stage| Box::pin(reservation::play(stage)),
    |stage| Box::pin(contract::play(stage)),
    |stage| Box::pin(crash::play(stage)),
    |stage| Box::pin(share::play(stage)),
    |stage| Box::pin(posted::play(stage)),
    |stage| Box::pin(settle::play(stage)),
];

const CHECKS: &[(&str, Judge)] = &[
    ("every job's output is right", check::outputs::judge),
    ("more was wanted than offered", contest::check::judge),
    ("each loser has a reason", check::losers::judge),
    ("the preempted order was made good", buy::check::judge),
    ("jobs by deadlines paid their price", deadline::check::judge),
    (
        "nodes reserved ahead, decided and paid right",
        reservation::check::judge,
    ),
    ("the contract was settled right", contract::check::judge),
    ("every statement adds up", check::statements::judge),
    (
        "equal blocks and state roots on all nodes",
        check::blocks::judge,
    ),
    ("money is conserved", check::money::judge),
    (
        "paid = earned, nobody above its bid",
        check::clearings::judge,
    ),
    ("the pool was shared", share::check::judge),
    ("first come was first served", posted::check::judge),
    ("auction verify", check::auctions::judge),
    ("ledger verify", check::ledgers::judge),
    ("the killed validator caught up", crash::check::judge),
    ("no job process is left behind", check::leftovers::judge),
];

/// The scenes' parts of evidence that passes all checks.
#[cfg(test)]
pub(super) const SAMPLES: &[fn(&mut Evidence)] = &[
    deadline::sample::add,
    share::sample::add,
    reservation::sample::add,
    contract::sample::add,
    posted::sample::add,
];

/// Adds the scenes' needs to the plan of the network.
pub(super) fn prepare(plan: &mut Plan) {
    contract::prepare(plan);
}

/// Plays all scenes.
pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    for scene in SCENES {
        scene(stage).await?;
    }
    Ok(())
}

/// Judges everything.
pub(super) fn judge(evidence: &Evidence) -> Vec<Check> {
    let checks = CHECKS.iter();
    checks
        .map(|(name, judge)| Check::new(name, judge(evidence)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn good_evidence_passes_all_checks() {
        for check in judge(&sample::good()) {
            assert!(check.ok, "{}: {}", check.name, check.detail);
            assert!(!check.detail.is_empty(), "{}", check.name);
        }
    }
}
