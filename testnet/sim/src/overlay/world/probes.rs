//! Lookups that are measured: some node looks for the record of some other, both up.
//!
//! Both have been up for [`SETTLED`]: a record that its owner could not have put yet cannot be
//! found.

use super::World;
use super::asks::Aim;
use crate::overlay::measure::Looked;
use crate::overlay::query::Found;
use crate::overlay::queue::Event;
use crate::overlay::{Id, Millis};

/// A node that has been up for so long takes part, ms.
const SETTLED: Millis = 60_000;
/// Nodes drawn before a lookup is given up for want of two that take part.
const TRIES: usize = 1000;

impl World {
    /// Draws two, and lets one look for the other's record.
    pub(super) fn probe(&mut self) {
        for _ in 0..TRIES {
            let (Some(from), Some(of)) = (self.draw(), self.draw()) else {
                return;
            };
            if from != of {
                self.queue.push(self.now, Event::Seek { from, of });
                return;
            }
        }
    }

    /// A measured lookup. One that cannot begin has failed, and so has one for a record that nobody
    /// has confirmed.
    pub(super) fn look_up(&mut self, from: Id, of: Id) {
        let wanted = self.at(of).own.put.unwrap_or(Millis::MAX);
        if self.at(from).links.is_empty() || !self.has_room_to_look_up(from) {
            self.looked.push(Looked::default());
        } else {
            self.ask_for(from, Aim::Record(of, wanted));
        }
    }

    pub(super) fn has_room_to_look_up(&self, owner: Id) -> bool {
        self.at(owner).queries.len() < gridbay_core::overlay::LOOKUPS
    }

    fn draw(&mut self) -> Option<Id> {
        let settled = self.now.checked_sub(SETTLED)?;
        (0..TRIES).find_map(|_| {
            let id = *self.chance.pick(&self.up)?;
            (self.at(id).since <= settled).then_some(id)
        })
    }

    /// A measured lookup has ended.
    pub(super) fn end_probe(&mut self, found: &Found, requests: u32, began: Millis, late: bool) {
        let newest = found
            .newest
            .filter(|(sequence, _)| *sequence >= found.wanted);
        self.looked.push(Looked {
            found: newest.is_some(),
            stale: newest.is_none() && found.newest.is_some(),
            late,
            hops: newest.map_or(0, |(_, depth)| depth),
            requests,
            first_ms: found.first_at.map_or(0, |at| at - began),
            end_ms: self.now - began,
        });
    }
}
