//! Nodes start, leave without a word, and come.
//!
//! 1. A node starts with founders, of which it keeps [`ANCHORS`] drawn by lot (a founder all), with
//!    the peers on its disk if it has any, and an empty table. Its first record waits for
//!    [`REACH`]: so long it finds out how it is reached, unless all are on one machine.
//! 2. A node leaves without a word. Its peers notice [`IDLE`] later; its queries are forgotten, its
//!    records lost.
//! 3. For each that leaves one comes, ten seconds to two minutes later: every other time one that
//!    was there before, with the same key and the peers it had written down, else a new one.
//!    Founders stay.

use super::World;
use super::node::{Lookups, Node, Own};
use crate::overlay::book::Book;
use crate::overlay::key::Key;
use crate::overlay::links::Links;
use crate::overlay::queue::Event;
use crate::overlay::table::Table;
use crate::overlay::world::FOUNDERS;
use crate::overlay::{Id, ms};
use gridbay_core::overlay::{ANCHORS, IDLE, TICK};
use std::time::Duration;

/// Until a node that nobody can tell its address knows so, and puts what it has.
const REACH: Duration = Duration::from_secs(4);

impl World {
    /// A node that was never up.
    pub(super) fn create(&mut self, founder: bool) -> Id {
        let id = self.nodes.len() as Id;
        self.keys.push(Key::draw(&mut self.chance));
        let private = !founder && self.chance.below(1000) < self.settings.private;
        let site = self.places.site(&mut self.chance);
        self.nodes.push(Node::new(site, founder, private));
        id
    }

    /// Step 1.
    pub(super) fn start(&mut self, id: Id) {
        let (now, salt) = (self.now, self.chance.bits());
        let reach = if self.settings.local { 0 } else { ms(REACH) };
        let node = self.node(id);
        let mut book = Book::new(salt);
        let (founds, first) = (node.founder, salt as usize % FOUNDERS);
        for founder in (0..FOUNDERS).filter(|f| *f != id as usize) {
            match founds || (founder + first) % FOUNDERS < ANCHORS {
                true => book.keep(founder as Id, now),
                false => book.learn(founder as Id, now),
            }
        }
        node.known.iter().for_each(|peer| book.learn(*peer, now));
        node.book = book;
        node.lookups = Lookups {
            last: None,
            next: now,
            pause: TICK,
        };
        node.own = Own {
            next: now + reach,
            ..Own::default()
        };
        (node.up, node.since) = (true, now);
        node.run += 1;
        node.wake_at = now + 1;
        self.queue.push(now + 1, Event::Wake(id));
        if !self.at(id).founder {
            self.up.push(id);
        }
    }

    /// Step 2.
    pub(super) fn leave(&mut self) {
        if self.up.is_empty() {
            return;
        }
        let at = self.chance.index(self.up.len());
        let id = self.up.swap_remove(at);
        let node = self.node(id);
        node.up = false;
        node.wake_at = u64::MAX;
        node.known = node.book.good();
        node.book = Book::default();
        node.dialling = Vec::new();
        node.store.clear();
        for query in std::mem::take(&mut node.queries) {
            self.queries.remove(&query);
        }
        self.count(|c| &mut c.left);
        self.queue.push(self.now + ms(IDLE), Event::Silence(id));
        let back = self.chance.range(10_000, 120_000);
        self.queue.push(self.now + back, Event::Come);
    }

    /// Its peers have heard nothing for long enough.
    pub(super) fn silence(&mut self, id: Id) {
        let peers: Vec<Id> = self.at(id).links.iter().map(|l| l.peer).collect();
        for peer in peers {
            self.disconnect(peer, id);
        }
        let node = self.node(id);
        node.links = Links::default();
        node.table = Table::default();
        self.away.push(id);
    }

    /// Step 3.
    pub(super) fn come(&mut self) {
        let id = if self.chance.bits().is_multiple_of(2) && !self.away.is_empty() {
            let at = self.chance.index(self.away.len());
            self.count(|c| &mut c.back);
            self.away.swap_remove(at)
        } else {
            self.count(|c| &mut c.new);
            self.create(false)
        };
        self.start(id);
    }
}
