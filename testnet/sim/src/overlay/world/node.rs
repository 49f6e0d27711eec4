//! One node of the world.

use super::World;
use crate::overlay::book::Book;
use crate::overlay::links::Links;
use crate::overlay::place::Site;
use crate::overlay::table::Table;
use crate::overlay::{Id, Millis, ms};
use gridbay_core::overlay::{RECORD_LIFE, RECORDS};
use std::collections::BTreeMap;
use std::time::Duration;

/// A record kept for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// When its owner made it.
    pub(super) sequence: Millis,
}

impl Stored {
    pub(super) fn is_expired(&self, now: Millis) -> bool {
        now >= self.sequence + ms(RECORD_LIFE)
    }
}

/// When the neighbourhood is asked for.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    pub(super) last: Option<Millis>,
    pub(super) next: Millis,
    pub(super) pause: Duration,
}

/// The node's own record.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// When it is to be put next.
    pub(super) next: Millis,
    /// When it was put last.
    pub(super) last: Millis,
    /// The pause after the last put, if it failed.
    pub(super) pause: Option<Duration>,
    /// The newest sequence that some peer confirmed.
    pub(super) put: Option<Millis>,
}

/// A node, up or away.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) site: Site,
    pub(super) founder: bool,
    /// Nobody can dial it, and it serves nobody.
    pub(super) private: bool,
    pub(super) up: bool,
    /// Times that it was started.
    pub(super) run: u32,
    pub(super) since: Millis,
    pub(super) table: Table,
    pub(super) links: Links,
    pub(super) book: Book,
    pub(super) dialling: Vec<Id>,
    pub(super) store: BTreeMap<Id, Stored>,
    pub(super) queries: Vec<u64>,
    pub(super) lookups: Lookups,
    pub(super) own: Own,
    pub(super) wake_at: Millis,
    /// Its disk: peers of an earlier run.
    pub(super) known: Vec<Id>,
    /// Bytes of messages and handshakes while measured.
    pub(super) bytes: u64,
}

impl Node {
    pub(super) fn new(site: Site, founder: bool, private: bool) -> Node {
        Node {
            site,
            founder,
            private,
            up: false,
            run: 0,
            since: 0,
            table: Table::default(),
            links: Links::default(),
            book: Book::default(),
            dialling: Vec::new(),
            store: BTreeMap::new(),
            queries: Vec::new(),
            lookups: Lookups {
                last: None,
                next: 0,
                pause: Duration::ZERO,
            },
            own: Own::default(),
            wake_at: Millis::MAX,
            known: Vec::new(),
            bytes: 0,
        }
    }

    /// Keeps a record for its owner, if it is newer than the one there. A full store drops what is
    /// out of date.
    pub(super) fn keep(&mut self, owner: Id, sequence: Millis, now: Millis) {
        let stored = Stored { sequence };
        let newer = self.store.get(&owner).map(|s| s.sequence < sequence);
        if self.store.len() >= RECORDS {
            self.store.retain(|_, stored| !stored.is_expired(now));
        }
        if newer.unwrap_or(self.store.len() < RECORDS) && !stored.is_expired(now) {
            self.store.insert(owner, stored);
        }
    }

    /// The record of a node, if it is here and in date.
    pub(super) fn kept(&self, owner: Id, now: Millis) -> Option<Millis> {
        let stored = self.store.get(&owner).filter(|s| !s.is_expired(now));
        stored.map(|stored| stored.sequence)
    }
}

impl World {
    pub(super) fn node(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    pub(super) fn at(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_takes_the_newest_and_forgets_what_is_out_of_date() {
        let life = ms(RECORD_LIFE);
        let mut node = Node::new(0, false, false);
        node.keep(1, 100, 100);
        node.keep(1, 50, 101);
        assert_eq!(node.kept(1, 102), Some(100));
        assert_eq!(node.kept(1, 100 + life), None);
        for owner in 0..2000 {
            node.keep(owner, 200, 200);
        }
        assert_eq!(node.store.len(), RECORDS);
        assert_eq!(node.kept(1, 201), Some(200));
        node.keep(5000, 200 + life, 200 + life);
        assert_eq!(node.store.len(), 1, "all others were out of date");
    }
}
