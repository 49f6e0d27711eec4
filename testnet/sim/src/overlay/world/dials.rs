//! Dials, connections, and their end.
//!
//! 1. A dial to a node that is up takes a round trip; one to a node that is not, or cannot be
//!    dialled, [`DIAL_TIMEOUT`]. At most [`PENDING_CONNECTIONS`] are under way.
//! 2. When the handshake ends each end looks whether it has room. A full dialler gives the dial up;
//!    a full listener closes at once, and the dialler's queries take that for no answer.
//! 3. One more round trip later both know who the other is: it is admitted, and comes into the
//!    table if it serves.
//! 4. A dial in vain takes the peer out of the table, unless nobody at all is connected. One that
//!    failed for our own want of room does not.

use super::World;
use crate::overlay::links::Link;
use crate::overlay::measure::HANDSHAKE_BYTES;
use crate::overlay::queue::Event;
use crate::overlay::table::Inserted;
use crate::overlay::{Id, ms};
use gridbay_core::overlay::{
    DIAL_TIMEOUT, LOOKUP_PAUSE, LOOKUP_SOON, PENDING_CONNECTIONS, RECORD_SETTLE, WANTED_PEERS,
};
use std::time::Duration;

impl World {
    /// Begins a dial, unless one is under way or a connection stands.
    pub(super) fn dial(&mut self, from: Id, to: Id) {
        let (now, node) = (self.now, self.at(from));
        if node.dialling.contains(&to) || node.links.get(to).is_some() {
            return;
        }
        let run = node.run;
        if node.dialling.len() >= PENDING_CONNECTIONS {
            self.queue.push(now, Event::NotDialled { from, to, run });
            return;
        }
        let peer = self.at(to);
        let takes = if peer.up && !peer.private {
            self.round_trip(from, to)
        } else {
            ms(DIAL_TIMEOUT)
        };
        self.node(from).dialling.push(to);
        self.queue
            .push(now + takes, Event::Dialled { from, to, run });
    }

    fn is_in(&self, id: Id, run: u32) -> bool {
        self.at(id).up && self.at(id).run == run
    }

    /// A dial could not begin.
    pub(super) fn not_dialled(&mut self, from: Id, to: Id, run: u32) {
        if self.is_in(from, run) {
            let now = self.now;
            self.count(|c| &mut c.own_full);
            self.node(from).book.failed(to, now);
            self.fail(from, to);
            self.reschedule(from);
        }
    }

    /// Steps 2 and 4.
    pub(super) fn dialled(&mut self, from: Id, to: Id, run: u32) {
        if !self.is_in(from, run) {
            return;
        }
        let (now, most) = (self.now, self.settings.connections);
        self.node(from).dialling.retain(|peer| *peer != to);
        let peer = self.at(to);
        if self.at(from).links.get(to).is_some() {
            // They dialled us meanwhile.
        } else if !peer.up || peer.private {
            self.count(|c| &mut c.dead_dials);
            self.node(from).book.failed(to, now);
            self.fail(from, to);
            if !self.at(from).links.is_empty() {
                let distance = self.keys[from as usize].distance(&self.keys[to as usize]);
                self.node(from).table.remove(&distance, to);
            }
        } else if !self.at(from).links.has_room(most, true) {
            self.count(|c| &mut c.own_full);
            self.node(from).book.failed(to, now);
            self.fail(from, to);
        } else if !peer.links.has_room(most, false) {
            self.count(|c| &mut c.refused);
            self.carry(from, to, HANDSHAKE_BYTES / 2);
            let book = &mut self.node(from).book;
            book.connected(to);
            book.lost(to, 0, now);
            self.fail(from, to);
        } else {
            self.connect(from, to);
        }
        self.reschedule(from);
    }

    fn connect(&mut self, from: Id, to: Id) {
        self.count(|c| &mut c.connected);
        self.carry(from, to, HANDSHAKE_BYTES);
        let since = self.now;
        for (own, peer, outbound) in [(from, to, true), (to, from, false)] {
            let distance = self.keys[own as usize].distance(&self.keys[peer as usize]);
            let node = self.node(own);
            node.links.add(Link {
                peer,
                since,
                outbound,
                mesh: false,
            });
            node.book.connected(peer);
            node.table.mark(&distance, peer, true);
        }
        let at = since + self.round_trip(from, to);
        let identified = Event::Identified {
            a: from,
            b: to,
            since,
        };
        self.queue.push(at, identified);
        self.send_pending(from, to);
        self.send_pending(to, from);
        self.reschedule(to);
    }

    /// Step 3.
    pub(super) fn identified(&mut self, a: Id, b: Id, since: u64) {
        let stands = self.at(a).links.get(b).is_some_and(|l| l.since == since);
        if !stands || !self.at(a).up || !self.at(b).up {
            return;
        }
        if self.at(a).links.wants_mesh() && self.at(b).links.wants_mesh() {
            self.node(a).links.graft(b);
            self.node(b).links.graft(a);
        }
        for (own, peer) in [(a, b), (b, a)] {
            let now = self.now;
            if !self.at(peer).private {
                self.enter_table(own, peer);
                self.node(own).book.learn(peer, now);
            }
            let node = self.node(own);
            node.book.connected(peer);
            node.book.admitted(peer);
            if node.own.pause.is_some() {
                // The newcomer may take the record that nobody took.
                let soon = now.max(node.own.last + ms(RECORD_SETTLE));
                node.own.next = node.own.next.min(soon);
            }
            if node.links.len() < WANTED_PEERS {
                let soon = now + ms(LOOKUP_SOON);
                let lookups = &mut node.lookups;
                let earliest = lookups.last.map_or(soon, |last| last + ms(LOOKUP_PAUSE));
                lookups.pause = Duration::ZERO;
                lookups.next = lookups.next.min(soon.max(earliest));
            }
            self.tell_newcomer(own, peer);
            self.reschedule(own);
        }
    }

    fn enter_table(&mut self, own: Id, peer: Id) {
        let mut table = std::mem::take(&mut self.node(own).table);
        let (node, site) = (self.at(own), self.at(peer).site);
        let entered = table.insert(
            &self.keys[own as usize],
            (peer, &self.keys[peer as usize]),
            self.now,
            |id| node.links.get(id).is_some(),
            |id| self.places.same(self.at(id).site, site),
        );
        self.node(own).table = table;
        if let Inserted::Waits(foremost) = entered {
            self.dial(own, foremost);
        }
    }

    /// A connection ends for both.
    pub(super) fn disconnect(&mut self, a: Id, b: Id) {
        let now = self.now;
        for (own, peer) in [(a, b), (b, a)] {
            let distance = self.keys[own as usize].distance(&self.keys[peer as usize]);
            let node = self.node(own);
            let Some(link) = node.links.remove(peer) else {
                continue;
            };
            node.table.mark(&distance, peer, false);
            node.book.lost(peer, now - link.since, now);
            if node.up {
                self.fail(own, peer);
                self.reschedule(own);
            }
        }
    }
}
