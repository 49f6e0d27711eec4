//! What the world does about streams that stall, and about those whose classes are reordered.

use super::World;
use super::queue::Event;
use super::streams::Way;
use crate::class::{CLASSES, Class};
use gridbay_core::input::Input;

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
