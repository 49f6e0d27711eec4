//! Somebody moves: we ourselves, or a peer. Nobody is told, and what was connected falls silent.
//!
//! 1. A connection is *silent* when no ping on it has been answered for the time between two pings and that of an answer. (The ping
//!    protocol itself keeps its first failure in a row to itself.) It is closed. Where we have not looked for long, because this
//!    process was held up, answers may lie unread, and everybody counts as just heard.
//! 2. We have moved when an address of an interface is gone, or when a connection is silent and nobody else has answered a ping since
//!    he was last due to: then the gateway before us has another address. Every connection is closed and made anew, since many would
//!    take their time to notice, and relays may be asked again at once.
//! 3. Whom we were connected with and have no address of, we seek as soon as somebody is connected. They have lost us without knowing
//!    it yet, and looking for us they would find where we were.
//! 4. A peer has moved when it connects to us from another host than [`OVERLAP`] ago: its older connections of the same kind are
//!    closed. A relay would else lead others to the dead one. Private and public addresses stand beside each other, as in one LAN.
//! 5. A peer has moved too when it comes through a relay though we have had a direct connection for [`OVERLAP`]: nobody takes a circuit
//!    to whom he is connected with. The direct ones are closed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, is_circuit, is_global, is_quic};
use super::traverse::OVERLAP;
use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// Former peers sought at a time, twice a second.
const AT_ONCE: usize = 8;

/// What is remembered of moves.
#[derive(Debug)]
pub(crate) struct Moves {
    /// When each connection was made, and when the last ping was answered on it, or that.
    heard: BTreeMap<ConnectionId, (Instant, Instant)>,
    /// The latest of these, of connections that are gone too.
    latest: Instant,
    /// When it was last looked who is silent.
    looked: Instant,
    /// Step 3: those still to be sought.
    former: BTreeSet<PeerId>,
}

impl Moves {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            heard: BTreeMap::new(),
            latest: now,
            looked: now,
            former: BTreeSet::new(),
        }
    }

    /// A ping was answered on a connection, or it was made.
    pub(crate) fn heard(&mut self, connection: ConnectionId, now: Instant) {
        let (_, last) = self.heard.entry(connection).or_insert((now, now));
        *last = now;
        self.latest = now;
    }

    /// A connection is closed.
    pub(crate) fn closed(&mut self, connection: &ConnectionId) {
        self.heard.remove(connection);
    }

    /// Step 1, where pings go out every `ping` and may take as long.
    fn silent(&mut self, ping: Duration, now: Instant) -> Vec<ConnectionId> {
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

    /// Whether a connection was made long enough ago not to be part of the same attempt as one that is made now.
    pub(crate) fn is_old(&self, connection: &ConnectionId, now: Instant) -> bool {
        let made = self.heard.get(connection).map(|(made, _)| *made);
        made.is_none_or(|made| now.duration_since(made) >= OVERLAP)
    }

    /// Step 2: whether nobody was heard who was due to, give or take his round trip.
    fn all_silent(&self, ping: Duration, now: Instant) -> bool {
        now.duration_since(self.latest) >= ping * 5 / 4
    }
}

impl Task {
    /// Steps 1 and 2, as far as they follow from silence.
    pub(crate) fn end_silent(&mut self, now: Instant) {
        let ping = self.tuning.ping;
        let silent = self.moves.silent(ping, now);
        let lost = silent.len();
        self.shared.counters.count_n(Count::PingsLost, lost);
        if lost > 0 && self.moves.all_silent(ping, now) {
            tracing::info!("nobody answers any more: all connections are made anew");
            return self.on_network_change(now);
        }
        for connection in silent {
            self.moves.closed(&connection);
            self.swarm.close_connection(connection);
        }
    }

    /// Step 2.
    pub(crate) fn on_network_change(&mut self, now: Instant) {
        self.shared.counters.count(Count::NetworkChanges);
        // What is being closed must not be taken for another change.
        self.moves.heard.clear();
        self.reach.begin_anew(now);
        self.dialer.hurry();
        self.relays.forgive();
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            if self.is_peer(&id) && self.dialer.addresses(&id).is_empty() {
                self.moves.former.insert(id);
            }
            // An error means that it has just left.
            let _gone = self.swarm.disconnect_peer_id(id);
        }
    }

    /// Step 3.
    pub(crate) fn seek_former(&mut self) {
        if !self.peers.values().any(|peer| peer.admitted) {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(peer) = self.moves.former.pop_first() else {
                return;
            };
            self.seek(peer);
        }
    }

    /// Steps 4 and 5: a peer has connected to us.
    pub(crate) fn on_arrival(&mut self, id: PeerId, connection: ConnectionId) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let Some(new) = peer.connections.get(&connection) else {
            return;
        };
        let others = peer.connections.iter().filter(|(at, _)| **at != connection);
        let dead: Vec<ConnectionId> = if is_circuit(new) {
            let since = peer.direct_since.map(|since| since.elapsed());
            let stands = since.is_some_and(|since| since >= OVERLAP);
            let direct = others.filter(|(_, address)| stands && !is_circuit(address));
            direct.map(|(at, _)| *at).collect()
        } else {
            let now = Instant::now();
            let old = others.filter(|(at, _)| self.moves.is_old(at, now));
            let left = old.filter(|(_, address)| is_left(address, new));
            left.map(|(at, _)| *at).collect()
        };
        if dead.is_empty() {
            return;
        }
        if is_circuit(new) {
            peer.direct_since = None;
            peer.tried_direct = false;
        }
        for connection in dead {
            self.shared.counters.count(Count::ConnectionsLeft);
            self.swarm.close_connection(connection);
        }
    }
}

/// Whether a peer that comes from `new` is no longer at `old`.
fn is_left(old: &Multiaddr, new: &Multiaddr) -> bool {
    let (Some(from), Some(to)) = (ip(old), ip(new)) else {
        return false;
    };
    !is_circuit(old)
        && is_quic(old) == is_quic(new)
        && from.is_ipv4() == to.is_ipv4()
        && is_global(from) == is_global(to)
        && from != to
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

    #[test]
    fn a_host_is_left_for_another_one_of_the_same_sort() {
        let left = |old: &str, new: &str| is_left(&old.parse().unwrap(), &new.parse().unwrap());
        let old = "/ip4/198.51.100.7/udp/7411/quic-v1";
        assert!(left(old, "/ip4/203.0.113.9/udp/4/quic-v1"));
        for new in [
            "/ip4/198.51.100.7/udp/4/quic-v1",
            "/ip4/203.0.113.9/tcp/7411",
            "/ip4/192.168.1.7/udp/7411/quic-v1",
            "/ip6/2001:db8::1/udp/7411/quic-v1",
        ] {
            assert!(!left(old, new), "{new}");
        }
        let relay = PeerId::random();
        let circuit = format!("{old}/p2p/{relay}/p2p-circuit");
        assert!(!left(&circuit, "/ip4/203.0.113.9/udp/4/quic-v1"));
    }
}
