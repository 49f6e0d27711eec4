//! The world of a model: all nodes, the messages under way between them, and the clock.
//!
//! Nodes act as the node's own task does; each part says which: dials and connections (`dials`, its
//! `peers`), queries (`asks`, Kademlia's behaviour), what is due from time to time (`upkeep`, its
//! `closest` and `records`). Leaving and coming (`churn`) and the measured lookups (`probes`) are
//! the world's own.
//!
//! An answer is made by the peer's state at its arrival, half a round trip later than in life.

mod asks;
mod churn;
mod dials;
mod node;
mod probes;
mod upkeep;

use super::key::Key;
use super::measure::{Counts, Looked};
use super::place::Places;
use super::query::Query;
use super::queue::{Event, Queue};
use super::{Id, Millis, Settings, ms};
use crate::rng::Rng;
use node::Node;
use std::collections::BTreeMap;

/// Nodes with which others begin, and that stay: the founders of the federation.
pub const FOUNDERS: usize = 4;

/// How often connections are counted.
const SAMPLE_MS: Millis = 60_000;

/// A world.
#[derive(Debug)]
pub struct World {
    settings: Settings,
    now: Millis,
    queue: Queue,
    places: Places,
    /// Places of the nodes in the key space, and of their records.
    keys: Vec<Key>,
    nodes: Vec<Node>,
    /// Those that are up and no founders, in no order.
    up: Vec<Id>,
    /// Those that left and may come back.
    away: Vec<Id>,
    queries: BTreeMap<u64, Query>,
    next_query: u64,
    chance: Rng,
    /// Whether counts count.
    measuring: bool,
    counts: Counts,
    looked: Vec<Looked>,
    /// Connections of nodes that were up, each minute.
    samples: Vec<u64>,
    next_sample: Millis,
}

impl World {
    /// A world in which nobody is up yet.
    pub fn new(settings: &Settings) -> World {
        let mut rng = Rng::new(settings.seed, "overlay places");
        let places = Places::draw(settings.nodes, settings.local, &mut rng);
        let mut world = World {
            settings: settings.clone(),
            now: 0,
            queue: Queue::default(),
            places,
            keys: Vec::new(),
            nodes: Vec::new(),
            up: Vec::new(),
            away: Vec::new(),
            queries: BTreeMap::new(),
            next_query: 0,
            chance: Rng::new(settings.seed, "overlay events"),
            measuring: false,
            counts: Counts::default(),
            looked: Vec::new(),
            samples: Vec::new(),
            next_sample: ms(settings.join + settings.settle),
        };
        world.plan();
        world
    }

    /// All that happens by itself: nodes start, leave and come, lookups begin.
    fn plan(&mut self) {
        let join = ms(self.settings.join);
        for index in 0..self.settings.nodes {
            let at = if index < FOUNDERS {
                0
            } else {
                1 + self.chance.below(join)
            };
            let id = self.create(index < FOUNDERS);
            self.queue.push(at, Event::Start(id));
        }
        let (begin, measured) = (self.measured_from(), ms(self.settings.measured));
        let leaving = self.settings.nodes as u64 * self.settings.churn * measured;
        for _ in 0..leaving / 1000 / 3_600_000 {
            let at = begin + self.chance.below(measured);
            self.queue.push(at, Event::Leave);
        }
        // Those of the first minutes begin while churn is young.
        for _ in 0..self.settings.lookups {
            let at = begin + self.chance.below(measured);
            self.queue.push(at, Event::Probe);
        }
    }

    fn measured_from(&self) -> Millis {
        ms(self.settings.join + self.settings.settle)
    }

    /// Runs to the end of the measured time, and until the lookups that began in it have ended.
    pub fn run(&mut self) {
        let end = self.measured_from() + ms(self.settings.measured);
        self.run_until(end + ms(gridbay_core::overlay::LOOKUP_TIMEOUT) + 1);
    }

    fn run_until(&mut self, last: Millis) {
        let begin = self.measured_from();
        let end = begin + ms(self.settings.measured);
        while let Some((at, event)) = self.queue.pop_before(last) {
            while self.next_sample <= at.min(end) {
                self.sample();
                self.next_sample += SAMPLE_MS;
            }
            self.measuring = (begin..end).contains(&at);
            self.now = at;
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Start(id) => self.start(id),
            Event::Wake(id) => self.wake(id),
            Event::Dialled { from, to, run } => self.dialled(from, to, run),
            Event::NotDialled { from, to, run } => self.not_dialled(from, to, run),
            Event::Identified { a, b, since } => self.identified(a, b, since),
            Event::Answer { query, peer } => self.answer(query, peer),
            Event::Store {
                at,
                owner,
                sequence,
            } => self.store(at, owner, sequence),
            Event::Late { query, began } => self.late(query, began),
            Event::Ripe { query } => self.ripe(query),
            Event::Silence(id) => self.silence(id),
            Event::Leave => self.leave(),
            Event::Come => self.come(),
            Event::Probe => self.probe(),
            Event::Seek { from, of } => self.look_up(from, of),
        }
    }

    fn sample(&mut self) {
        let up = self.nodes.iter().filter(|n| n.up);
        self.samples.extend(up.map(|n| n.links.len() as u64));
    }

    fn count(&mut self, kind: impl FnOnce(&mut Counts) -> &mut u64) {
        if self.measuring {
            *kind(&mut self.counts) += 1;
        }
    }

    /// Bytes that a message costs both its ends.
    fn carry(&mut self, a: Id, b: Id, bytes: u64) {
        if self.measuring {
            self.nodes[a as usize].bytes += bytes;
            self.nodes[b as usize].bytes += bytes;
        }
    }

    fn round_trip(&self, a: Id, b: Id) -> Millis {
        let (a, b) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        self.places.round_trip(a.site, b.site)
    }

    /// The counts while it was measured.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The measured lookups, in the order in which they ended.
    pub fn looked(&self) -> &[Looked] {
        &self.looked
    }

    /// Connections of each node that was up, minute by minute.
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// Bytes of messages and handshakes of each node that is up, in and out.
    pub fn bytes(&self) -> impl Iterator<Item = u64> + '_ {
        self.nodes.iter().filter(|n| n.up).map(|n| n.bytes)
    }

    /// Peers in the routing table of each node that is up.
    pub fn tables(&self) -> impl Iterator<Item = u64> + '_ {
        let up = self.nodes.iter().filter(|n| n.up);
        up.map(|n| n.table.peers().count() as u64)
    }

    /// Of the peers in all tables, how many of a thousand are down.
    pub fn stale_peers(&self) -> f64 {
        let up = self.nodes.iter().filter(|n| n.up);
        let (mut all, mut down) = (0, 0);
        for peer in up.flat_map(|n| n.table.peers()) {
            all += 1;
            down += u64::from(!self.nodes[peer as usize].up);
        }
        1000.0 * down as f64 / f64::max(all as f64, 1.0)
    }

    /// Records that each node that is up keeps for others.
    pub fn stored(&self) -> impl Iterator<Item = u64> + '_ {
        let up = self.nodes.iter().filter(|n| n.up);
        up.map(|n| n.store.len() as u64)
    }
}

#[cfg(test)]
mod tests;
