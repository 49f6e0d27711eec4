//! The recurring work of a node.
//!
//! 1. It asks for its neighbourhood: soon after a new peer while it wants more, else ever more
//!    seldom (`closest` of the node).
//! 2. It puts its record as soon as somebody is connected, again from time to time, and after a
//!    failure after a pause (`records`).
//! 3. It dials those that are due (`dialer`): kept ones always, known ones at the tick of every
//!    second while more are wanted.
//! 4. At the tick it makes room if it is crowded, and gives up one of its own choice if it has more
//!    than enough.

use super::World;
use super::asks::Aim;
use crate::overlay::links::Link;
use crate::overlay::queue::Event;
use crate::overlay::{Id, Millis, ms};
use gridbay_core::overlay::{
    GRACE, RECORD_AGAIN, TICK, VISIT, WANTED_PEERS, ample, crowded, lookup_pause,
};
use std::time::Duration;

impl World {
    /// Looks for everything that is due.
    pub(super) fn wake(&mut self, id: Id) {
        let now = self.now;
        if !self.at(id).up || self.at(id).wake_at != now {
            return;
        }
        self.node(id).wake_at = Millis::MAX;
        let alone = self.at(id).links.is_empty();
        if !alone && now >= self.at(id).lookups.next {
            let room = self.has_room_to_look_up(id);
            let enough = self.at(id).links.len() >= WANTED_PEERS;
            let lookups = &mut self.node(id).lookups;
            lookups.pause = lookup_pause(lookups.pause, enough);
            lookups.last = Some(now);
            lookups.next = now + ms(lookups.pause);
            if room {
                self.ask_for(id, Aim::Closest);
            }
        }
        if !alone && now >= self.at(id).own.next {
            // Until the put ends; then its end decides.
            let own = &mut self.node(id).own;
            (own.last, own.next) = (now, now + ms(RECORD_AGAIN));
            self.ask_for(id, Aim::Put(now));
        }
        self.make_room(id);
        self.dial_due(id);
        self.reschedule(id);
    }

    /// Step 3.
    pub(super) fn dial_due(&mut self, id: Id) {
        let now = self.now;
        let node = self.node(id);
        let room = WANTED_PEERS.saturating_sub(node.links.len());
        for peer in node.book.take_due(now, room) {
            if self.at(id).dialling.contains(&peer) {
                // A lookup's dial is under way, whose end counts.
                continue;
            }
            self.dial(id, peer);
        }
    }

    /// Step 4.
    fn make_room(&mut self, id: Id) {
        if !self.settings.room {
            return;
        }
        let (node, most) = (self.at(id), self.settings.connections);
        let close = node
            .links
            .to_close(most, self.now, |peer| node.book.is_kept(peer));
        for peer in close {
            self.count(|c| &mut c.closed_for_room);
            self.disconnect(id, peer);
        }
    }

    /// Sees to it that the node wakes in time.
    pub(super) fn reschedule(&mut self, id: Id) {
        let (now, node) = (self.now, self.at(id));
        if !node.up {
            return;
        }
        let tick = ms(TICK);
        let next_tick = |at: Millis| {
            let since = at.max(now + 1) - node.since;
            node.since + since.div_ceil(tick) * tick
        };
        let mut due = vec![node.book.kept_due()];
        if !node.links.is_empty() {
            due.push(Some(node.lookups.next));
            due.push(Some(node.own.next));
        }
        if node.links.len() < WANTED_PEERS {
            due.push(node.book.known_due().map(next_tick));
        }
        let links = node.links.len();
        if self.settings.room && links >= crowded(self.settings.connections) {
            let grace = |link: &Link| Some(if link.outbound { GRACE } else { VISIT });
            due.push(self.next_room(id, grace).map(next_tick));
        } else if self.settings.room && links > ample(WANTED_PEERS) {
            let grace = |link: &Link| link.outbound.then_some(GRACE);
            due.push(self.next_room(id, grace).map(next_tick));
        }
        let next = due.into_iter().flatten().min().map(|at| at.max(now + 1));
        if let Some(next) = next.filter(|next| *next < node.wake_at) {
            self.node(id).wake_at = next;
            self.queue.push(next, Event::Wake(id));
        }
    }

    /// When the first connection is old enough to be closed; `grace` tells how old that is, if it
    /// may be closed at all.
    fn next_room(&self, id: Id, grace: impl Fn(&Link) -> Option<Duration>) -> Option<Millis> {
        let node = self.at(id);
        let links = node.links.iter();
        let idle = links.filter(|l| !l.mesh && !node.book.is_kept(l.peer));
        idle.filter_map(|l| Some(l.since + ms(grace(l)?))).min()
    }
}
