//! When the nodes that run an order's tasks are asked again how they fare.
//!
//! 1. After [`FLOW_MS`] while output flows, so that a task that never stops talking leaves time for
//!    others; and [`POLL_MS`] after an answer with other news.
//! 2. Twice as long after each answer without, [`POLL_MOST_MS`] at the most: a lease of many nodes,
//!    and many leases that are idle, else keep the buyer's node and theirs busy with questions.
//! 3. A node that leaves a task says soon that it has ended, since its unit may wait for that.

use super::pace::ANSWER_MS;
use crate::key::OrderKey;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Milliseconds until the next poll while output flows.
const FLOW_MS: u64 = 10;
/// Milliseconds until the next poll at first.
pub(super) const POLL_MS: u64 = 100;
/// Milliseconds between two polls at the most: how late the end of a task may be noticed.
const POLL_MOST_MS: u64 = 500;

/// What an answer brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum News {
    /// All is as it was.
    None,
    /// A task has begun or ended, or is about to.
    Phase,
    /// Output.
    Output,
}

/// A task's node, by order.
type Place = (OrderKey, PublicKey);

/// The nodes with a poll under way or not due yet.
#[derive(Debug, Default)]
pub(super) struct Polls(BTreeMap<Place, Rest>);

#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    until_ms: u64,
    /// The last one.
    pause_ms: u64,
}

impl Polls {
    /// Whether a node may be asked.
    pub(super) fn due(&self, place: &Place, now_ms: u64) -> bool {
        self.0.get(place).is_none_or(|rest| rest.until_ms <= now_ms)
    }

    /// It is.
    pub(super) fn ask(&mut self, place: Place, now_ms: u64) {
        self.0.entry(place).or_default().until_ms = now_ms + ANSWER_MS;
    }

    /// It answered, or did not.
    pub(super) fn answered(&mut self, place: Place, news: News, now_ms: u64) {
        let before = self.0.get(&place).map_or(0, |rest| rest.pause_ms);
        let pause_ms = match news {
            News::Output => FLOW_MS,
            News::Phase => POLL_MS,
            News::None => (before * 2).clamp(POLL_MS, POLL_MOST_MS),
        };
        let until_ms = now_ms + pause_ms;
        self.0.insert(place, Rest { until_ms, pause_ms });
    }

    /// When the next one is due, of those that rest.
    pub(super) fn next(&self, now_ms: u64) -> Option<u64> {
        let rests = self.0.values().map(|rest| rest.until_ms);
        rests.filter(|at| *at > now_ms).min()
    }

    /// There is something new at it.
    pub(super) fn wake(&mut self, place: &Place) {
        self.0.remove(place);
    }

    /// Forgets nodes that have not been asked for long.
    pub(super) fn forget(&mut self, now_ms: u64) {
        self.0.retain(|_, rest| now_ms < rest.until_ms + ANSWER_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn a_node_without_news_is_asked_more_seldom_until_it_has_some() {
        let node = SecretKey::from_seed(&[1; 32]).public();
        let place = (OrderKey(1), node);
        let (mut polls, mut now_ms) = (Polls::default(), 1_000);
        let mut pause = |news| {
            assert!(polls.due(&place, now_ms));
            polls.ask(place, now_ms);
            assert!(!polls.due(&place, now_ms + ANSWER_MS - 1));
            now_ms += 5;
            polls.answered(place, news, now_ms);
            polls.forget(now_ms);
            let next = polls.next(now_ms).unwrap();
            let asked = (now_ms..).find(|ms| polls.due(&place, *ms)).unwrap();
            assert_eq!(next, asked);
            let pause = asked - now_ms;
            now_ms = asked;
            pause
        };
        let idle = [News::None; 5].map(&mut pause);
        assert_eq!(idle, [100, 200, 400, 500, 500]);
        assert_eq!([News::Output, News::Output].map(&mut pause), [10, 10]);
        assert_eq!([News::None, News::None].map(&mut pause), [100, 200]);
        assert_eq!([News::Phase, News::None].map(&mut pause), [100, 200]);

        polls.ask(place, now_ms);
        polls.wake(&place);
        assert!(polls.due(&place, now_ms));
        polls.ask(place, now_ms);
        assert!(polls.due(&place, now_ms + ANSWER_MS), "no answer came");
        polls.forget(now_ms + 2 * ANSWER_MS);
        assert!(polls.0.is_empty());
    }
}
