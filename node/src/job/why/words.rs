//! The words of an explanation: one sentence, and changes that would help.

use super::Facts;
use crate::api::types::{JobReason, JobState};

/// State and reason in one sentence.
pub(super) fn summary(f: &Facts) -> String {
    f.words.sentence.clone().unwrap_or_else(|| of_all(f))
}

/// The outcomes that any order can have.
fn of_all(f: &Facts) -> String {
    let class = &f.class;
    match (f.state, f.reason) {
        (JobState::Queued, _) => "The order is on its way to the ledger.".into(),
        (_, Some(JobReason::NoUnits)) => {
            format!(
                "{} units of {class} are wanted at least, {} are offered.",
                f.fewest, f.offered
            )
        }
        (JobState::Bidding | JobState::Requeued, _) => of_waiting(f),
        (JobState::Won, _) => "It has a lease; its sellers are asked to start it.".into(),
        (JobState::Staging, _) => "Its sellers fetch its files.".into(),
        (JobState::Running, _) => {
            let (ranks, begun, done) = f.ranks;
            format!("It runs: of {ranks} ranks {begun} have begun and {done} are done.")
        }
        (JobState::Ending, _) => "Its user ended it; its lease ends with its slot.".into(),
        (JobState::Done, _) => "Every rank ended with 0.".into(),
        (JobState::Cancelled, _) => "It was cancelled.".into(),
        (_, Some(reason)) => of_end(f, reason),
        (state, None) => format!("It is {}.", state.name()),
    }
}

/// Why it ended, where the state alone does not say it.
fn of_end(f: &Facts, reason: JobReason) -> String {
    match reason {
        JobReason::ExitCode => "A rank ended with a code other than 0.".into(),
        JobReason::TimeLimit => "A rank reached its time limit.".into(),
        JobReason::DiskLimit => {
            "A rank held more on the disk than its unit has; what it wrote was removed.".into()
        }
        JobReason::Lost => "Ranks were lost with their hosts too often.".into(),
        JobReason::LeaseEnded => "All slots of the order were used before it ended.".into(),
        JobReason::Preempted => {
            "Another buy took its units for a surcharge: it has that, and what it had not used."
                .into()
        }
        JobReason::Disputed => {
            "Its seller did not serve it: the slot complained of was paid back. Run it again."
                .into()
        }
        JobReason::Undelivered => {
            "Its seller did not deliver it, and what was locked came back. Run it again.".into()
        }
        JobReason::TimedOut => "It stood for its whole patience without units.".into(),
        JobReason::Unfunded => {
            format!(
                "{} were needed for the next slot and could not be locked.",
                f.needed
            )
        }
        JobReason::TooDear => {
            format!("The units cost more than {} per node-hour.", f.limit)
        }
        JobReason::NotOpened => "Its bid did not reach the ledger in its round.".into(),
        JobReason::Refused => {
            let word = f.refusal.as_deref().unwrap_or("refused");
            format!("The ledger did not take its order: {word}.")
        }
        _ => format!("It is {}.", f.state.name()),
    }
}

/// For one that competes, or competes again.
fn of_waiting(f: &Facts) -> String {
    match (f.state, f.reason) {
        (JobState::Bidding, Some(JobReason::Sealed)) => {
            format!(
                "The bid is sealed; it is opened and competes in round {}.",
                f.round + 1
            )
        }
        (JobState::Bidding | JobState::Requeued, Some(JobReason::Outbid)) => {
            format!(
                "Others bid more than {} per node-hour, or sellers ask more.",
                f.limit
            )
        }
        (JobState::Bidding, _) => format!("It waits for the close of round {}.", f.round),
        (JobState::Requeued, Some(JobReason::Preempted)) => {
            "A buy-it-now took its units; it competes again in every round.".into()
        }
        (JobState::Requeued, Some(JobReason::Undelivered)) => {
            "A seller did not deliver; it competes again in every round.".into()
        }
        (JobState::Requeued, Some(JobReason::Disputed)) => {
            "A seller did not serve it, and the slot was paid back; it competes again in every round.".into()
        }
        (_, _) => "It lost its lease and competes again in every round.".into(),
    }
}

/// The change that would help.
pub(super) fn remedies(f: &Facts) -> Vec<String> {
    let mut remedies = Vec::new();
    if f.state == JobState::Done || f.state == JobState::Cancelled {
        return remedies;
    }
    if f.offered < f.fewest {
        remedies.push(format!(
            "ask for at most {} nodes, or for another class",
            f.offered
        ));
        if f.fewest == f.nodes && f.nodes > 1 {
            remedies.push("make it divisible, so that fewer nodes are of use".into());
        }
    }
    match &f.words.remedies {
        Some(own) => remedies.extend(own.iter().cloned()),
        None => of_reason(f, &mut remedies),
    }
    if !f.prepaid && !f.state.is_final() && f.budget.saturating_sub(f.paid) < f.needed {
        remedies.push("raise the budget: it does not cover another slot".into());
    }
    remedies
}

/// The change that would remove the reason of its state.
fn of_reason(f: &Facts, remedies: &mut Vec<String>) {
    let going = f.asked.max(f.last);
    match f.reason {
        Some(JobReason::Outbid | JobReason::TooDear | JobReason::TimedOut) => {
            let price = match f.lost.and_then(|lost| lost.would_win) {
                Some(price) => format!(" of {price} or more"),
                None => going.map_or(String::new(), |p| format!(" above {p}")),
            };
            remedies.push(format!("submit it again with a higher price limit{price}"));
            if !f.prepaid {
                remedies.push("or buy now, if units are for sale that way".into());
            }
        }
        Some(JobReason::Unfunded) => {
            remedies.push("have money transferred to the account, or raise the budget".into());
        }
        Some(JobReason::LeaseEnded | JobReason::TimeLimit) => {
            remedies.push("submit it again with more time".into());
        }
        Some(JobReason::DiskLimit) => {
            remedies.push("submit it again on a class with more disk".into());
        }
        Some(JobReason::ExitCode) => remedies.push("read its logs".into()),
        Some(
            JobReason::Lost
            | JobReason::Undelivered
            | JobReason::Disputed
            | JobReason::NotOpened
            | JobReason::Refused,
        ) => {
            remedies.push("submit it again".into());
        }
        _ => {}
    }
}
