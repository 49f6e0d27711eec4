//! Streams between nodes that stall, and those in which classes overtake one another.
//!
//! 1. Of a direction that *stalls* the messages are held and nothing is lost: they come together
//!    and in their order when its time is over. What was sent before is on its way.
//! 2. In a direction whose classes are *reordered*, a message comes by the delay of its class, but
//!    never before one of its class that was sent earlier.

use crate::class::{CLASSES, Class};
use gridbay_core::input::Input;
use std::collections::BTreeMap;

/// The nodes that send and receive.
pub(super) type Way = (usize, usize);

/// How much longer each class takes in a direction, and until when.
type Late = (u64, [u64; CLASSES.len()]);

/// The streams that are not as they should be.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// When each stall ends.
    pub(super) stalls: BTreeMap<Way, u64>,
    /// Messages held, with the life of the receiver that they are for.
    pub(super) held: BTreeMap<Way, Vec<(u64, Input)>>,
    pub(super) late: BTreeMap<Way, Late>,
    /// When the latest message of each class arrives.
    last: BTreeMap<(Way, Class), u64>,
}

impl Streams {
    pub(super) fn stall(&mut self, way: Way, until: u64) {
        let end = self.stalls.entry(way).or_default();
        *end = until.max(*end);
    }
    pub(super) fn is_stalled(&self, way: &Way, now: u64) -> bool {
        self.stalls.get(way).is_some_and(|until| now < *until)
    }
    /// The messages held whose stall is over.
    pub(super) fn free(&mut self, way: &Way, now: u64) -> Vec<(u64, Input)> {
        if self.is_stalled(way, now) {
            return Vec::new();
        }
        self.stalls.remove(way);
        self.held.remove(way).unwrap_or_default()
    }
    /// When a message arrives that is sent now and is so long on its way, and whether it overtakes
    /// one of another class.
    pub(super) fn arrival(&mut self, way: Way, class: Class, now: u64, delay: u64) -> (u64, bool) {
        let late = self.late.get(&way).filter(|(until, _)| now < *until);
        let last = self.last.get(&(way, class)).copied();
        if late.is_none() && last.is_none_or(|last| last <= now) {
            return (now + delay, false);
        }
        let more = late.map_or(0, |(_, late)| late[class as usize]);
        let at = (now + delay + more).max(last.unwrap_or(0));
        self.last.insert((way, class), at);
        let mut others = CLASSES.iter().filter(|other| **other != class);
        let overtakes = others.any(|other| self.last.get(&(way, *other)).is_some_and(|o| *o > at));
        (at, overtakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Way = (0, 1);

    #[test]
    fn a_stall_holds_until_the_longest_is_over() {
        let mut streams = Streams::default();
        streams.stall(WAY, 500);
        streams.stall(WAY, 200);
        streams
            .held
            .insert(WAY, vec![(1, Input::Tick), (1, Input::Start)]);
        assert!(streams.is_stalled(&WAY, 499) && !streams.is_stalled(&(1, 0), 499));
        assert!(streams.free(&WAY, 200).is_empty());
        let freed = streams.free(&WAY, 500);
        let inputs: Vec<&Input> = freed.iter().map(|(_, input)| input).collect();
        assert!(
            matches!(inputs[..], [Input::Tick, Input::Start]),
            "in order"
        );
        assert!(!streams.is_stalled(&WAY, 500) && streams.free(&WAY, 500).is_empty());
    }

    #[test]
    fn classes_overtake_one_another_and_keep_their_own_order() {
        let mut streams = Streams::default();
        let mut at = |class, now, delay| streams.arrival(WAY, class, now, delay);
        assert_eq!(at(Class::Urgent, 0, 9), (9, false));
        assert_eq!(at(Class::Urgent, 0, 3), (3, false), "delays alone reorder");
        streams.late.insert(WAY, (100, [50, 0, 10, 10]));
        let mut at = |class, now, delay| streams.arrival(WAY, class, now, delay);
        assert_eq!(at(Class::Urgent, 10, 9), (69, false));
        assert_eq!(at(Class::Urgent, 11, 3), (69, false), "not before the last");
        assert_eq!(at(Class::Entries, 12, 3), (15, true));
        assert_eq!(at(Class::Entries, 80, 3), (83, false), "they are gone");
        assert_eq!(at(Class::Urgent, 99, 1), (150, false));
        assert_eq!(at(Class::Urgent, 120, 1), (150, false), "after its end too");
        assert_eq!(at(Class::Urgent, 151, 1), (152, false));
    }
}
