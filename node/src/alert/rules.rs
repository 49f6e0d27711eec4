//! The conditions that hold now, by the facts of one look.
//!
//! | kind | begins | stays until |
//! |---|---|---|
//! | low balance | below the limit | a fifth above it |
//! | preempted | a job loses leases | it has nodes again, or is over |
//! | lease ending | ends within the limit | it ends, or a fifth more than the limit is left |
//! | unreachable | no peer, or a validator that does not rest is not connected | it is |
//! | block interval | no block for three times the most; the mean above 1.5 times the most, or below 0.8 times the least | half of that; 1.2; 0.9 |
//! | trouble | the node has it | it has not |

use super::facts::{Facts, LeaseFact, OrderFact};
use super::types::AlertKind;
use super::watch::Watch;
use crate::api::types::Signed;
use crate::cli::text::span;
use crate::config::AlertLimits;
use std::collections::BTreeMap;

/// How far a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// It holds.
    On,
    /// It is neither begun by this nor over.
    Between,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Its subject matter.
    pub(super) kind: AlertKind,
    /// The thing it is about.
    pub(super) subject: String,
    /// How far it holds.
    pub(super) level: Level,
    /// One sentence.
    pub(super) what: String,
    /// Advice.
    pub(super) hint: String,
}

/// All conditions that hold. `lost` tells how many leases each open job had lost at the last look.
pub(super) fn standing(
    facts: &Facts,
    limits: &AlertLimits,
    watch: &Watch,
    lost: Option<&BTreeMap<String, u32>>,
) -> Vec<Standing> {
    let mut all: Vec<Standing> = balance(facts, limits).into_iter().collect();
    all.extend(
        facts
            .orders
            .iter()
            .filter_map(|order| preempted(order, lost)),
    );
    all.extend(ending(facts, limits));
    all.extend(unreachable(facts));
    all.extend(blocks(facts, watch));
    all.extend(facts.troubles.iter().map(|(kind, what, hint)| Standing {
        kind: AlertKind::Trouble,
        subject: (*kind).to_owned(),
        level: Level::On,
        what: what.clone(),
        hint: hint.clone(),
    }));
    all
}

/// `On` below the first bound, `Between` below the second, else nothing.
fn below(value: i128, (on, between): (i128, i128)) -> Option<Level> {
    match value {
        value if value < on => Some(Level::On),
        value if value < between => Some(Level::Between),
        _ => None,
    }
}

/// A fifth more.
fn more(value: u64) -> i128 {
    let value = i128::from(value);
    value + value / 5
}

fn balance(facts: &Facts, limits: &AlertLimits) -> Option<Standing> {
    let (account, free) = facts.account.as_ref()?;
    let limit = limits.balance.micros();
    let level = below(i128::from(*free), (i128::from(limit), more(limit)))?;
    Some(Standing {
        kind: AlertKind::LowBalance,
        subject: account.clone(),
        level,
        what: format!(
            "the account has {} credits, less than {}",
            Signed(*free),
            limits.balance
        ),
        hint: "gridbay ledger statement tells where they went; bids without money end unfunded"
            .to_owned(),
    })
}

fn preempted(order: &OrderFact, lost: Option<&BTreeMap<String, u32>>) -> Option<Standing> {
    // Before the first look nothing is known of what an order had lost.
    let before = lost.map_or(order.lost, |lost| {
        lost.get(&order.job).copied().unwrap_or(0)
    });
    let level = match order.lost > before {
        true => Level::On,
        false if order.waits && order.lost > 0 => Level::Between,
        false => return None,
    };
    Some(Standing {
        kind: AlertKind::Preempted,
        subject: order.job.clone(),
        level,
        what: format!("job {} ({}) has lost its nodes", order.name, order.job),
        hint: format!("gridbay job why {} tells to whom and what helps", order.job),
    })
}

fn ending(facts: &Facts, limits: &AlertLimits) -> Vec<Standing> {
    let limit = limits.lease_end_ms;
    let one = |lease: &LeaseFact| {
        let bounds = (i128::from(limit), more(limit));
        Some(Standing {
            kind: AlertKind::LeaseEnding,
            subject: lease.lease.clone(),
            level: below(i128::from(lease.left_ms), bounds)?,
            what: format!(
                "the lease of job {} ends in {}",
                lease.name,
                span(lease.left_ms)
            ),
            hint: "its job should be done by then, or keep its progress".to_owned(),
        })
    };
    facts.leases.iter().filter_map(one).collect()
}

fn unreachable(facts: &Facts) -> Vec<Standing> {
    let about = |subject: &str, what: String, hint: &str| Standing {
        kind: AlertKind::Unreachable,
        subject: subject.to_owned(),
        level: Level::On,
        what,
        hint: hint.to_owned(),
    };
    // All of them are then missing for one reason.
    if facts.peers == 0 && !facts.validators.is_empty() {
        let what = "no other node is connected".to_owned();
        return vec![about("network", what, "gridbay doctor tries the ways out")];
    }
    let missing = facts.validators.iter().filter(|(_, _, near)| !near);
    let one = |(node, name, _): &(String, String, bool)| {
        let what = format!("the validator of {name} ({node}) is not connected");
        about(node, what, "gridbay peer list tells who is connected")
    };
    missing.map(one).collect()
}

fn blocks(facts: &Facts, watch: &Watch) -> Option<Standing> {
    let (least, most) = facts.pace;
    let (least, most) = (i128::from(least), i128::from(most));
    let still = watch.still_ms(facts.now_ms);
    // Above a bound is below it with the sign turned.
    let late = below(-i128::from(still), (-3 * most, -most * 3 / 2));
    let late = late.map(|level| {
        (
            level,
            "late",
            format!("no block has come for {}", span(still)),
        )
    });
    let paced = watch.mean_ms().and_then(|mean| {
        let (tenfold, what) = (
            10 * i128::from(mean),
            format!("blocks are {} apart", span(mean)),
        );
        let slow = below(-tenfold, (-15 * most, -12 * most)).map(|level| (level, "slow"));
        let fast = below(tenfold, (8 * least, 9 * least)).map(|level| (level, "fast"));
        let (level, subject) = slow.or(fast)?;
        Some((level, subject, what))
    });
    let (level, subject, what) = late.or(paced)?;
    let hint = match subject {
        "fast" => "the clocks of validators go too fast: see gridbay doctor",
        _ => "too few validators, slow ones, or slow ways to them: see gridbay doctor",
    };
    Some(Standing {
        kind: AlertKind::BlockInterval,
        subject: subject.to_owned(),
        level,
        what,
        hint: hint.to_owned(),
    })
}

#[cfg(test)]
mod tests;
