//! Queries: the peers that they ask, and the answers.
//!
//! 1. A peer that is connected is asked at once, any other is dialled first; so much of a lookup's
//!    time are handshakes.
//! 2. A peer whose dial fails, or whose connection ends, has failed in all queries that wait for
//!    it.
//! 3. A query ends by itself, one for a record [`FOUND_PATIENCE`] after it has found one, or after
//!    [`LOOKUP_TIMEOUT`] in which it asked nobody more. A put that ends in time starts the clock
//!    anew for its second step.

use super::World;
use crate::overlay::measure::{ANSWER_BYTES, RECORD_BYTES, REQUEST_BYTES};
use crate::overlay::path::Next;
use crate::overlay::query::{Found, Goal, Query};
use crate::overlay::queue::Event;
use crate::overlay::{Id, Millis, ms};
use gridbay_core::overlay::{
    FOUND_PATIENCE, LOOKUP_TIMEOUT, RECORD_AGAIN, RECORD_RETRY_MAX, RECORD_SETTLE, longer,
};

/// The task of a query.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aim {
    /// To meet those close to us.
    Closest,
    /// To put our record of this sequence.
    Put(Millis),
    /// To find the record of a node, of this sequence or newer.
    Record(Id, Millis),
}

impl World {
    /// Begins a query.
    pub(super) fn ask_for(&mut self, owner: Id, aim: Aim) {
        let now = self.now;
        let target = match aim {
            Aim::Closest | Aim::Put(_) => self.keys[owner as usize],
            Aim::Record(of, _) => self.keys[of as usize],
        };
        let mut table = std::mem::take(&mut self.node(owner).table);
        let links = &self.at(owner).links;
        table.settle(now, |id| links.get(id).is_some());
        let known = table.closest(&self.keys, &target, owner);
        self.node(owner).table = table;
        let id = self.next_query;
        let goal = match aim {
            Aim::Closest => Goal::Closest,
            Aim::Put(sequence) => {
                self.node(owner).keep(owner, sequence, now);
                Goal::Put(sequence)
            }
            Aim::Record(of, wanted) => {
                let mut found = Found::new(wanted, &known);
                if let Some(sequence) = self.at(owner).kept(of, now) {
                    found.see(sequence, 0, now);
                    let ripe = now + ms(FOUND_PATIENCE);
                    self.queue.push(ripe, Event::Ripe { query: id });
                }
                Goal::Record(of, found)
            }
        };
        let query = Query::new(owner, goal, target, &self.keys, &known, now);
        self.next_query += 1;
        self.queries.insert(id, query);
        self.node(owner).queries.push(id);
        self.set_deadline(id);
        self.advance(id);
    }

    fn set_deadline(&mut self, id: u64) {
        let began = self.now;
        let at = began + ms(LOOKUP_TIMEOUT);
        self.queue.push(at, Event::Late { query: id, began });
    }

    /// Lets a query ask whom it wants.
    fn advance(&mut self, id: u64) {
        loop {
            let Some(query) = self.queries.get_mut(&id) else {
                return;
            };
            match query.next(&self.keys, self.now) {
                Next::Ask(peer) => {
                    let owner = query.owner;
                    if self.nodes[owner as usize].links.get(peer).is_some() {
                        self.send(id, owner, peer);
                    } else {
                        query.pending.push(peer);
                        self.dial(owner, peer);
                    }
                }
                Next::Finished => return self.finish(id, false),
                Next::Wait | Next::Full => return,
            }
        }
    }

    fn send(&mut self, id: u64, owner: Id, peer: Id) {
        let way = self.round_trip(owner, peer);
        if let Some(query) = self.queries.get(&id)
            && let (Goal::Put(sequence), true) = (&query.goal, query.is_putting())
        {
            let sequence = *sequence;
            self.hand_over(owner, peer, sequence);
        }
        self.queue
            .push(self.now + way, Event::Answer { query: id, peer });
    }

    /// A newcomer that is one of the closest to our record's key that we know is given the record.
    pub(super) fn tell_newcomer(&mut self, owner: Id, at: Id) {
        let Some(sequence) = self.at(owner).kept(owner, self.now) else {
            return;
        };
        let key = self.keys[owner as usize];
        let near = self.at(owner).table.closest(&self.keys, &key, owner);
        if near.contains(&at) {
            self.hand_over(owner, at, sequence);
            self.carry(owner, at, REQUEST_BYTES + 2 * RECORD_BYTES);
        }
    }

    /// A record is on its way to a peer.
    fn hand_over(&mut self, owner: Id, at: Id, sequence: Millis) {
        let arrives = self.now + self.round_trip(owner, at) / 2;
        let store = Event::Store {
            at,
            owner,
            sequence,
        };
        self.queue.push(arrives, store);
    }

