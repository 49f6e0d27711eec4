//! The conditions of an explanation, each with its figures.

use super::Facts;
use crate::api::types::{JobReason, JobState, WhyCheck};
use gridbay_protocol::units::Credits;

fn check(condition: String, met: bool, figures: String) -> WhyCheck {
    WhyCheck {
        condition,
        met,
        figures,
    }
}

/// The conditions that matter in the order's state: what the next clearing asks of one that
/// competes, what it lacked of one that ended without units, and of one that has units whether the
/// next slot can be paid.
pub(super) fn checks(f: &Facts) -> Vec<WhyCheck> {
    let mut checks = Vec::new();
    if competes(f) || lacked(f) || f.booked_from.is_some() {
        checks.extend(checks_of_units(f));
        checks.push(check_of_price(f));
    }
    if !f.state.is_final() || lacked(f) {
        checks.extend(checks_of_money(f));
    }
    checks.extend(f.words.check.clone());
    checks.extend(check_of_defeat(f));
    checks.extend(checks_of_progress(f));
    checks
}

/// Whether the order takes part in clearings without units of its own.
fn competes(f: &Facts) -> bool {
    matches!(
        f.state,
        JobState::Queued | JobState::Bidding | JobState::Requeued
    )
}

/// Whether the order ended for want of units, or of the money for them.
fn lacked(f: &Facts) -> bool {
    f.state.is_final()
        && matches!(
            f.reason,
            Some(
                JobReason::NoUnits
                    | JobReason::TooDear
                    | JobReason::Outbid
                    | JobReason::TimedOut
                    | JobReason::Unfunded
            )
        )
}

/// The defeat in the last clearing, if the bid lost it.
fn check_of_defeat(f: &Facts) -> Option<WhyCheck> {
    let lost = f.lost?;
    let mut figures = format!(
        "height {}, rule {}, it bid {}",
        lost.height,
        lost.rule.name(),
        lost.bid
    );
    if lost.least > 1 {
        figures += &format!(" for {} nodes or none", lost.least);
    }
    if let Some(price) = lost.passed_over {
        figures += &format!("; passed over for a bid of {price} that filled more nodes");
    }
    figures += &match lost.would_win {
        Some(price) => format!("; {price} would have won"),
        None => "; no price would have won".to_owned(),
    };
    Some(check("the last clearing".into(), false, figures))
}

/// Whether it offers as much as it costs.
fn check_of_price(f: &Facts) -> WhyCheck {
    let or_none = |price: Option<Credits>| price.map_or("none".to_owned(), |p| p.to_string());
    let last = f.last.filter(|_| !f.prepaid);
    check(
        "price per node-hour".into(),
        f.asked.max(last).is_none_or(|going| going <= f.limit),
        format!(
            "limit {}, sellers ask {}, last clearing {}",
            f.limit,
            or_none(f.asked),
            or_none(f.last)
        ),
    )
}

/// Whether what comes next can be paid.
fn checks_of_money(f: &Facts) -> [WhyCheck; 2] {
    let missing = f.needed.saturating_sub(f.locked);
    [
        check(
            if f.prepaid {
                "funds for all of it"
            } else {
                "funds for the next slot"
            }
            .into(),
            missing <= f.spendable || f.state == JobState::Running || f.booked_from.is_some(),
            format!(
                "{} needed, {} locked, {} to spend",
                f.needed, f.locked, f.spendable
            ),
        ),
        check(
            "budget".into(),
            f.prepaid || f.needed <= f.budget.saturating_sub(f.paid),
            format!("{} of {} paid", f.paid, f.budget),
        ),
    ]
}

/// Whether there are enough units.
fn checks_of_units(f: &Facts) -> Vec<WhyCheck> {
    if let Some(units) = &f.words.units {
        return units.clone();
    }
    let mut figures = format!(
        "{} offered, {} free, {} wanted, {} at least",
        f.offered, f.free, f.nodes, f.fewest
    );
    let enough = f.offered >= f.fewest;
    // It failed for want of them, whatever is offered and free by now.
    let lacked = f.reason == Some(JobReason::NoUnits);
    if enough && lacked {
        figures += "; too few when it was decided on";
    }
    let condition = format!("units of class {}", f.class);
    vec![check(condition, enough && !lacked, figures)]
}

/// How far the order has come.
fn checks_of_progress(f: &Facts) -> Vec<WhyCheck> {
    let (ranks, begun, done) = f.ranks;
    let sealed = f
        .sealed_in
        .map_or(String::new(), |r| format!(", sealed in round {r}"));
    let mut checks = Vec::new();
    if competes(f) {
        checks.push(check(
            "its round has closed".into(),
            f.state == JobState::Requeued,
            format!(
                "height {}, round {} closes at height {}, slot {}{sealed}",
                f.height, f.round, f.closes_at, f.slot
            ),
        ));
    }
    if let Some((by, all)) = f.acknowledged {
        checks.push(check(
            "its entry is acknowledged".into(),
            by * 3 > all * 2,
            format!("by {by} of {all} validators"),
        ));
    }
    // One that ended without ever running has none to tell of.
    if !f.state.is_final() || begun + done > 0 {
        checks.push(check(
            "ranks at work".into(),
            begun + done == ranks as usize,
            format!("{done} of {ranks} done, {begun} at work"),
        ));
    }
    if f.dropped > 0 {
        let figures = format!("{} bytes were dropped", f.dropped);
        checks.push(check("all output is kept".into(), false, figures));
    }
    checks
}

#[cfg(test)]
mod tests;
