//! What a job waits for before it runs, in one line: on a terminal one that changes, elsewhere a
//! new one whenever it has something else to say.

use super::cheaper::{Another, Cheaper};
use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::{JobReason, JobRecord, JobState, Why};
use crate::ui;
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

/// A job that begins within this time is not told of.
const QUIET: Duration = Duration::from_secs(3);
/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// What was told: figures and advice change with each clearing, and are no news. The last is
/// whether the network stands still.
type News = (JobState, Option<JobReason>, Option<String>, bool);

/// The line of one job.
#[derive(Debug)]
pub(super) struct Waiting {
    next: Instant,
    told: Option<News>,
    cheaper: Cheaper,
}

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting {
            next: Instant::now() + QUIET,
            told: None,
            cheaper: Cheaper::default(),
        }
    }

    /// Says what a job waits for, if it is time.
    pub(super) async fn look(&mut self, client: &Client, job: &JobRecord) {
        if !waits(job.state) || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + LOOK;
        let why: Result<Why, ApiError> = client.get(&format!("/jobs/{}/why", job.id)).await;
        // Nothing is lost with a line.
        let Ok(why) = why else { return };
        let other = self.cheaper.look(client, job).await;
        let news = (
            why.state,
            why.reason,
            why.refusal.clone(),
            why.stall.is_some(),
        );
        if stderr().is_terminal() {
            ui::passing(&line(&why, other.as_ref(), ui::columns()));
        } else if (!has_units(why.state) || why.stall.is_some())
            && self.told.as_ref() != Some(&news)
        {
            ui::note(&line(&why, other.as_ref(), usize::MAX));
        }
        self.told = Some(news);
    }
}

/// Whether nothing of a job runs yet, or again.
fn waits(state: JobState) -> bool {
    use JobState::{Bidding, Queued, Requeued};
    matches!(state, Queued | Bidding | Requeued) || has_units(state)
}

/// Whether a job waits for its start alone: worth a line that passes, and none that stays.
fn has_units(state: JobState) -> bool {
    matches!(state, JobState::Won | JobState::Staging)
}

/// Why it waits, when that may change, and what would help, within so many columns: there is always
/// room for what comes first.
fn line(why: &Why, other: Option<&Another>, columns: usize) -> String {
    // While no block comes, neither figures nor advice are of use.
    if let Some(stall) = &why.stall {
        return stall.clone();
    }
    let mut line = why.summary.trim_end_matches('.').to_owned();
    // A line that stays would count down to nothing.
    if let Some(ms) = why.closes_ms.filter(|_| columns < usize::MAX) {
        line += &format!("; closes in {} s", ms.div_ceil(1_000));
    }
    let whole = help(
        why.remedies.first().map(String::as_str),
        other,
        Another::whole,
    );
    let fits = |help: &str| line.chars().count() + help.chars().count() < columns;
    if fits(&whole) {
        return line + &whole;
    }
    let short = why.remedies.first().and_then(|remedy| command(remedy));
    let short = help(short.as_deref(), other, Another::short);
    line + &short
}

fn help(remedy: Option<&str>, other: Option<&Another>, said: fn(&Another) -> String) -> String {
    match (remedy, other) {
        (None, None) => String::new(),
        (Some(remedy), None) => format!("; {remedy}"),
        (None, Some(other)) => format!("; {}", said(other)),
        (Some(remedy), Some(other)) => format!("; {remedy} or {}", said(other)),
    }
}

/// The command of a remedy without its arguments, as it is said under `gridbay`.
fn command(remedy: &str) -> Option<String> {
    let (_, words) = remedy.split_once("gridbay ")?;
    let is_word = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> = words.split(' ').take(2).take_while(is_word).collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why() -> Why {
        serde_json::from_value(serde_json::json!({
            "id": "0123456789abcdef", "state": "bidding", "reason": "outbid", "refusal": null,
            "summary": "Sellers ask 12 per node-hour, and it bids 10.", "checks": [],
            "closes_ms": 39_001, "remedies": [
                "raise its bid: gridbay bid amend 0123456789abcdef --max-price 12", "or wait"
            ],
        }))
        .unwrap()
    }

    #[test]
    fn reason_and_time_are_seen_in_a_narrow_terminal_too() {
        let (mut why, other) = (why(), Another::new("small", "4".parse().unwrap()));
        let first = "Sellers ask 12 per node-hour, and it bids 10; closes in 40 s";
        let amend = "raise its bid: gridbay bid amend 0123456789abcdef --max-price 12";
        assert_eq!(
            line(&why, Some(&other), 200),
            format!("{first}; {amend} or --class small (4 an hour)")
        );
        assert_eq!(line(&why, None, 80), format!("{first}; bid amend"));
        let short = line(&why, Some(&other), 80);
        assert_eq!(short, format!("{first}; bid amend or --class small"));
        (why.remedies, why.closes_ms) = (vec![], None);
        let bare = "Sellers ask 12 per node-hour, and it bids 10";
        assert_eq!(line(&why, None, 80), bare);
    }

    #[test]
    fn a_network_that_stands_still_is_told_before_all_else() {
        let stall = Some("no block for 42 s: validator b does not answer".to_owned());
        let why = Why { stall, ..why() };
        assert_eq!(Some(line(&why, None, 80)), why.stall);
    }

    #[test]
    fn a_line_that_stays_has_no_countdown() {
        let line = line(&why(), None, usize::MAX);
        assert!(
            !line.contains("closes") && line.contains("--max-price 12"),
            "{line}"
        );
    }

    #[test]
    fn jobs_with_units_wait_until_they_run() {
        let all = [JobState::Won, JobState::Staging, JobState::Requeued];
        assert!(all.into_iter().all(waits));
        assert!(!waits(JobState::Running) && !waits(JobState::Ending));
    }
}
