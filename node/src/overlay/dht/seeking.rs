//! Reaching a peer that is not connected, because somebody waits for it.
//!
//! 1. A peer whose addresses are known is dialled. If none is known, if the dial fails, or if it
//!    has led to nothing after a second, the peer's record is looked up in the DHT, and its
//!    addresses there are dialled: direct ones first, circuits a little later. Until the peer is
//!    reached it is looked up again, after pauses that double: one that has moved says so in time.
//! 2. When it is admitted, requests that waited go out. When it cannot be reached, or has not been
//!    within [`PATIENCE`], they fail as not connected.
//! 3. A caller that asked for the peer alone is told why the last attempt failed ([`SeekError`]).
//! 4. [`crate::overlay::Limits::seeks`] peers are sought at a time and
//!    [`crate::overlay::Limits::requests_per_seek`] requests wait for each.

use std::time::{Duration, Instant};

use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use super::seek::Seek;
use super::{Dht, Kad, Order};
use crate::overlay::command::{Reply, Sought};
use crate::overlay::error::{DialCause, OverlayError, RequestError, SeekError};
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

/// How long a peer is sought: a lookup and a punch.
const PATIENCE: Duration = Duration::from_secs(20);

/// Dials beyond the first, once the record is known.
const REDIALS: u8 = 2;

impl Dht {
    /// Begins to seek a peer, unless it is connected or sought already. Returns whether it is or
    /// was.
    pub(crate) fn seek(&mut self, kad: &mut Kad, peers: &Peers, peer: PeerId) -> bool {
        self.seek_at(kad, peers, peer, Vec::new())
    }

    /// The same, with addresses that somebody gave.
    fn seek_at(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        peer: PeerId,
        mut given: Vec<Multiaddr>,
    ) -> bool {
        if self.seeks.contains_key(&peer) {
            return true;
        }
        if peer == self.shared.local
            || peers.is_peer(&peer)
            || peers.is_blocked(&peer)
            || self.seeks.len() >= self.shared.limits.seeks
        {
            return false;
        }
        self.shared.counters.count(Count::Seeks);
        let mut seek = Seek::new(Instant::now());
        given.extend(peers.addresses(&peer));
        seek.dialled = !given.is_empty();
        self.seeks.insert(peer, seek);
        if given.is_empty() {
            self.look_further(kad, peer);
        } else {
            // Also beside a dial that is under way: that one may be to where the peer cannot be
            // reached any more.
            self.dial(peer, given, PeerCondition::Disconnected, true);
        }
        true
    }

    fn dial(
        &mut self,
        peer: PeerId,
        addresses: Vec<Multiaddr>,
        condition: PeerCondition,
        first: bool,
    ) {
        self.orders.push(Order::Dial {
            peer,
            addresses,
            condition,
            first,
        });
    }

