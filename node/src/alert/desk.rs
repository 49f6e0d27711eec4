//! The desk: tells each condition once when it begins and once when it is over. Pure.
//!
//! 1. What comes and goes by itself must last a while before it is told; what is exact is told at
//!    once.
//! 2. Anything must be over for that while before that is told. Until then nothing is told again.
//! 3. At most [`MOST`] conditions are open; further ones are not told before others are over.

use super::facts::Facts;
use super::message::plain;
use super::rules::{Level, Standing, standing};
use super::types::{Alert, AlertKind, AlertState};
use super::watch::Watch;
use crate::config::AlertLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Open conditions at the most.
pub(super) const MOST: usize = 256;

/// The open conditions, as they are kept over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Desk {
    /// Number of the last alert.
    last: u64,
    open: Vec<Entry>,
    /// Leases that each open order had lost at the last look; `None` before the first.
    lost: Option<BTreeMap<String, u32>>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Its alert: the one that was told, or the one to come.
    alert: Alert,
    told: bool,
    /// Since when it does not hold any more.
    gone_ms: Option<u64>,
}

/// Whether a condition comes and goes by itself.
fn comes_and_goes(kind: AlertKind) -> bool {
    match kind {
        AlertKind::Unreachable | AlertKind::Trouble => true,
        AlertKind::LowBalance
        | AlertKind::Preempted
        | AlertKind::LeaseEnding
        | AlertKind::BlockInterval
        | AlertKind::Test => false,
    }
}

impl Desk {
    /// Takes a look at the node; returns what is to be told.
    pub(super) fn step(
        &mut self,
        facts: &Facts,
        limits: &AlertLimits,
        watch: &Watch,
    ) -> Vec<Alert> {
        let found = standing(facts, limits, watch, self.lost.as_ref());
        let lost = facts.orders.iter().map(|o| (o.job.clone(), o.lost));
        self.lost = Some(lost.collect());
        self.tell(found, limits.after_ms, facts.now_ms)
    }
    /// The alerts that are not over, oldest first.
    pub(super) fn open(&self) -> Vec<Alert> {
        let told = self.open.iter().filter(|entry| entry.told);
        told.map(|entry| entry.alert.clone()).collect()
    }
    /// The number of the next alert.
    pub(super) fn number(&mut self) -> u64 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    fn tell(&mut self, found: Vec<Standing>, after_ms: u64, now_ms: u64) -> Vec<Alert> {
        let is = |entry: &Entry, found: &Standing| {
            entry.alert.kind == found.kind && entry.alert.subject == found.subject
        };
        for entry in &mut self.open {
            let level = found.iter().find(|s| is(entry, s)).map(|s| s.level);
            let holds = level == Some(Level::On) || (level.is_some() && entry.told);
            match holds {
                true => entry.gone_ms = None,
                false => entry.gone_ms = entry.gone_ms.or(Some(now_ms)),
            }
        }
        // Conditions that were not told yet go without a word.
        self.open
            .retain(|entry| entry.told || entry.gone_ms.is_none());
        for standing in found {
            let new = !self.open.iter().any(|entry| is(entry, &standing));
            if new && standing.level == Level::On && self.open.len() < MOST {
                self.open.push(Entry {
                    alert: begun(standing, now_ms),
                    told: false,
                    gone_ms: None,
                });
            }
        }
        let mut alerts = self.raised(after_ms, now_ms);
        alerts.extend(self.cleared(after_ms, now_ms));
        alerts
    }

    fn raised(&mut self, after_ms: u64, now_ms: u64) -> Vec<Alert> {
        let mut alerts = Vec::new();
        let mut last = self.last;
        for entry in self.open.iter_mut().filter(|entry| !entry.told) {
            let wait = if comes_and_goes(entry.alert.kind) {
                after_ms
            } else {
                0
            };
            if now_ms.saturating_sub(entry.alert.since_ms) >= wait {
                last = last.saturating_add(1);
                (entry.told, entry.alert.number, entry.alert.at_ms) = (true, last, now_ms);
                alerts.push(entry.alert.clone());
            }
        }
        self.last = last;
        alerts
    }

