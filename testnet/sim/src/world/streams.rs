//! Streams between nodes that stall, and those in which classes overtake one another.
//!
//! 1. Of a direction that *stalls* the messages are held and nothing is lost: they come together
//!    and in their order when its time is over. What was sent before is on its way.
//! 2. In a direction whose classes are *reordered*, a message comes by the delay of its class, but
//!    never before one of its class that was sent earlier.

use super::World;
use super::queue::Event;
use crate::class::{CLASSES, Class};
use gridbay_core::input::Input;
use std::collections::BTreeMap;

/// The nodes that send and receive.
type Way = (usize, usize);

/// How much longer each class takes in a direction, and until when.
type Late = (u64, [u64; CLASSES.len()]);

/// The streams that are not as they should be.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// When each stall ends.
    stalls: BTreeMap<Way, u64>,
    /// Messages held, with the life of the receiver that they are for.
    held: BTreeMap<Way, Vec<(u64, Input)>>,
    late: BTreeMap<Way, Late>,
    /// When the latest message of each class arrives.
    last: BTreeMap<(Way, Class), u64>,
}

impl Streams {
    fn stall(&mut self, way: Way, until: u64) {
        let end = self.stalls.entry(way).or_default();
        *end = until.max(*end);
    }
    fn is_stalled(&self, way: &Way, now: u64) -> bool {
        self.stalls.get(way).is_some_and(|until| now < *until)
    }
    /// The messages held whose stall is over.
    fn free(&mut self, way: &Way, now: u64) -> Vec<(u64, Input)> {
        if self.is_stalled(way, now) {
            return Vec::new();
        }
        self.stalls.remove(way);
        self.held.remove(way).unwrap_or_default()
    }
    /// When a message arrives that is sent now and is so long on its way, and whether it overtakes
    /// one of another class.
    fn arrival(&mut self, way: Way, class: Class, now: u64, delay: u64) -> (u64, bool) {
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

impl World {
    /// A direction stalls from now on.
    pub(super) fn stall(&mut self, way: Way, ms: u64) {
        let until = self.now + ms;
        self.net.streams.stall(way, until);
        self.queue.push(until, Event::Flow(way.0, way.1));
    }
    /// Classes overtake one another from now on, both ways.
    pub(super) fn overtake(&mut self, [a, b]: [usize; 2], late: [u64; CLASSES.len()], ms: u64) {
        for way in [(a, b), (b, a)] {
            self.net.streams.late.insert(way, (self.now + ms, late));
        }
    }
    /// What a direction held goes on, if its stall is over.
    pub(super) fn flow(&mut self, way: Way) {
        let now = self.now;
        for (life, input) in self.net.streams.free(&way, now) {
            let (node, input) = (way.1, Box::new(input));
            self.queue.push(now, Event::Input { node, life, input });
        }
    }
    /// All streams are as they should be again.
    pub(super) fn flow_all(&mut self) {
        self.net.streams.late.clear();
        let stalled = std::mem::take(&mut self.net.streams.stalls);
        stalled.into_keys().for_each(|way| self.flow(way));
    }
    /// Holds a message, if its direction stalls.
    pub(super) fn hold(&mut self, way: Way, input: Input) -> Option<Input> {
        if !self.net.streams.is_stalled(&way, self.now) || !self.net.carries(way.0, way.1) {
            return Some(input);
        }
        self.cover.count("message held");
        let life = self.machines[way.1].life;
        let held = self.net.streams.held.entry(way).or_default();
        held.push((life, input));
        None
    }
    /// Lets a message arrive after so long, or when its class does.
    pub(super) fn send(&mut self, way: Way, delay: u64, input: Input) {
        let class = Class::of(&input);
        let (at, overtakes) = self.net.streams.arrival(way, class, self.now, delay);
        if overtakes {
            self.cover.count("message that overtakes");
        }
        self.input(way.1, at - self.now, input);
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