    /// The first dial of a search could not even begin.
    pub(crate) fn on_dial_refused(&mut self, kad: &mut Kad, peer: PeerId) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        seek.dialled = false;
        if self.look_up_record(kad, peer) {
            self.note_lookup(&peer);
        } else {
            self.end_seek(&peer, SeekError::NoRecord);
        }
    }

    /// A request for a peer that is not connected.
    pub(crate) fn seek_for_request(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        peer: PeerId,
        bytes: Vec<u8>,
        reply: Reply,
    ) {
        let most = self.shared.limits.requests_per_seek;
        self.seek(kad, peers, peer);
        match self
            .seeks
            .get_mut(&peer)
            .filter(|s| s.requests.len() < most)
        {
            Some(seek) => seek.requests.push((bytes, reply)),
            None => self.shared.fail_request(reply, RequestError::NotConnected),
        }
    }

    /// Somebody wants to know whether a peer can be reached.
    pub(crate) fn seek_for_caller(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        peer: PeerId,
        given: Vec<Multiaddr>,
        reply: oneshot::Sender<Sought>,
    ) {
        let now = Instant::now();
        let banned = peers.banned_until(&peer);
        let known = if peers.is_peer(&peer) {
            Some(Ok(()))
        } else if peer == self.shared.local {
            Some(Err(SeekError::Myself))
        } else if peers.is_blocked(&peer) {
            Some(Err(SeekError::Blocked))
        } else if let Some(left) = banned.and_then(|until| until.checked_duration_since(now)) {
            Some(Err(SeekError::Banned { left }))
        } else if !self.seek_at(kad, peers, peer, given) {
            Some(Err(OverlayError::Busy.into()))
        } else {
            None
        };
        match (known, self.seeks.get_mut(&peer)) {
            (None, Some(seek)) => seek.callers.push(reply),
            // Without a single peer it has ended already.
            (None, None) => {
                let _unheard = reply.send(Err(SeekError::NoRecord));
            }
            (Some(known), _) => {
                let _unheard = reply.send(known);
            }
        }
    }

    /// A record told where a sought peer is.
    pub(super) fn on_whereabouts(
        &mut self,
        peers: &Peers,
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    ) {
        self.orders.push(Order::Learn(peer, addresses.clone()));
        if !peers.is_peer(&peer) && !addresses.is_empty() {
            self.dial(peer, addresses, PeerCondition::Disconnected, false);
        }
    }

    /// A dial to a peer failed: step 1 goes on, or ends.
    pub(crate) fn on_dial_failed(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        peer: PeerId,
        error: &DialError,
    ) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        seek.failure = Some(failure(error));
        if !seek.looked_up {
            self.look_further(kad, peer);
        } else if seek.redials < REDIALS {
            // The record may have come while an earlier dial was under way.
            seek.redials += 1;
            let known = peers.addresses(&peer);
            self.dial(peer, known, PeerCondition::DisconnectedAndNotDialing, false);
        }
    }

    /// A peer closed its last connection before it was admitted. Another attempt would end alike,
    /// unless there is another way to try.
    pub(crate) fn on_hung_up(&mut self, kad: &mut Kad, peer: PeerId) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        seek.failure = Some(SeekError::HungUp);
        if seek.looked_up {
            self.end_seek(&peer, SeekError::HungUp);
        } else {
            self.look_further(kad, peer);
        }
    }

    fn look_further(&mut self, kad: &mut Kad, peer: PeerId) {
        if self.look_up_record(kad, peer) {
            self.note_lookup(&peer);
        } else {
            self.give_up(&peer, OverlayError::Busy.into());
        }
    }

    fn note_lookup(&mut self, peer: &PeerId) {
        if let Some(seek) = self.seeks.get_mut(peer) {
            seek.looked_up = true;
        }
    }

    /// A peer was admitted.
    pub(super) fn found(&mut self, peer: PeerId) {
        let Some(seek) = self.seeks.remove(&peer) else {
            return;
        };
        for caller in seek.callers {
            let _unheard = caller.send(Ok(()));
        }
        for (bytes, reply) in seek.requests {
            self.orders.push(Order::Request { peer, bytes, reply });
        }
    }

    /// Ends seeks that took too long, and looks further for those that take long.
    pub(crate) fn end_seeks(&mut self, kad: &mut Kad, peers: &Peers, now: Instant) {
        let slow = |(peer, seek): (&PeerId, &mut Seek)| seek.is_slow(now).then_some(*peer);
        for peer in self.seeks.iter_mut().filter_map(slow).collect::<Vec<_>>() {
            if !peers.is_empty() && self.look_up_record(kad, peer) {
                self.note_lookup(&peer);
            }
        }
        let overdue = |(id, seek): (&PeerId, &Seek)| {
            (now.duration_since(seek.since) >= PATIENCE).then_some(*id)
        };
        for peer in self.seeks.iter().filter_map(overdue).collect::<Vec<_>>() {
            let cause = DialCause::Silent;
            self.give_up(&peer, SeekError::NoAnswer { cause });
        }
    }

    /// Gives up; the failure of the last attempt says more than `otherwise`. Where there is no
    /// record, a dial that has not failed yet may still come to something.
    pub(super) fn give_up(&mut self, peer: &PeerId, otherwise: SeekError) {
        let seek = self.seeks.get_mut(peer);
        if let Some(seek) = seek.filter(|seek| seek.dialled && seek.failure.is_none())
            && otherwise == SeekError::NoRecord
        {
            seek.looked_up = false;
            return;
        }
        let last = self.seeks.get(peer).and_then(|seek| seek.failure);
        self.end_seek(peer, last.unwrap_or(otherwise));
    }

    /// Ends a search in vain.
    pub(crate) fn end_seek(&mut self, peer: &PeerId, why: SeekError) {
        let Some(seek) = self.seeks.remove(peer) else {
            return;
        };
        self.shared.counters.count(Count::SeeksFailed);
        for caller in seek.callers {
            let _unheard = caller.send(Err(why));
        }
        for (_, reply) in seek.requests {
            self.shared.fail_request(reply, RequestError::NotConnected);
        }
    }
}

