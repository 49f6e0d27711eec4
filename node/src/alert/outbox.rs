//! Alerts on their way: a line for each way, tried again until they arrive. Pure.
//!
//! 1. A line holds [`MOST`] alerts; the oldest is given up for a new one.
//! 2. They go out one by one, in their order. One that fails is tried again after 2 s, 4 s, ... up
//!    to [`LONGEST_MS`], and given up once it is [`OLD_MS`] old or its receiver refuses it for
//!    good.

use super::types::{Alert, AlertLine, AlertWay};
use crate::api::types::count;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Alerts that wait for a way, at the most.
pub(super) const MOST: usize = 256;
/// Longest pause before the next attempt: ten minutes.
const LONGEST_MS: u64 = 600_000;
/// Age at which an alert is given up: a day.
const OLD_MS: u64 = 86_400_000;

/// The outcome of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It arrived.
    Done,
    /// It never will.
    Refused(String),
    /// It may later.
    Failed(String),
}

/// The next step of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send this one.
    Send(Alert),
    /// Wait until then.
    At(u64),
    /// Wait for an alert.
    Nothing,
}

/// The lines, as they are kept over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outbox(BTreeMap<AlertWay, Line>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    waiting: VecDeque<Alert>,
    /// Attempts at the first of them.
    tries: u32,
    due_ms: u64,
    told: u64,
    lost: u64,
    failure: Option<String>,
}

impl Outbox {
    /// Has lines for these ways and no others.
    pub(super) fn set(&mut self, ways: &[AlertWay]) {
        self.0.retain(|way, _| ways.contains(way));
        for way in ways {
            self.0.entry(*way).or_default();
        }
    }
    /// Takes in an alert, for every way.
    pub(super) fn push(&mut self, alert: &Alert) {
        for line in self.0.values_mut() {
            if line.waiting.len() >= MOST {
                line.leave();
                line.lost += 1;
            }
            line.waiting.push_back(alert.clone());
        }
    }
    /// The next step of a way at a time.
    pub(super) fn next(&self, way: AlertWay, now_ms: u64) -> Next {
        let Some(line) = self.0.get(&way) else {
            return Next::Nothing;
        };
        match line.waiting.front() {
            None => Next::Nothing,
            // A clock that was set back makes no pause longer than the longest.
            Some(_) if now_ms < line.due_ms && line.due_ms - now_ms <= LONGEST_MS => {
                Next::At(line.due_ms)
            }
            Some(alert) => Next::Send(alert.clone()),
        }
    }
    /// An attempt at the alert of a number has ended.
    pub(super) fn ended(&mut self, way: AlertWay, number: u64, outcome: Outcome, now_ms: u64) {
        let Some(line) = self.0.get_mut(&way) else {
            return;
        };
        // One that was given up meanwhile is not the first any more.
        let first = line.waiting.front().filter(|alert| alert.number == number);
        let Some(age_ms) = first.map(|alert| now_ms.saturating_sub(alert.at_ms)) else {
            return;
        };
        match outcome {
            Outcome::Done => {
                line.leave();
                line.told += 1;
                line.failure = None;
            }
            Outcome::Failed(why) if age_ms < OLD_MS => {
                line.tries = line.tries.saturating_add(1);
                line.due_ms = now_ms.saturating_add(pause_ms(line.tries));
                line.failure = Some(why);
            }
            Outcome::Refused(why) | Outcome::Failed(why) => {
                line.leave();
                line.lost += 1;
                line.failure = Some(why);
            }
        }
    }
    /// The lines as they are told.
    pub(super) fn lines(&self) -> Vec<AlertLine> {
        let told = |(way, line): (&AlertWay, &Line)| AlertLine {
            way: *way,
            waiting: count(line.waiting.len()),
            told: line.told,
            lost: line.lost,
            failure: line.failure.clone(),
        };
        self.0.iter().map(told).collect()
    }
}

