//! What a job's record tells of the attempts at its ranks.

use crate::api::types::{JobAttempt, ResumedFrom};
use gridbay_core::buyer::{Attempt, AttemptEnd, TaskRecord};
use gridbay_ledger::State;
use serde::Serialize;

/// All attempts that are told of, by rank and number.
pub(super) fn attempts(state: &State, tasks: &[TaskRecord]) -> Vec<JobAttempt> {
    let of_task = |(rank, task): (u32, &TaskRecord)| {
        let told = task.history.attempts.iter();
        told.map(|a| attempt(state, rank, a)).collect::<Vec<_>>()
    };
    (0..).zip(tasks).flat_map(of_task).collect()
}

/// Seconds of work that all of them lost.
pub(super) fn lost_seconds(tasks: &[TaskRecord]) -> u64 {
    let lost = tasks.iter().map(|task| task.history.lost_ms);
    rounded(lost.fold(0, u64::saturating_add))
}

fn attempt(state: &State, rank: u32, attempt: &Attempt) -> JobAttempt {
    let offer = state.offer(&attempt.offer);
    let seller = offer.and_then(|o| state.member_name(&o.seller));
    let end = match (attempt.end, &attempt.market) {
        (Some(AttemptEnd::UnitLost), Some(market)) => word(market),
        (end, _) => end.as_ref().and_then(word),
    };
    let reached = |ms: u64| Some(ms).filter(|ms| *ms > 0);
    JobAttempt {
        rank,
        attempt: attempt.number,
        node: attempt.node,
        seller: seller.map(str::to_owned),
        started_ms: reached(attempt.started_ms),
        ended_ms: reached(attempt.ended_ms).filter(|_| attempt.end.is_some()),
        end,
        resumed: attempt.resumed.map(|from| ResumedFrom {
            attempt: from.from,
            bytes: from.bytes,
            age_seconds: rounded(from.age_ms),
        }),
        lost_seconds: rounded(attempt.lost_ms),
    }
}

/// The word by which a reason is kept on disk.
pub(crate) fn word<T: Serialize>(reason: &T) -> Option<String> {
    let value = serde_json::to_value(reason).ok()?;
    value.as_str().map(str::to_owned)
}

/// Whole seconds, the nearest.
fn rounded(ms: u64) -> u64 {
    ms.saturating_add(500) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::buy::End;
    use gridbay_core::buyer::History;

    #[test]
    fn ends_have_words_and_losses_are_rounded() {
        assert_eq!(word(&End::Preempted).as_deref(), Some("preempted"));
        assert_eq!(word(&AttemptEnd::UnitLost).as_deref(), Some("unit_lost"));
        let task = |lost_ms| TaskRecord {
            history: History {
                lost_ms,
                ..History::default()
            },
            ..TaskRecord::default()
        };
        assert_eq!(lost_seconds(&[task(700), task(900)]), 2);
        assert_eq!(lost_seconds(&[task(499)]), 0);
    }
}
