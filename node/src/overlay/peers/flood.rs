//! Messages beyond a peer's rates are refused, and a peer that does not stop is banned.
//!
//! 1. Each kind of message has a [`Rate`] for each peer ([`crate::overlay::Quotas`]), far above
//!    what an honest peer sends. A message above it is refused before the node sees it, and
//!    counted: gossip is ignored, a request has no answer, a one-way message no receipt.
//! 2. The refusals of a peer within a second cost it one point each, at most [`HEAVIEST`]. So
//!    a flooder is banned within some two seconds, and a peer that is above its rate by four
//!    messages a second within a minute; a single overrun fades.
//! 3. For gossip a peer is blamed if it signed the message itself. It passes others' messages on in
//!    good faith: above the topic's rate they are ignored, and the peer is blamed only when even
//!    frames of gossip come too often. A peer that passes on no more than its core accepts
//!    (`gridbay_core::adverts`) stays below both.
//! 4. A kept peer is not blamed for gossip at all: neither others' messages nor gossip's own
//!    traffic may part a validator from the others. The excess is dropped all the same.
//! 5. Frames of gossip and of the DHT are counted before they are looked into ([`super::metered`]):
//!    duplicates, and questions that never reach the node, cost time as well.
//! 6. Messages on foreign topics ([`foreign`](crate::overlay::wire::foreign)) cost as much as
//!    frames that mean nothing.
//! 7. A peer says seldom who it is. If it says so too often, it is not listened to.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::PeerId;

use super::rates::{Rate, Rates};

/// Points for a second of flooding at the most: two of them are a ban.
const HEAVIEST: u32 = 60;
/// Broken frames that nobody is blamed for: a connection that ends may break all frames on it, of
/// which there are up to 128.
pub(super) const BROKEN: Rate = Rate::new(5, 256);
/// Buckets for each peer: kinds of messages, and topics.
const KINDS: usize = 10;

/// Of what a peer sends too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Messages of the topic with this index that others wrote.
    PassedOn(usize),
    /// Such messages of whatever topic.
    AllPassedOn,
    /// Messages of the topic with this index that the peer wrote itself.
    Written(usize),
    /// Requests.
    Requests,
    /// One-way messages.
    Direct,
    /// Their bytes.
    DirectBytes,
    /// Frames that end early or find no room.
    Broken,
    /// Identify messages of a peer.
    Greetings,
}

/// How much each peer sent.
#[derive(Debug)]
pub(super) struct Floods {
    rates: Rates<(PeerId, Kind)>,
    refused: BTreeMap<PeerId, u32>,
}

impl Floods {
    /// For so many connections.
    pub(super) fn new(connections: usize) -> Self {
        Self {
            rates: Rates::new(connections * KINDS),
            refused: BTreeMap::new(),
        }
    }

    /// Whether a peer may send this now; else it is noted.
    pub(super) fn may(
        &mut self,
        peer: PeerId,
        kind: Kind,
        tokens: u32,
        rate: Rate,
        now: Instant,
    ) -> bool {
        let may = self.rates.take((peer, kind), tokens, rate, now);
        if !may {
            self.note(peer, 1);
        }
        may
    }

    /// Whether a message of gossip passes, by its author, the peer that passed it on, and whether
    /// that peer is kept; with the rates of the topic and of frames.
    pub(super) fn may_gossip(
        &mut self,
        (from, via, kept): (PeerId, PeerId, bool),
        topic: usize,
        (rate, frames): (Rate, Rate),
        now: Instant,
    ) -> bool {
        let written = from == via;
        let (kind, blamed) = match written {
            true => (Kind::Written(topic), rate),
            false => (Kind::AllPassedOn, frames),
        };
        if !self.rates.take((via, kind), 1, blamed, now) {
            if !kept {
                self.note(via, 1);
            }
            return false;
        }
        written || self.rates.take((via, Kind::PassedOn(topic)), 1, rate, now)
    }

