//! Detects that this node or a peer moves, by the time at which each connection was last heard.
//! Pure: the time comes in. `moved` acts on it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;

/// How long circuits to a peer stay open beside a direct connection: for what is under way on them.
pub(crate) const OVERLAP: Duration = Duration::from_secs(3);

/// The memory of moves.
#[derive(Debug)]
pub(super) struct Moves {
    /// When each connection was made, and when the last ping was answered on it, or that.
    heard: BTreeMap<ConnectionId, (Instant, Instant)>,
    /// The latest of these, of connections that are gone too.
    latest: Instant,
    /// When it was last looked who is silent.
    looked: Instant,
    /// Peers still to be sought.
    former: BTreeSet<PeerId>,
}

impl Moves {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            heard: BTreeMap::new(),
            latest: now,
            looked: now,
            former: BTreeSet::new(),
        }
    }

    /// A ping was answered on a connection, or it was made.
    pub(super) fn heard(&mut self, connection: ConnectionId, now: Instant) {
        let (_, last) = self.heard.entry(connection).or_insert((now, now));
        *last = now;
        self.latest = now;
    }

    /// A connection is closed.
    pub(super) fn closed(&mut self, connection: &ConnectionId) {
        self.heard.remove(connection);
    }

    /// All connections are being closed, which must not be taken for another change.
    pub(super) fn forget_all(&mut self) {
        self.heard.clear();
    }

    /// A peer of ours that we have no address of: to be sought once somebody is connected.
    pub(super) fn lose(&mut self, peer: PeerId) {
        self.former.insert(peer);
    }

    /// Some of these, for those that seek them.
    pub(super) fn take_former(&mut self, most: usize) -> Vec<PeerId> {
        let next = std::iter::from_fn(|| self.former.pop_first());
        next.take(most).collect()
    }

    /// The connections that are silent, where pings go out every `ping` and may take as long.
    pub(super) fn silent(&mut self, ping: Duration, now: Instant) -> Vec<ConnectionId> {
        let held_up = now.duration_since(self.looked) >= ping;
        self.looked = now;
        if held_up {
            self.latest = now;
            self.heard.values_mut().for_each(|(_, last)| *last = now);
        }
        let heard = self.heard.iter();
        let silent = heard.filter(|(_, (_, last))| now.duration_since(*last) >= 2 * ping);
        silent.map(|(connection, _)| *connection).collect()
    }

    /// Whether a connection was made long enough ago not to be part of the same attempt as one that
    /// is made now.
    pub(super) fn is_old(&self, connection: &ConnectionId, now: Instant) -> bool {
        let made = self.heard.get(connection).map(|(made, _)| *made);
        made.is_none_or(|made| now.duration_since(made) >= OVERLAP)
    }

    /// Whether nobody was heard that was due to be, give or take its round trip.
    pub(super) fn all_silent(&self, ping: Duration, now: Instant) -> bool {
        now.duration_since(self.latest) >= ping * 5 / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_silent_or_all_are() {
        let ping = Duration::from_secs(3);
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let [one, other] = [1, 2].map(ConnectionId::new_unchecked);
        let mut moves = Moves::new(start);
        moves.heard(one, start);
        moves.heard(other, start);
        moves.heard(other, after(4));
        assert!(moves.is_old(&other, after(4)), "however often it is heard");
        for seconds in 1..6 {
            assert!(moves.silent(ping, after(seconds)).is_empty());
        }
        assert_eq!(moves.silent(ping, after(6)), [one]);
        assert!(!moves.all_silent(ping, after(6)), "the other was heard");
        assert!(moves.all_silent(ping, after(8)), "though it is not overdue");
        moves.closed(&one);
        assert!(moves.silent(ping, after(8)).is_empty());
        assert_eq!(moves.silent(ping, after(10)), [other]);
        assert!(moves.silent(ping, after(13)).is_empty(), "held up");
        assert!(!moves.all_silent(ping, after(13)));
        assert!(moves.silent(ping, after(15)).is_empty());
    }
}
