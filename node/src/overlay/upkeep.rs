//! What is done every half second, and what it needs: scores, bans, discovery, room for connections, forgetting.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridbay_core::overlay::{Idle, LOOKUP_PAUSE, LOOKUP_SOON, Room, lookup_pause};
use libp2p::gossipsub::MessageAcceptance;
use libp2p::kad::{self, GetClosestPeersError, GetClosestPeersResult};
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use super::command::Found;
use super::dht::lookups::Lookup;
use super::event::MessageId;
use super::handle::{PeerInfo, Queues};
use super::peers::crowding::crowd_of;
use super::peers::marks::Mark;
use super::peers::peer::Peer;
use super::reach::addresses::{dialable, is_circuit, relay_of};
use super::stats::Count;
use super::task::{Task, Unjudged};
use super::wire::gossip;

/// Points that a score must lose to count as a fall; smaller changes are rounding and fading.
const FALL: f64 = 1.0;

impl Task {
    pub(crate) fn on_tick(&mut self) {
        let now = Instant::now();
        for peer in self.standing.take_ended(now) {
            self.end_ban(peer);
        }
        for (peer, sum) in self.standing.fade() {
            self.swarm
                .behaviour_mut()
                .gossip
                .set_application_score(&peer, -sum);
        }
        self.judge_floods(now);
        for peer in self.peers.keys().copied().collect::<Vec<_>>() {
            self.judge(peer);
        }
        self.end_unidentified(now);
        self.end_doubles(now);
        self.make_room(now);
        self.forget_unjudged(now);
        // Callers that no longer wait.
        self.asked.retain(|_, reply| !reply.is_closed());
        self.end_seeks(now);
        self.end_ripe(now);
        self.attend_trusted(now);
        if !self.local {
            self.end_silent(now);
        }
        self.traverse(now);
        self.on_due();
        self.publish_peers();
    }