/// The meaning of a failed dial.
fn failure(error: &DialError) -> SeekError {
    match error {
        DialError::WrongPeerId { obtained, .. } => SeekError::OtherPeer { found: *obtained },
        DialError::LocalPeerId { .. } => SeekError::Myself,
        DialError::Transport(attempts) => SeekError::NoAnswer {
            cause: cause(attempts.iter().map(|(_, error)| error)),
        },
        _ => SeekError::NoAnswer {
            cause: DialCause::Other,
        },
    }
}

/// The most telling of several causes: somebody refused, then nobody answered. The transports wrap
/// theirs so deep that only the words are left.
fn cause<'a, E: std::fmt::Debug + 'a>(errors: impl Iterator<Item = &'a E>) -> DialCause {
    let words: Vec<String> = errors
        .map(|e| format!("{e:?}").to_ascii_lowercase())
        .collect();
    let any = |parts: &[&str]| words.iter().any(|w| parts.iter().any(|p| w.contains(p)));
    if any(&["refused"]) {
        DialCause::Refused
    } else if any(&["timedout", "timeout", "timed out"]) {
        DialCause::Silent
    } else if any(&["resolve"]) {
        DialCause::Unresolved
    } else {
        DialCause::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::config::{Limits, Quotas, TransportSeed};
    use crate::overlay::names::Names;
    use crate::overlay::peers::meter::Meters;
    use crate::overlay::shared::Shared;
    use libp2p::kad::store::MemoryStore;
    use std::sync::Arc;
    use tokio::sync::watch;

    /// Two rooms, and Kademlia that knows nobody; so many lookups may run.
    fn rooms(lookups: usize) -> (Dht, Peers, Kad) {
        let shared = Shared::of(Limits {
            lookups,
            ..Limits::default()
        });
        let (names, now) = (Names::new(&shared.network), Instant::now());
        let meters = Meters::new(&names, &Quotas::default(), 8);
        let (snapshot, _) = watch::channel(Arc::from([]));
        let peers = Peers::new(shared.clone(), &names, meters, snapshot, now);
        let kad = Kad::new(shared.local, MemoryStore::new(shared.local));
        (Dht::new(shared, &TransportSeed([7; 32]), now), peers, kad)
    }

    /// A peer of our kind, an address of it, and what a caller that seeks it hears.
    fn seek(rooms: &mut (Dht, Peers, Kad)) -> (PeerId, oneshot::Receiver<Sought>) {
        let peer = TransportSeed([9; 32]).peer_id();
        let at = "/ip4/198.51.100.1/tcp/7411".parse().unwrap();
        let (reply, heard) = oneshot::channel();
        let (dht, peers, kad) = rooms;
        dht.seek_for_caller(kad, peers, peer, vec![at], reply);
        let orders = dht.take_orders();
        assert!(matches!(orders[..], [Order::Dial { first: true, .. }]));
        (peer, heard)
    }

    #[test]
    fn a_dial_that_cannot_begin_ends_in_a_lookup_or_at_once() {
        let mut some = rooms(4);
        let (peer, mut heard) = seek(&mut some);
        some.0.on_dial_refused(&mut some.2, peer);
        assert_eq!((some.0.lookups(), some.0.is_sought(&peer)), (1, true));
        assert!(heard.try_recv().is_err(), "it is still sought");
        let mut none = rooms(0);
        let (peer, mut heard) = seek(&mut none);
        none.0.on_dial_refused(&mut none.2, peer);
        assert_eq!(heard.try_recv(), Ok(Err(SeekError::NoRecord)));
        assert!(!none.0.is_sought(&peer));
    }

    #[test]
    fn who_waits_for_a_peer_hears_when_it_is_admitted() {
        let mut all = rooms(4);
        let (peer, mut heard) = seek(&mut all);
        let (dht, peers, kad) = &mut all;
        let (reply, _answer) = oneshot::channel();
        dht.seek_for_request(kad, peers, peer, vec![1], reply);
        dht.on_admitted(kad, peers, peer);
        assert_eq!(heard.try_recv(), Ok(Ok(())));
        let orders = dht.take_orders();
        assert!(matches!(orders[..], [Order::Request { .. }]));
    }

    #[test]
    fn the_most_telling_cause_is_told() {
        let table: [(&[&str], DialCause); 5] = [
            (&["Kind(TimedOut)"], DialCause::Silent),
            (&["Timeout", "ConnectionRefused"], DialCause::Refused),
            (&["ResolveError(NotFound)"], DialCause::Unresolved),
            (&["MultiaddrNotSupported"], DialCause::Other),
            (&[], DialCause::Other),
        ];
        for (errors, told) in table {
            assert_eq!(cause(errors.iter()), told, "{errors:?}");
        }
    }
}
