//! When an action is tried again.
//!
//! 1. An action is due at once, then 1, 2, 4, ... s after it was tried, 60 s at the most.
//! 2. Another subject, such as another invitation, begins anew. No kind is tried twice within a
//!    second all the same.
//! 3. The last failure is kept until the action succeeds or is about something else.

use crate::action::Kind;
use crate::node::Failure;
use std::collections::BTreeMap;

/// Longest time between two tries, seconds.
const LONGEST: u64 = 60;

/// What was tried, by kind.
#[derive(Clone, Default)]
pub(super) struct Tries(BTreeMap<Kind, Try>);

#[derive(Clone)]
struct Try {
    /// What it was about; may be a secret.
    subject: String,
    count: u32,
    last: u64,
    failure: Option<Failure>,
}

impl Tries {
    /// Whether the action is due now. If so, it counts as tried.
    pub(super) fn due(&mut self, kind: Kind, subject: &str, now: u64) -> bool {
        let Some(known) = self.0.get_mut(&kind) else {
            let first = Try {
                subject: subject.to_owned(),
                count: 1,
                last: now,
                failure: None,
            };
            self.0.insert(kind, first);
            return true;
        };
        if known.subject != subject {
            known.subject = subject.to_owned();
            known.count = 0;
            known.failure = None;
        }
        let wait = match known.count {
            0 => 1,
            count => LONGEST.min(1 << (count - 1).min(6)),
        };
        if now < known.last.saturating_add(wait) {
            return false;
        }
        known.count = known.count.saturating_add(1);
        known.last = now;
        true
    }
    /// Nothing calls for it any more.
    pub(super) fn settled(&mut self, kind: Kind) {
        if let Some(known) = self.0.get_mut(&kind) {
            known.count = 0;
            known.failure = None;
        }
    }
    /// What became of the last try.
    pub(super) fn ended(&mut self, kind: Kind, result: &Result<(), Failure>) {
        if let Some(known) = self.0.get_mut(&kind) {
            known.failure = result.as_ref().err().cloned();
        }
    }
    /// Why the last try about this subject failed.
    pub(super) fn failure(&self, kind: Kind, subject: &str) -> Option<&Failure> {
        let known = self.0.get(&kind)?;
        known.failure.as_ref().filter(|_| known.subject == subject)
    }
    /// What was tried last.
    pub(super) fn subject(&self, kind: Kind) -> Option<&str> {
        self.0.get(&kind).map(|known| known.subject.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_become_rarer_up_to_a_minute() {
        let mut tries = Tries::default();
        let due: Vec<u64> = (0..200)
            .filter(|now| tries.due(Kind::Join, "a", *now))
            .collect();
        assert_eq!(due, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    }

    #[test]
    fn another_subject_begins_anew_but_not_within_a_second() {
        let mut tries = Tries::default();
        assert!(tries.due(Kind::Join, "a", 5));
        tries.ended(Kind::Join, &Err(Failure::own("no", "")));
        assert!(tries.failure(Kind::Join, "a").is_some());
        assert!(!tries.due(Kind::Join, "b", 5));
        assert!(tries.failure(Kind::Join, "a").is_none());
        assert!(tries.due(Kind::Join, "b", 6));
        assert!(tries.due(Kind::Keep, "b", 6));
        tries.settled(Kind::Join);
        assert!(!tries.due(Kind::Join, "b", 6));
        assert!(tries.due(Kind::Join, "b", 7));
    }
}
