//! The work of every second, and work due between ticks.

use std::time::Instant;

use libp2p::PeerId;

use super::{DRIFT, Task};
use crate::overlay::stats::Count;
use crate::overlay::view::Queues;

impl Task {
    pub(super) fn on_tick(&mut self) {
        let now = Instant::now();
        self.ticks = self.ticks.wrapping_add(1);
        self.judge(now);
        let Self {
            swarm,
            peers,
            dht,
            reach,
            wire,
            ..
        } = self;
        let behaviour = swarm.behaviour_mut();
        wire.forget_unjudged(&mut behaviour.gossip, now);
        wire.forget_callers();
        dht.end_seeks(&mut behaviour.kad, peers, now);
        dht.end_ripe(&mut behaviour.kad, now);
        peers.attend_trusted(now);
        reach.end_silent(peers, now);
        self.route();
        self.traverse(now);
        self.on_due();
        self.changed |= self.ticks.is_multiple_of(DRIFT);
    }

    /// Scores, bans, and room for connections.
    fn judge(&mut self, now: Instant) {
        let Self {
            swarm,
            shared,
            peers,
            dht,
            reach,
            wire,
            ..
        } = self;
        let behaviour = swarm.behaviour_mut();
        let is_relay = |peer: &PeerId| reach.is_relay(peer);
        peers.judge_all(&mut behaviour.gossip, &mut behaviour.kad, is_relay, now);
        let refused = reach.take_refused();
        shared.counters.count_n(Count::DialsRefused, refused);
        peers.end_unidentified(now);
        let (request, packets) = (&behaviour.request, &behaviour.packets);
        let is_in_use = |peer: &PeerId| {
            let busy = wire.is_busy(peer, request) || packets.carries(peer);
            busy || dht.is_sought(peer) || reach.needs(peer)
        };
        peers.end_doubles(|connection| reach.is_old(connection, now), is_in_use);
        peers.make_room(&behaviour.gossip, is_in_use, now);
        self.route();
    }

    /// When [`Task::on_due`] has something to do before the next tick.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let lookup = self.dht.next_due(&self.peers);
        self.peers.next_due().into_iter().chain(lookup).min()
    }

    /// Begins the dials and the lookup that are due.
    pub(super) fn on_due(&mut self) {
        let kad = &mut self.swarm.behaviour_mut().kad;
        self.dht.look_around(kad, &self.peers, Instant::now());
        self.peers.dial_due();
        self.route();
    }

    /// Does what it takes to be reached, tells others where, and shows the handles.
    pub(super) fn traverse(&mut self, now: Instant) {
        self.reach.traverse(&self.peers, now);
        self.route();
        self.tell(now);
        let gate = &self.swarm.behaviour().gate.gate;
        let queues = Queues {
            strangers: gate.strangers(),
            lookups: self.dht.lookups(),
            seeks: self.dht.seeks(),
            ..self.wire.queues()
        };
        self.reach.show(queues, self.peers.banned(), now);
    }

    /// Tells the DHT where we are and what we provide, as far as that is due.
    pub(super) fn tell(&mut self, now: Instant) {
        let (peers, addresses) = (&self.peers, self.reach.whereabouts());
        let kad = &mut self.swarm.behaviour_mut().kad;
        self.dht.tell_whereabouts(kad, peers, &addresses, now);
        self.dht.say_provided(kad, peers, &addresses, now);
    }

    /// Shows the handles who is connected, if that has changed.
    pub(super) fn show(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.peers.show(&self.swarm.behaviour().gossip);
        }
    }
}