    /// A connection stands: queries that waited for it ask.
    pub(super) fn send_pending(&mut self, owner: Id, peer: Id) {
        for id in self.at(owner).queries.clone() {
            let Some(query) = self.queries.get_mut(&id) else {
                continue;
            };
            let waiting = query.pending.len();
            query.pending.retain(|p| *p != peer);
            if query.pending.len() < waiting {
                self.send(id, owner, peer);
            }
        }
    }

    /// Step 2.
    pub(super) fn fail(&mut self, owner: Id, peer: Id) {
        for id in self.at(owner).queries.clone() {
            if let Some(query) = self.queries.get_mut(&id)
                && query.waits_for(peer)
            {
                query.failed(&self.keys, peer);
                self.advance(id);
            }
        }
    }

    /// A record arrives.
    pub(super) fn store(&mut self, at: Id, owner: Id, sequence: Millis) {
        if self.at(at).up {
            let now = self.now;
            self.count(|c| &mut c.puts);
            self.node(at).keep(owner, sequence, now);
        }
    }

    /// An answer arrives, unless the peer has left or the connection has ended.
    pub(super) fn answer(&mut self, id: u64, peer: Id) {
        let Some(query) = self.queries.get(&id) else {
            return;
        };
        let owner = query.owner;
        if !self.at(peer).up || self.at(owner).links.get(peer).is_none() || !query.waits_for(peer) {
            return;
        }
        let putting = query.is_putting();
        let had = match &query.goal {
            Goal::Record(of, _) => self.at(peer).kept(*of, self.now),
            _ => None,
        };
        let closer = if putting {
            Vec::new()
        } else {
            let target = query.target();
            self.at(peer).table.closest(&self.keys, &target, owner)
        };
        self.count(|c| &mut c.requests);
        let answer = if putting { RECORD_BYTES } else { ANSWER_BYTES };
        let record = RECORD_BYTES * u64::from(had.is_some() || putting);
        self.carry(owner, peer, REQUEST_BYTES + answer + record);
        let now = self.now;
        if let Some(query) = self.queries.get_mut(&id) {
            if let (Goal::Record(_, found), Some(sequence)) = (&mut query.goal, had) {
                let depth = found.depths.get(&peer).copied().unwrap_or(1);
                if found.first_at.is_none() {
                    let ripe = now + ms(FOUND_PATIENCE);
                    self.queue.push(ripe, Event::Ripe { query: id });
                }
                found.see(sequence, depth, now);
            }
            query.answered(&self.keys, peer, &closer);
        }
        self.advance(id);
    }

    /// The time of a query is over.
    pub(super) fn late(&mut self, id: u64, began: Millis) {
        if self.queries.get(&id).is_some_and(|q| q.began == began) {
            self.finish(id, true);
        }
    }

    /// A query for a record need not go on; it may have ended before.
    pub(super) fn ripe(&mut self, id: u64) {
        if self.queries.contains_key(&id) {
            self.finish(id, false);
        }
    }

    fn finish(&mut self, id: u64, late: bool) {
        let now = self.now;
        if let Some(query) = self.queries.get_mut(&id)
            && let Goal::Put(_) = query.goal
            && !query.is_putting()
            && !late
        {
            query.put(now);
            self.set_deadline(id);
            return self.advance(id);
        }
        let Some(query) = self.queries.remove(&id) else {
            return;
        };
        let owner = query.owner;
        self.node(owner).queries.retain(|other| *other != id);
        match query.goal {
            Goal::Closest => {
                let found = query.result();
                for peer in found {
                    let node = self.node(owner);
                    node.book.learn(peer, now);
                    if node.links.get(peer).is_some() {
                        node.book.connected(peer);
                    }
                }
                self.dial_due(owner);
            }
            Goal::Put(sequence) => self.end_put(owner, sequence, query.is_put()),
            Goal::Record(_, found) => self.end_probe(&found, query.requests, query.began, late),
        }
        self.reschedule(owner);
    }

    /// A record that nobody confirmed is put again after a pause that doubles.
    fn end_put(&mut self, owner: Id, sequence: Millis, put: bool) {
        let now = self.now;
        let own = &mut self.node(owner).own;
        if put {
            own.put = Some(sequence);
            own.pause = None;
            own.next = sequence + ms(RECORD_AGAIN);
        } else {
            let pause = longer(own.pause, RECORD_SETTLE, RECORD_RETRY_MAX);
            own.pause = Some(pause);
            own.next = now + ms(pause);
        }
        self.count(|c| if put { &mut c.put } else { &mut c.not_put });
    }
}
