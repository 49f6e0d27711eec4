//! What the record of a task tells of its attempts: where each ran, why it ended, where it went on
//! from, and how much of its work was lost.
//!
//! All times are by this node's clock: clocks of sellers need not agree with one another.

use super::run::Place;
use crate::buy::End;
use gridbay_protocol::checkpoint::Snapshot;
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};

/// Attempts that the record of a task tells of at the most: the last ones.
pub(super) const TASK_ATTEMPTS: usize = 16;
/// Attempts that the record of an order tells of at the most, but one of each task.
pub(super) const ORDER_ATTEMPTS: usize = 1_024;

/// Attempts told of each task of an order of so many.
pub(super) fn attempts_told(tasks: usize) -> usize {
    (ORDER_ATTEMPTS / tasks.max(1)).clamp(1, TASK_ATTEMPTS)
}

/// Why an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// It ended by itself, and all of its output is here.
    Done,
    /// The market took its unit.
    UnitLost,
    /// Its seller stopped it.
    Stopped,
    /// Its seller lost it.
    Lost,
    /// Its seller says nothing any more.
    Silent,
    /// No seller would start it.
    Refused,
    /// Its output was not to be had.
    NoOutput,
}

/// The progress from which an attempt went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// The attempt that had made it.
    pub from: u32,
    /// Bytes of its files.
    pub bytes: u64,
    /// Milliseconds from its making to the start.
    pub age_ms: u64,
}

/// One attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Counts the attempts of the task.
    pub number: u32,
    /// The lease; unknown of attempts that began before it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
    /// The offer whose unit it had.
    pub offer: OfferId,
    /// The seller's node.
    pub node: PublicKey,
    /// When it was first seen running, milliseconds since 1970; 0 if never.
    pub started_ms: u64,
    /// Its end likewise; 0 while there is none.
    pub ended_ms: u64,
    /// Why it ended.
    pub end: Option<AttemptEnd>,
    /// Why the market took its unit.
    pub market: Option<End>,
    /// What it went on from.
    pub resumed: Option<Resumed>,
    /// Milliseconds of work lost: from its last checkpoint, or its start, to its end.
    pub lost_ms: u64,
}

/// The last whole checkpoint of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The checkpoint.
    pub snapshot: Snapshot,
    /// The attempt that made it.
    pub attempt: u32,
    /// When it was made, milliseconds since 1970.
    pub taken_ms: u64,
}

/// The record of the attempts at a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// Its last whole checkpoint, while it may be needed.
    pub checkpoint: Option<Kept>,
    /// Its last attempts, the present one included.
    pub attempts: Vec<Attempt>,
    /// Milliseconds of work that all its attempts lost.
    pub lost_ms: u64,
}

