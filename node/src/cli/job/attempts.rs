//! The attempts at a job's ranks, as a table below its description.

use crate::api::types::{JobAttempt, JobRecord};
use crate::cli::text;
use crate::ui::Table;

/// How a job keeps its progress.
pub(super) fn kept(job: &JobRecord) -> Option<String> {
    let keeps = job.checkpoint.as_ref()?;
    let span = |seconds: u32| text::span(u64::from(seconds) * 1_000);
    Some(format!(
        "in {}, fetched every {}, {} to save",
        keeps.folder,
        span(keeps.every_seconds),
        span(keeps.grace_seconds)
    ))
}

/// One line an attempt; nothing for a job whose ranks had no more than one each and that keeps no
/// progress.
pub(super) fn table(job: &JobRecord) -> String {
    let again = job.attempts.iter().any(|a| a.attempt > 0);
    if !again && (job.checkpoint.is_none() || job.attempts.is_empty()) {
        return String::new();
    }
    let table = Table::of(
        &job.attempts,
        &[
            (">RANK", &|a| a.rank.to_string()),
            (">ATTEMPT", &|a| a.attempt.to_string()),
            ("SELLER", &seller),
            ("STARTED", &|a| text::or_dash(a.started_ms.map(text::ago))),
            (">RAN", &|a| text::or_dash(ran(a))),
            ("ENDED", &|a| text::or_dash(a.end.clone())),
            ("RESUMED FROM", &|a| text::or_dash(resumed(a))),
            (">LOST", &|a| {
                text::span(a.lost_seconds.saturating_mul(1_000))
            }),
        ],
    );
    format!("\n{table}")
}

fn seller(attempt: &JobAttempt) -> String {
    let key = || attempt.node.to_string().chars().take(8).collect();
    attempt.seller.clone().unwrap_or_else(key)
}

fn ran(attempt: &JobAttempt) -> Option<String> {
    let (from, to) = (attempt.started_ms?, attempt.ended_ms?);
    Some(text::span(to.saturating_sub(from)))
}

fn resumed(attempt: &JobAttempt) -> Option<String> {
    let from = attempt.resumed?;
    let age = text::span(from.age_seconds.saturating_mul(1_000));
    let (number, bytes) = (from.attempt, from.bytes);
    Some(format!("attempt {number}: {bytes} bytes, {age} old"))
}
