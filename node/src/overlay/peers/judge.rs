//! Judgement: the rates of each kind for a peer, the price of exceeding them, and bans.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::PeerId;
use libp2p::kad;
use libp2p::kad::store::MemoryStore;

use super::flood::{BROKEN, Kind};
use super::marks::Mark;
use super::metered::Metered;
use super::rates::Rate;
use super::standing::FOREIGN;
use super::{Order, Peers};
use crate::overlay::stats::Count;
use crate::overlay::wire::behaviour::Gossip;

/// Points that a score must lose to count as a fall; smaller changes are rounding and fading.
const FALL: f64 = 1.0;

impl Peers {
    /// Whether a message of gossip passes, by its author and the peer that passed it on.
    pub(crate) fn may_gossip(&mut self, from: PeerId, via: PeerId, topic: usize) -> bool {
        let (rate, now) = (self.shared.topics[topic].rate, Instant::now());
        let frames = self.shared.limits.quotas.gossip_frames;
        let kept = self.dialer.is_kept(&via);
        let may = self
            .floods
            .may_gossip((from, via, kept), topic, (rate, frames), now);
        if !may {
            self.shared.counters.count(Count::GossipLimited);
        }
        may
    }

    /// Whether a request passes.
    pub(crate) fn may_request(&mut self, peer: PeerId) -> bool {
        let rate = self.shared.limits.quotas.requests;
        self.counted(peer, Kind::Requests, 1, rate, Count::RequestsLimited)
    }

    /// Whether a one-way message passes.
    pub(crate) fn may_send(&mut self, peer: PeerId, bytes: usize) -> bool {
        let quotas = self.shared.limits.quotas;
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        let limited = Count::DirectLimited;
        self.counted(peer, Kind::Direct, 1, quotas.direct, limited)
            && self.counted(peer, Kind::DirectBytes, size, quotas.direct_bytes, limited)
    }

    /// Whether a peer may say who it is once more.
    pub(super) fn may_greet(&mut self, peer: PeerId) -> bool {
        let rate = self.shared.limits.quotas.greetings;
        self.counted(peer, Kind::Greetings, 1, rate, Count::GreetingsLimited)
    }

    /// A frame that ended early or found no room. Nobody is to blame for one; for many, its sender.
    pub(crate) fn on_broken_frame(&mut self, peer: PeerId) {
        self.floods
            .may(peer, Kind::Broken, 1, BROKEN, Instant::now());
    }

    fn counted(&mut self, peer: PeerId, kind: Kind, n: u32, rate: Rate, refused: Count) -> bool {
        let may = self.floods.may(peer, kind, n, rate, Instant::now());
        if !may {
            self.shared.counters.count(refused);
        }
        may
    }

    /// Each second: bans end, penalties fade, and everybody is judged anew. Peers that hold a
    /// place for us as relays are not blamed for streams that they open on others' orders.
    pub(crate) fn judge_all(
        &mut self,
        gossip: &mut Metered<Gossip>,
        kad: &mut Metered<kad::Behaviour<MemoryStore>>,
        is_relay: impl Fn(&PeerId) -> bool,
        now: Instant,
    ) {
        for peer in self.standing.take_ended(now) {
            self.end_ban(peer);
        }
        for (peer, sum) in self.standing.fade() {
            gossip.set_application_score(&peer, -sum);
        }
        self.note_all(gossip.take_excess(now), Count::GossipFramesLimited);
        self.note_all(kad.take_excess(now), Count::DhtLimited);
        self.note_streams(is_relay, now);
        for (peer, n) in gossip.take_blamed() {
            let counters = &self.shared.counters;
            counters.count_n(Count::GossipForeign, n as usize);
            if !self.dialer.is_kept(&peer) {
                self.penalise(gossip, peer, FOREIGN * f64::from(n));
            }
        }
        for (peer, points) in self.floods.take_points(now) {
            self.shared.counters.count(Count::FloodPenalties);
            self.penalise(gossip, peer, points);
        }
        for peer in self.ids() {
            self.judge(gossip, peer);
        }
    }

    fn note_all(&mut self, excess: BTreeMap<PeerId, u32>, kind: Count) {
        for (peer, n) in excess {
            self.shared.counters.count_n(kind, n as usize);
            if !self.dialer.is_kept(&peer) {
                self.floods.note(peer, n);
            }
        }
    }

    fn note_streams(&mut self, is_relay: impl Fn(&PeerId) -> bool, now: Instant) {
        for (peer, cut) in self.meters.take_excess(now) {
            let all = cut.own.saturating_add(cut.by_order);
            let blamed = if is_relay(&peer) { cut.own } else { all };
            let counters = &self.shared.counters;
            counters.count_n(Count::StreamsLimited, all as usize);
            // Validators under load have many streams at once: cut off is enough.
            if blamed > 0 && !self.dialer.is_kept(&peer) {
                self.floods.note(peer, blamed);
            }
        }
    }

    /// Takes points off a peer's score.
    pub(crate) fn penalise(&mut self, gossip: &mut Gossip, peer: PeerId, points: f64) {
        let sum = self.standing.penalise(peer, points);
        gossip.set_application_score(&peer, -sum);
        self.judge(gossip, peer);
    }

    /// Looks at a peer's score, bans it when too low.
    ///
    /// Of a peer that we keep only what the overlay saw itself counts: gossip no longer listens to
    /// those that it scores as low (`gossip`), and everything else, consensus above all, goes on.
    pub(crate) fn judge(&mut self, gossip: &Gossip, id: PeerId) {
        let Some(score) = gossip.peer_score(&id) else {
            return;
        };
        let Some(peer) = self.connected.get_mut(&id) else {
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
        let (least, time) = (self.shared.tuning.ban_score, self.shared.tuning.ban_time);
        if counts < least && !banned && !self.marks.is(&id, Mark::Trusted) {
            tracing::info!(peer = %id, score, "banned");
            self.ban(id, time);
        }
    }

    /// Disconnects a peer and refuses it for a time.
    pub(crate) fn ban(&mut self, peer: PeerId, time: Duration) {
        if peer == self.shared.local {
            return;
        }
        self.shared.counters.count(Count::Bans);
        self.dialer.refused(&peer);
        let until = Instant::now()
            .checked_add(time)
            .unwrap_or_else(Instant::now);
        self.orders.push(Order::Block(peer));
        if let Some(evicted) = self.standing.ban(peer, until) {
            self.end_ban(evicted);
        }
        self.orders.push(Order::LeaveTable(peer));
        self.orders.push(Order::Disconnect(peer));
    }

    /// A ban has ended.
    fn end_ban(&mut self, peer: PeerId) {
        if !self.is_blocked(&peer) {
            self.orders.push(Order::Unblock(peer));
        }
    }
}