impl Line {
    /// The first one leaves; the next may be tried at once.
    fn leave(&mut self) {
        self.waiting.pop_front();
        (self.tries, self.due_ms) = (0, 0);
    }
}

/// The pause after so many attempts at one alert.
fn pause_ms(tries: u32) -> u64 {
    let doubled = 1_000_u64.checked_shl(tries).unwrap_or(u64::MAX);
    doubled.min(LONGEST_MS)
}

#[cfg(test)]
mod tests {
    use super::super::types::{AlertKind, AlertState};
    use super::*;

    const HOOK: AlertWay = AlertWay::Webhook;

    fn alert(number: u64) -> Alert {
        Alert {
            number,
            kind: AlertKind::LowBalance,
            subject: "x".to_owned(),
            state: AlertState::Raised,
            what: "low".to_owned(),
            hint: String::new(),
            since_ms: 0,
            at_ms: 0,
        }
    }

    fn outbox(alerts: u64) -> Outbox {
        let mut outbox = Outbox::default();
        outbox.set(&[HOOK, AlertWay::File]);
        for number in 1..=alerts {
            outbox.push(&alert(number));
        }
        outbox
    }

    #[test]
    fn an_alert_that_fails_is_tried_again_with_growing_pauses() {
        let (mut outbox, mut now_ms) = (outbox(2), 0);
        for pause in [2_000, 4_000, 8_000, 16_000] {
            assert_eq!(outbox.next(HOOK, now_ms), Next::Send(alert(1)));
            outbox.ended(HOOK, 1, Outcome::Failed("down".to_owned()), now_ms);
            assert_eq!(outbox.next(HOOK, now_ms), Next::At(now_ms + pause));
            now_ms += pause;
        }
        outbox.ended(HOOK, 1, Outcome::Done, now_ms);
        assert_eq!(outbox.next(HOOK, now_ms), Next::Send(alert(2)));
        outbox.ended(HOOK, 2, Outcome::Refused("gone".to_owned()), now_ms);
        assert_eq!(outbox.next(HOOK, now_ms), Next::Nothing);
        let line = outbox.lines().remove(0);
        assert_eq!((line.told, line.lost, line.waiting), (1, 1, 0));
        assert_eq!(line.failure.as_deref(), Some("gone"));
        assert_eq!(
            outbox.lines()[1].waiting,
            2,
            "ways do not wait for one another"
        );
    }

    #[test]
    fn lines_are_bounded_and_what_is_old_is_given_up() {
        let mut outbox = outbox(MOST as u64 + 1);
        assert_eq!(outbox.next(HOOK, 0), Next::Send(alert(2)));
        outbox.ended(HOOK, 1, Outcome::Done, 0);
        assert_eq!(
            outbox.next(HOOK, 0),
            Next::Send(alert(2)),
            "1 is gone already"
        );
        outbox.ended(HOOK, 2, Outcome::Failed("down".to_owned()), OLD_MS);
        assert_eq!(outbox.next(HOOK, OLD_MS), Next::Send(alert(3)));
        assert_eq!(outbox.lines()[0].lost, 2);
        assert_eq!((1..40).map(pause_ms).max(), Some(LONGEST_MS));
    }

    #[test]
    fn lines_are_kept_over_a_restart_but_for_ways_that_are_off() {
        let before = outbox(1);
        let text = serde_json::to_string(&before).unwrap();
        let mut after: Outbox = serde_json::from_str(&text).unwrap();
        assert_eq!(after, before);
        after.set(&[AlertWay::Command]);
        assert_eq!(after.next(HOOK, 0), Next::Nothing);
        assert_eq!(after.lines().len(), 1);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_endless_pause() {
        let mut outbox = outbox(1);
        outbox.ended(HOOK, 1, Outcome::Failed("down".to_owned()), 10_000_000);
        assert_eq!(outbox.next(HOOK, 0), Next::Send(alert(1)));
    }
}