impl History {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == History::default()
    }

    /// Notes that an attempt begins. One that is asked for again after a restart is the same: at
    /// its place it has run since it was first seen to.
    pub(super) fn begin(&mut self, number: u32, place: &Place, told: usize) {
        if let Some(known) = self.attempts.last().filter(|a| a.number == number) {
            let at = (known.lease, known.offer, known.node);
            if at == (Some(place.lease), place.offer, place.node) && known.end.is_none() {
                return;
            }
            self.attempts.pop();
        }
        self.attempts.push(Attempt {
            number,
            lease: Some(place.lease),
            offer: place.offer,
            node: place.node,
            started_ms: 0,
            ended_ms: 0,
            end: None,
            market: None,
            resumed: None,
            lost_ms: 0,
        });
        let more = self.attempts.len().saturating_sub(told);
        self.attempts.drain(..more);
    }

    fn open(&mut self, number: u32) -> Option<&mut Attempt> {
        let last = self.attempts.last_mut();
        last.filter(|a| a.number == number && a.end.is_none())
    }

    /// The last attempt, if it was seen running and its end is not known.
    pub(super) fn under_way(&self) -> Option<&Attempt> {
        let last = self.attempts.last();
        last.filter(|a| a.started_ms > 0 && a.end.is_none())
    }

    /// Notes that an attempt is seen running.
    pub(super) fn runs(&mut self, number: u32, wall_ms: u64) {
        let from = self.checkpoint;
        if let Some(attempt) = self.open(number).filter(|a| a.started_ms == 0) {
            attempt.started_ms = wall_ms;
            attempt.resumed = from.map(|kept| Resumed {
                from: kept.attempt,
                bytes: kept.snapshot.bytes,
                age_ms: wall_ms.saturating_sub(kept.taken_ms),
            });
        }
    }

    /// Notes when an attempt was over, before it is known what is left of it.
    pub(super) fn stands_still(&mut self, number: u32, wall_ms: u64) {
        if let Some(attempt) = self.open(number).filter(|a| a.ended_ms == 0) {
            attempt.ended_ms = wall_ms;
        }
    }

    /// Notes why an attempt ended, and counts the work that was lost with it.
    pub(super) fn end(&mut self, number: u32, end: AttemptEnd, market: Option<End>, wall_ms: u64) {
        let kept = self.checkpoint.filter(|kept| kept.attempt == number);
        let Some(attempt) = self.open(number) else {
            return;
        };
        if attempt.ended_ms == 0 {
            attempt.ended_ms = wall_ms;
        }
        (attempt.end, attempt.market) = (Some(end), market);
        if attempt.started_ms > 0 && end != AttemptEnd::Done {
            let safe = kept.map_or(0, |k| k.taken_ms).max(attempt.started_ms);
            attempt.lost_ms = attempt.ended_ms.saturating_sub(safe);
            let lost = attempt.lost_ms;
            self.lost_ms = self.lost_ms.saturating_add(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::ContentId;
    use gridbay_protocol::keys::SecretKey;

    fn place() -> Place {
        Place {
            lease: LeaseId([7; 32]),
            task: None,
            offer: OfferId([1; 32]),
            node: SecretKey::from_seed(&[1; 32]).public(),
            units: 1,
        }
    }
    fn kept(attempt: u32, taken_ms: u64) -> Kept {
        let snapshot = Snapshot {
            manifest: ContentId([9; 32]),
            manifest_bytes: 100,
            files: 1,
            bytes: 5,
        };
        Kept {
            snapshot,
            attempt,
            taken_ms,
        }
    }

    #[test]
    fn lost_work_is_what_no_checkpoint_holds() {
        let mut task = History::default();
        task.begin(0, &place(), 16);
        task.runs(0, 1_000);
        task.end(0, AttemptEnd::Silent, None, 5_000);
        assert_eq!((task.attempts[0].lost_ms, task.lost_ms), (4_000, 4_000));
        task.begin(1, &place(), 16);
        task.runs(1, 6_000);
        task.runs(1, 6_500);
        task.checkpoint = Some(kept(1, 8_000));
        task.stands_still(1, 9_000);
        task.end(1, AttemptEnd::UnitLost, Some(End::Preempted), 20_000);
        assert_eq!((task.attempts[1].lost_ms, task.lost_ms), (1_000, 5_000));
        // The end is noted once.
        task.end(1, AttemptEnd::Lost, None, 30_000);
        assert_eq!(task.lost_ms, 5_000);
        // One that went on from another's checkpoint and made none lost all of its own.
        task.begin(2, &place(), 16);
        task.runs(2, 21_000);
        let resumed = task.attempts[2].resumed.expect("it went on");
        assert_eq!(
            (resumed.from, resumed.age_ms, resumed.bytes),
            (1, 13_000, 5)
        );
        task.end(2, AttemptEnd::Stopped, None, 22_500);
        assert_eq!(task.lost_ms, 6_500);
        // One that never ran lost nothing, one that is done neither.
        task.begin(3, &place(), 16);
        task.end(3, AttemptEnd::Refused, None, 99_000);
        task.begin(4, &place(), 16);
        task.runs(4, 100_000);
        task.end(4, AttemptEnd::Done, None, 200_000);
        assert_eq!(task.lost_ms, 6_500);
    }

    #[test]
    fn an_attempt_that_is_asked_for_again_has_run_since_it_was_first_seen() {
        let mut task = History::default();
        task.begin(0, &place(), 16);
        task.runs(0, 1_000);
        // The buyer's node was started anew.
        task.begin(0, &place(), 16);
        task.runs(0, 9_000);
        assert_eq!(task.attempts[0].started_ms, 1_000);
        // Its unit was gone when the node came back: it runs elsewhere.
        let node = SecretKey::from_seed(&[2; 32]).public();
        let elsewhere = Place { node, ..place() };
        task.begin(0, &elsewhere, 16);
        assert_eq!((task.attempts.len(), task.attempts[0].started_ms), (1, 0));
        task.runs(0, 9_500);
        assert_eq!(task.attempts[0].started_ms, 9_500);
    }

    #[test]
    fn a_record_tells_of_the_last_attempts_only() {
        let mut task = History::default();
        for number in 0..5 {
            task.begin(number, &place(), 3);
            task.begin(number, &place(), 3);
        }
        let told: Vec<u32> = task.attempts.iter().map(|a| a.number).collect();
        assert_eq!(told, [2, 3, 4], "and of one that is asked for again once");
        assert_eq!([1, 100, 1_024, 9_999].map(attempts_told), [16, 10, 1, 1]);
    }
}
