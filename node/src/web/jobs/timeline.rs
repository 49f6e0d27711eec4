//! How a job got to where it is, newest first.

use crate::api::types::{JobAttempt, JobRecord, JobState};
use crate::backend::NodeBackend;
use crate::cli::text;
use crate::web::failure::sentence;
use crate::web::figures::{clock, count, short};
use maud::{Markup, html};

/// Steps shown at the most.
const STEPS: usize = 40;

/// One step.
struct Step {
    at_ms: u64,
    title: String,
    about: String,
}

/// Ledger times of the blocks that a job's order was in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) committed: Option<u64>,
    pub(super) opened: Option<u64>,
    pub(super) won: Option<u64>,
}

impl Times {
    /// Of a job, as far as its blocks are kept here.
    pub(super) async fn of(node: &NodeBackend, job: &JobRecord) -> Times {
        let mut times = [None; 3];
        let heights = [job.committed_height, job.opened_height, job.won_height];
        for (time, height) in times.iter_mut().zip(heights) {
            if let Some(height) = height {
                *time = node.block(height).await.ok().map(|block| block.time_ms);
            }
        }
        let [committed, opened, won] = times;
        Times {
            committed,
            opened,
            won,
        }
    }
}

/// The steps of a job.
pub(super) fn timeline(job: &JobRecord, times: &Times) -> Markup {
    let mut steps = steps(job, times);
    // Steps of one moment stay in the order in which they follow from one another.
    steps.sort_by_key(|step| step.at_ms);
    steps.reverse();
    let more = steps.len().saturating_sub(STEPS);
    html! {
        ol.timeline {
            @for step in steps.iter().take(STEPS) {
                @let at = text::time(step.at_ms);
                @let hour = at.get(11..).unwrap_or(&at);
                li {
                    time datetime={ (at.replace(' ', "T")) "Z" } title={ (at) " UTC" } { (hour) }
                    div { h3 { (step.title) } p { (step.about) } }
                }
            }
        }
        @if more > 0 { p.muted { (count(more as u64)) " older steps are not shown." } }
    }
}

fn steps(job: &JobRecord, times: &Times) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |at_ms: Option<u64>, title: &str, about: String| {
        if let Some(at_ms) = at_ms {
            steps.push(Step {
                at_ms,
                title: title.to_owned(),
                about,
            });
        }
    };
    let height = |height: Option<u64>| match height {
        Some(height) => format!("In the block of height {}.", count(height)),
        None => String::new(),
    };
    let sent = "The node keeps the order and sends it to the ledger.";
    add(Some(job.accepted_ms), "Accepted", sent.to_owned());
    add(
        times.committed,
        "On the ledger",
        height(job.committed_height),
    );
    add(times.opened, "Bid opened", height(job.opened_height));
    let leases = match job.preemptions {
        0 => height(job.won_height),
        n => format!("{} It had lost {n} leases before.", height(job.won_height)),
    };
    add(times.won, "Won a lease", leases);
    for attempt in &job.attempts {
        let name = format!("Rank {} ran", attempt.rank);
        let again = format!("Rank {} ran again", attempt.rank);
        let title = if attempt.attempt == 0 { name } else { again };
        add(attempt.started_ms, &title, begun(attempt));
        let ended = format!("Rank {} ended", attempt.rank);
        let why = attempt.end.as_deref().unwrap_or("no reason is known");
        let lost = match attempt.lost_seconds {
            0 => String::new(),
            lost => format!(" {} of its work were lost.", clock(lost * 1_000)),
        };
        let about = format!("{}{lost}", sentence(&short(&why.replace('_', " "), 80)));
        // A short one may be seen running only after it has ended.
        add(
            attempt
                .ended_ms
                .map(|end| end.max(attempt.started_ms.unwrap_or(0))),
            &ended,
            about,
        );
    }
    if job.attempts.is_empty() {
        add(job.running_ms, "Running", "First instruction.".to_owned());
    }
    let over = match job.state {
        JobState::Done => "Every rank ended with 0.".to_owned(),
        state => match job.reason {
            Some(reason) => format!("{}: {}", state.name(), reason.name().replace('_', " ")),
            None => state.name().to_owned(),
        },
    };
    let last = steps.iter().map(|step| step.at_ms).max().unwrap_or(0);
    if let Some(at_ms) = job.ended_ms {
        steps.push(Step {
            at_ms: at_ms.max(last),
            title: "The job ended".to_owned(),
            about: sentence(&over),
        });
    }
    steps
}

fn begun(attempt: &JobAttempt) -> String {
    let seller = match &attempt.seller {
        Some(name) => short(name, 40),
        None => "a seller without a name".to_owned(),
    };
    match &attempt.resumed {
        None => format!("Attempt {} at {seller}.", attempt.attempt),
        Some(from) => format!(
            "Attempt {} at {seller}, from a checkpoint of attempt {} that was {} old.",
            attempt.attempt,
            from.attempt,
            clock(from.age_seconds.saturating_mul(1_000))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples;

    #[test]
    fn the_newest_step_comes_first_and_names_stay_text() {
        let job = samples::job();
        let times = Times {
            committed: Some(2_000),
            opened: None,
            won: Some(3_000),
        };
        let shown = timeline(&job, &times).into_string();
        let place = |text: &str| {
            shown
                .find(text)
                .unwrap_or_else(|| panic!("{text}: {shown}"))
        };
        assert!(place("The job ended") < place("Rank 0 ran"));
        assert!(place("Rank 0 ran") < place("Won a lease"));
        assert!(place("Won a lease") < place("On the ledger"));
        assert!(place("On the ledger") < place("Accepted"));
        assert!(
            !shown.contains("Bid opened") && !shown.contains("<script"),
            "{shown}"
        );
    }

    #[test]
    fn an_attempt_that_was_seen_late_still_begins_before_it_ends() {
        let mut job = samples::job();
        job.attempts[0].started_ms = job.ended_ms.map(|at| at + 5);
        let shown = timeline(&job, &Times::default()).into_string();
        let place = |text: &str| {
            shown
                .find(text)
                .unwrap_or_else(|| panic!("{text}: {shown}"))
        };
        assert!(place("The job ended") < place("Rank 0 ended"), "{shown}");
        assert!(place("Rank 0 ended") < place("Rank 0 ran"), "{shown}");
    }

    #[test]
    fn steps_are_bounded() {
        let mut job = samples::job();
        let attempt = job.attempts[0].clone();
        job.attempts = vec![attempt; 100];
        let shown = timeline(&job, &Times::default()).into_string();
        assert_eq!(shown.matches("<li>").count(), STEPS);
        assert!(shown.contains("older steps are not shown"));
    }
}