    fn cleared(&mut self, after_ms: u64, now_ms: u64) -> Vec<Alert> {
        let over = |entry: &mut Entry| {
            let gone = entry.gone_ms;
            gone.is_some_and(|since| now_ms.saturating_sub(since) >= after_ms)
        };
        let over: Vec<Entry> = self.open.extract_if(.., over).collect();
        let alert = |entry: Entry| Alert {
            number: self.number(),
            state: AlertState::Cleared,
            what: format!("over: {}", entry.alert.what),
            at_ms: now_ms,
            ..entry.alert
        };
        over.into_iter().map(alert).collect()
    }
}

fn begun(standing: Standing, now_ms: u64) -> Alert {
    Alert {
        number: 0,
        kind: standing.kind,
        subject: plain(&standing.subject),
        state: AlertState::Raised,
        what: plain(&standing.what),
        hint: plain(&standing.hint),
        since_ms: now_ms,
        at_ms: now_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: AlertKind, level: Level) -> Vec<Standing> {
        vec![Standing {
            kind,
            subject: "x".to_owned(),
            level,
            what: "it is so".to_owned(),
            hint: String::new(),
        }]
    }

    fn told(desk: &mut Desk, found: Vec<Standing>, now_ms: u64) -> Vec<(u64, AlertState)> {
        let alerts = desk.tell(found, 100, now_ms);
        alerts.into_iter().map(|a| (a.number, a.state)).collect()
    }

    #[test]
    fn it_tells_once_until_it_is_over_for_a_while() {
        let (mut desk, low) = (Desk::default(), AlertKind::LowBalance);
        assert_eq!(told(&mut desk, at(low, Level::Between), 1_000), []);
        let raised = [(1, AlertState::Raised)];
        assert_eq!(told(&mut desk, at(low, Level::On), 1_001), raised);
        for (level, now_ms) in [
            (Level::On, 1_100),
            (Level::Between, 2_000),
            (Level::On, 3_000),
        ] {
            assert_eq!(told(&mut desk, at(low, level), now_ms), []);
        }
        assert_eq!(told(&mut desk, vec![], 4_000), []);
        assert_eq!(told(&mut desk, at(low, Level::Between), 4_099), []);
        assert_eq!(told(&mut desk, vec![], 5_000), []);
        assert_eq!(desk.open().len(), 1);
        let text = serde_json::to_string(&desk).unwrap();
        let mut desk: Desk = serde_json::from_str(&text).unwrap();
        assert_eq!(told(&mut desk, vec![], 5_100), [(2, AlertState::Cleared)]);
        assert_eq!(desk.open(), []);
        assert_eq!(told(&mut desk, vec![], 9_000), []);
        assert_eq!(
            told(&mut desk, at(low, Level::On), 9_001),
            [(3, AlertState::Raised)]
        );
    }

    #[test]
    fn a_passing_absence_is_not_told() {
        let (mut desk, away) = (Desk::default(), AlertKind::Unreachable);
        assert_eq!(told(&mut desk, at(away, Level::On), 0), []);
        assert_eq!(told(&mut desk, at(away, Level::On), 99), []);
        assert_eq!(told(&mut desk, vec![], 100), []);
        assert_eq!(told(&mut desk, at(away, Level::On), 101), []);
        assert_eq!(
            told(&mut desk, at(away, Level::On), 201),
            [(1, AlertState::Raised)]
        );
    }

    #[test]
    fn what_is_open_is_bounded() {
        let mut desk = Desk::default();
        let many = |count: usize| -> Vec<Standing> {
            let one = |n: usize| Standing {
                subject: n.to_string(),
                ..at(AlertKind::LeaseEnding, Level::On).remove(0)
            };
            (0..count).map(one).collect()
        };
        assert_eq!(told(&mut desk, many(MOST + 9), 0).len(), MOST);
        assert_eq!(told(&mut desk, many(MOST + 9), 1), []);
    }
}
