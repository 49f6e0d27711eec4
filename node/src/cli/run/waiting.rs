//! What a job waits for before it runs, in one line: on a terminal one that changes, elsewhere a
//! new one whenever it has something else to say.

use super::cheaper::Cheaper;
use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::{JobRecord, JobState, Why};
use crate::ui;
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

/// A job that begins within this time is not told of.
const QUIET: Duration = Duration::from_secs(3);
/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// The line of one job.
#[derive(Debug)]
pub(super) struct Waiting {
    next: Instant,
    summary: String,
    cheaper: Cheaper,
}

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting {
            next: Instant::now() + QUIET,
            summary: String::new(),
            cheaper: Cheaper::default(),
        }
    }

    /// Says what a job waits for, if it is time.
    pub(super) async fn look(&mut self, client: &Client, job: &JobRecord) {
        let waits = matches!(
            job.state,
            JobState::Queued | JobState::Bidding | JobState::Requeued
        );
        if !waits || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + LOOK;
        let why: Result<Why, ApiError> = client.get(&format!("/jobs/{}/why", job.id)).await;
        // Nothing is lost with a line.
        let Ok(why) = why else { return };
        let other = self.cheaper.look(client, job).await;
        let other = other.map_or(String::new(), |other| format!("; {other}"));
        if stderr().is_terminal() {
            ui::passing(&(reason(&why) + &other + &closes(&why)));
        } else if why.summary != self.summary {
            // What would help changes with each clearing; the reason does not.
            ui::note(&(reason(&why) + &other));
        }
        self.summary = why.summary;
    }
}

/// Why it waits, and what would help.
fn reason(why: &Why) -> String {
    let sentence = why.summary.trim_end_matches('.');
    let remedy = why.remedies.first();
    let remedy = remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
    format!("{}: {sentence}{remedy}", why.state.name())
}

/// When that may change.
fn closes(why: &Why) -> String {
    let left = why.closes_ms.map(|ms| ms.div_ceil(1_000));
    left.map_or(String::new(), |left| format!("; closes again in {left} s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_reason_remedy_and_time() {
        let mut why: Why = serde_json::from_value(serde_json::json!({
            "id": "0123456789abcdef", "state": "bidding", "reason": "outbid", "refusal": null,
            "summary": "Others bid more.", "checks": [], "closes_ms": 39_001,
            "remedies": ["raise its bid", "or wait"],
        }))
        .unwrap();
        assert_eq!(reason(&why), "bidding: Others bid more; raise its bid");
        assert_eq!(closes(&why), "; closes again in 40 s");
        (why.remedies, why.closes_ms) = (vec![], None);
        assert_eq!(reason(&why) + &closes(&why), "bidding: Others bid more");
    }
}