    /// So much of a peer was refused.
    pub(super) fn note(&mut self, peer: PeerId, refused: u32) {
        let sum = self.refused.entry(peer).or_default();
        *sum = sum.saturating_add(refused);
    }

    /// Step 2: the peers that were refused something since the last time, with the points that it
    /// costs.
    pub(super) fn take_points(&mut self, now: Instant) -> Vec<(PeerId, f64)> {
        self.rates.forget_full(now);
        let refused = std::mem::take(&mut self.refused);
        let points = |refused: u32| f64::from(refused.min(HEAVIEST));
        refused.into_iter().map(|(p, n)| (p, points(n))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::peers::standing::Standing;
    use std::time::Duration;

    const RATE: Rate = Rate::new(100, 200);
    const TICK: Duration = gridbay_core::overlay::TICK;

    /// Seconds until a peer that sends so much each second is to be banned, of the first minute and
    /// a half.
    fn ticks_to_ban(per_tick: u32) -> Option<u32> {
        let (mut floods, mut standing) = (Floods::new(8), Standing::new(8));
        let (peer, start) = (PeerId::random(), Instant::now());
        for tick in 0..90 {
            let begin = start + TICK * tick;
            for i in 0..per_tick {
                let at = begin + TICK * i / per_tick;
                floods.may(peer, Kind::Requests, 1, RATE, at);
            }
            let mut sum = 0.0;
            for (peer, points) in floods.take_points(begin + TICK) {
                sum = standing.penalise(peer, points);
            }
            if sum > 100.0 {
                return Some(tick + 1);
            }
            standing.fade();
        }
        None
    }

    #[test]
    fn floods_are_banned_the_sooner_the_worse_and_the_rate_never() {
        assert_eq!(ticks_to_ban(100), None, "exactly the rate");
        let slight = ticks_to_ban(106).unwrap();
        let heavy = ticks_to_ban(10_000).unwrap();
        assert!(heavy <= 2, "{heavy}");
        assert!(slight > 15, "{slight}");
    }

    #[test]
    fn one_overrun_is_forgiven_and_kinds_do_not_share_a_bucket() {
        let mut floods = Floods::new(8);
        let (peer, now) = (PeerId::random(), Instant::now());
        let refused = (0..220).filter(|_| !floods.may(peer, Kind::Direct, 1, RATE, now));
        assert_eq!(refused.count(), 20);
        assert!(floods.may(peer, Kind::PassedOn(0), 1, RATE, now));
        assert!(floods.may(peer, Kind::PassedOn(1), 1, RATE, now));
        assert_eq!(floods.take_points(now), [(peer, 20.0)]);
        assert_eq!(floods.take_points(now), []);
    }

    /// How many of a thousand messages at once pass, and how many the peer is blamed for.
    fn gossiped(own: bool, kept: bool, n: u32) -> (usize, f64) {
        let mut floods = Floods::new(8);
        let (via, other, now) = (PeerId::random(), PeerId::random(), Instant::now());
        let from = if own { via } else { other };
        let frames = Rate::new(1_000, 1_000);
        let passes = |_: &u32| floods.may_gossip((from, via, kept), 0, (RATE, frames), now);
        let passed = (0..n).filter(passes).count();
        let points = floods.take_points(now);
        (passed, points.iter().map(|(_, points)| points).sum())
    }

    #[test]
    fn a_peer_is_blamed_for_what_it_wrote_and_not_for_what_it_passed_on() {
        assert_eq!(gossiped(true, false, 220), (200, 20.0));
        assert_eq!(gossiped(false, false, 1_000), (200, 0.0));
        assert_eq!(
            gossiped(false, false, 1_010),
            (200, 10.0),
            "nobody passes on more than frames may come"
        );
        assert_eq!(gossiped(true, true, 1_010), (200, 0.0), "we keep it");
        assert_eq!(gossiped(false, true, 1_010), (200, 0.0), "we keep it");
    }
}