    /// When [`Task::on_due`] has something to do before the next tick.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let lookup = (!self.peers.is_empty()).then_some(self.lookups.next);
        self.dialer.next_due().into_iter().chain(lookup).min()
    }

    /// Begins the dials and the lookup that are due.
    pub(crate) fn on_due(&mut self) {
        let now = Instant::now();
        if now >= self.lookups.next && !self.peers.is_empty() {
            self.look_up(self.shared.local.to_bytes(), None);
            let enough = self.peers.len() >= self.shared.limits.wanted_peers;
            self.lookups.pause = lookup_pause(self.lookups.pause, enough);
            self.lookups.last = Some(now);
            self.lookups.next = now + self.lookups.pause;
        }
        self.dial_due();
    }

    /// Takes points off a peer's score.
    pub(crate) fn penalise(&mut self, peer: PeerId, points: f64) {
        let sum = self.standing.penalise(peer, points);
        self.swarm
            .behaviour_mut()
            .gossip
            .set_application_score(&peer, -sum);
        self.judge(peer);
    }

    /// Looks at a peer's score, bans it when too low.
    ///
    /// Of a peer that we keep only what the overlay saw itself counts: gossip listens no longer to whom it scores as low (`gossip`), and
    /// everything else, consensus above all, goes on.
    pub(crate) fn judge(&mut self, id: PeerId) {
        let Some(score) = self.swarm.behaviour().gossip.peer_score(&id) else {
            return;
        };
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if score < peer.score - FALL {
            self.shared.counters.count(Count::ScoreFalls);
        }
        peer.score = score;
        // Its connections end a little after the ban begins.
        let banned = self.standing.banned_until(&id).is_some();
        let counts = match self.dialer.is_kept(&id) {
            true => -self.standing.sum(&id),
            false => score,
        };
        if counts < self.tuning.ban_score && !banned && !self.is_marked(&id, Mark::Trusted) {
            tracing::info!(peer = %id, score, "banned");
            self.ban(id, self.tuning.ban_time);
        }
    }

    fn end_unidentified(&mut self, now: Instant) {
        let patience = self.tuning.admission;
        let overdue = |(id, peer): (&PeerId, &Peer)| {
            (!peer.admitted && now.duration_since(peer.since) > patience).then_some(*id)
        };
        for peer in self.peers.iter().filter_map(overdue).collect::<Vec<_>>() {
            self.shared.counters.count(Count::NotIdentified);
            // An error means that it has just left.
            let _gone = self.swarm.disconnect_peer_id(peer);
        }
    }

    /// Closes connections that nobody needs (`gridbay_core::overlay`): many when there are nearly too many, else now and then one that
    /// we dialled.
    fn make_room(&mut self, now: Instant) {
        let limits = &self.shared.limits;
        let room = Room {
            connections: limits.connections as usize,
            wanted: limits.wanted_peers,
            grace: self.tuning.grace,
        };
        let open = self.peers.values().map(|p| p.connections.len()).sum();
        if room.suffices(self.peers.len(), open) {
            return;
        }
        for peer in room.to_close(self.peers.len(), open, self.unneeded(now)) {
            self.shared.counters.count(Count::ClosedForRoom);
            // An error means that it has just left.
            let _gone = self.swarm.disconnect_peer_id(peer);
        }
    }

    /// The peers that nobody needs: neither kept nor in gossip's mesh, nor in use.
    fn unneeded(&self, now: Instant) -> Vec<Idle<PeerId>> {
        let gossip = &self.swarm.behaviour().gossip;
        let mesh: BTreeSet<&PeerId> = gossip.all_mesh_peers().collect();
        let crowds = self.crowds();
        let idle = |(id, peer): (&PeerId, &Peer)| {
            let needed = mesh.contains(id)
                || self.dialer.is_kept(id)
                || self.is_marked(id, Mark::Trusted)
                || self.is_in_use(id, peer);
            (!needed).then(|| Idle {
                peer: *id,
                own: peer.connections.keys().any(|c| self.dialled.contains(c)),
                crowd: crowd_of(&crowds, peer),
                age: now.duration_since(peer.since),
            })
        };
        self.peers.iter().filter_map(idle).collect()
    }

    /// Whether something is under way with a peer, or a place at a relay hangs on the connection with it, ours or the peer's.
    pub(crate) fn is_in_use(&self, id: &PeerId, peer: &Peer) -> bool {
        let request = &self.swarm.behaviour().request;
        let mut asked = self.asked.keys();
        peer.waiting > 0
            || self.direct.is_busy(id)
            || asked.any(|asked| request.is_pending_outbound(id, asked))
            || self.seeks.contains_key(id)
            || self.relays.all_relays().any(|relay| relay == *id)
            || self.serving.places.contains(id)
            || self.serving.circuits.contains(id)
    }

    /// Messages that gossip itself has forgotten by now can no longer be judged.
    fn forget_unjudged(&mut self, now: Instant) {
        let window = self.tuning.heartbeat * (gossip::HISTORY - 1);
        let overdue = |(id, message): (&MessageId, &Unjudged)| {
            (now.duration_since(message.since) >= window).then_some((*id, message.via))
        };
        for (id, via) in self.unjudged.iter().filter_map(overdue).collect::<Vec<_>>() {
            self.take_unjudged(&id);
            self.shared.counters.count(Count::GossipUnjudged);
            self.settle(id, &via, MessageAcceptance::Ignore);
        }
    }

    /// A new peer may know others.
    pub(crate) fn look_up_soon(&mut self) {
        if self.peers.len() >= self.shared.limits.wanted_peers {
            return;
        }
        let soon = Instant::now() + LOOKUP_SOON;
        let earliest = self.lookups.last.map_or(soon, |last| last + LOOKUP_PAUSE);
        self.lookups.pause = Duration::ZERO;
        self.lookups.next = self.lookups.next.min(soon.max(earliest));
    }

    /// Asks the DHT for the peers closest to a key.
    pub(crate) fn look_up(&mut self, key: Vec<u8>, reply: Option<oneshot::Sender<Found>>) {
        // Without room the reply is dropped, which the caller takes for "nobody".
        if self.has_room_to_look_up() {
            let id = self.swarm.behaviour_mut().kad.get_closest_peers(key);
            self.begin_lookup(id, Lookup::Closest(reply));
        }
    }

    /// Somebody told us where a peer may be reached.
    pub(crate) fn learn(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        self.dialer.learn(peer, addresses, Instant::now());
        if self.peers.contains_key(&peer) {
            self.dialer.connected(&peer);
        }
    }

    /// Remembers whom a lookup found, and answers whoever asked for it.
    pub(crate) fn on_closest(
        &mut self,
        id: kad::QueryId,
        result: GetClosestPeersResult,
        last: bool,
    ) {
        let peers = match result {
            Ok(found) => found.peers,
            Err(GetClosestPeersError::Timeout { peers, .. }) => peers,
        };
        let found: Found = peers
            .iter()
            .map(|p| (p.peer_id, dialable(&p.addrs)))
            .collect();
        let learnt = self.varied(&found);
        let crowded = found.len() - learnt.len();
        self.shared.counters.count_n(Count::LearntCrowded, crowded);
        for (peer, addresses) in learnt {
            if *peer != self.shared.local {
                self.learn(*peer, addresses.clone());
            }
        }
        self.dial_due();
        if last && let Some(Lookup::Closest(Some(reply))) = self.lookups.running.remove(&id) {
            // The caller may have given up already.
            let _unheard = reply.send(found);
        }
    }

    /// How full everything is.
    pub(crate) fn queues(&self) -> Queues {
        Queues {
            events: self.outbox.len(),
            unjudged: self.unjudged.len(),
            unanswered: self.waiting.len(),
            asked: self.asked.len(),
            unconfirmed: self.direct.len(),
            strangers: self.swarm.behaviour().gate.gate.strangers(),
            lookups: self.lookups.running.len(),
            seeks: self.seeks.len(),
        }
    }

    /// Shows the connected peers to the handles.
    pub(crate) fn publish_peers(&mut self) {
        let gossip = &self.swarm.behaviour().gossip;
        let mesh: BTreeSet<&PeerId> = gossip.all_mesh_peers().collect();
        let subscribed: BTreeSet<&PeerId> = gossip
            .all_peers()
            .filter(|(_, topics)| !topics.is_empty())
            .map(|(id, _)| id)
            .collect();
        let info = |(id, peer): (&PeerId, &Peer)| {
            let address = peer
                .connections
                .values()
                .min_by_key(|a| is_circuit(a))?
                .clone();
            peer.admitted.then(|| PeerInfo {
                peer: *id,
                via: relay_of(&address),
                relays: peer.relays,
                address,
                connections: peer.connections.len(),
                rtt: peer.rtt,
                score: peer.score,
                kept: self.dialer.is_kept(id),
                trusted: self.is_marked(id, Mark::Trusted),
                subscribed: subscribed.contains(&id),
                in_mesh: mesh.contains(&id),
            })
        };
        let peers: Arc<[PeerInfo]> = self.peers.iter().filter_map(info).collect();
        self.snapshot.send_replace(peers);
    }
}
