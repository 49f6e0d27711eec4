//! Reaching a peer that is not connected, because somebody waits for it.
//!
//! 1. With addresses known it is dialled; without, or when that fails, its record is looked up in the DHT once and it is dialled
//!    where that says: direct addresses first, circuits a little later.
//! 2. When it is admitted, requests that waited go out. When it cannot be reached, or has not been within [`PATIENCE`], they fail
//!    as not connected.
//! 3. [`super::Limits::seeks`] peers are sought at a time and [`super::Limits::requests_per_seek`] requests wait for each.

use std::time::{Duration, Instant};

use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use super::command::Reply;
use super::error::RequestError;
use super::stats::Count;
use super::task::Task;

/// How long a peer is sought: a lookup and a punch.
const PATIENCE: Duration = Duration::from_secs(20);

/// Dials beyond the first, once the record is known.
const REDIALS: u8 = 2;

/// A peer that is sought.
#[derive(Debug)]
pub(crate) struct Seek {
    since: Instant,
    looked_up: bool,
    redials: u8,
    requests: Vec<(Vec<u8>, Reply)>,
    callers: Vec<oneshot::Sender<bool>>,
}

impl Task {
    /// Begins to seek a peer, unless it is connected or sought already. Returns whether it is or was.
    pub(crate) fn seek(&mut self, peer: PeerId) -> bool {
        if self.seeks.contains_key(&peer) {
            return true;
        }
        if peer == self.shared.local
            || self.is_peer(&peer)
            || self.seeks.len() >= self.shared.limits.seeks
        {
            return false;
        }
        self.shared.counters.count(Count::Seeks);
        let seek = Seek {
            since: Instant::now(),
            looked_up: false,
            redials: 0,
            requests: Vec::new(),
            callers: Vec::new(),
        };
        self.seeks.insert(peer, seek);
        let known = self.dialer.addresses(&peer);
        // Also beside a dial that is under way: that one may be to where the peer cannot be reached any more.
        if known.is_empty() || !self.dial_if(PeerCondition::Disconnected, peer, known) {
            self.look_further(peer);
        }
        true
    }

    /// A request for a peer that is not connected.
    pub(crate) fn seek_for_request(&mut self, peer: PeerId, bytes: Vec<u8>, reply: Reply) {
        let most = self.shared.limits.requests_per_seek;
        self.seek(peer);
        match self
            .seeks
            .get_mut(&peer)
            .filter(|s| s.requests.len() < most)
        {
            Some(seek) => seek.requests.push((bytes, reply)),
            None => self.fail_request(reply, RequestError::NotConnected),
        }
    }

    /// Somebody wants to know whether a peer can be reached.
    pub(crate) fn seek_for_caller(&mut self, peer: PeerId, reply: oneshot::Sender<bool>) {
        if self.is_peer(&peer) {
            let _unheard = reply.send(true);
        } else if self.seek(peer)
            && let Some(seek) = self.seeks.get_mut(&peer)
        {
            seek.callers.push(reply);
        }
    }

    /// A record told where a sought peer is.
    pub(crate) fn on_whereabouts(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        self.dialer.learn(peer, addresses.clone(), Instant::now());
        if self.is_peer(&peer) {
            self.dialer.connected(&peer);
        } else if !addresses.is_empty() {
            self.dial_if(PeerCondition::Disconnected, peer, addresses);
        }
    }

    /// The lookup for a peer's record has ended.
    pub(crate) fn on_record_ended(&mut self, peer: PeerId, known: bool) {
        if !known {
            self.give_up(&peer);
        }
    }

    /// A dial to a peer failed: step 1 goes on, or ends.
    pub(crate) fn on_dial_failed(&mut self, peer: PeerId) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        if !seek.looked_up {
            self.look_further(peer);
        } else if seek.redials < REDIALS {
            // The record may have come while an earlier dial was under way.
            seek.redials += 1;
            let known = self.dialer.addresses(&peer);
            self.dial(peer, known);
        }
    }

    fn look_further(&mut self, peer: PeerId) {
        if self.look_up_record(peer) {
            if let Some(seek) = self.seeks.get_mut(&peer) {
                seek.looked_up = true;
            }
        } else {
            self.give_up(&peer);
        }
    }

    /// A peer was admitted.
    pub(crate) fn found(&mut self, peer: PeerId) {
        let Some(seek) = self.seeks.remove(&peer) else {
            return;
        };
        for caller in seek.callers {
            let _unheard = caller.send(true);
        }
        for (bytes, reply) in seek.requests {
            self.request(peer, bytes, reply);
        }
    }

    /// Ends seeks that took too long.
    pub(crate) fn end_seeks(&mut self, now: Instant) {
        let overdue = |(id, seek): (&PeerId, &Seek)| {
            (now.duration_since(seek.since) >= PATIENCE).then_some(*id)
        };
        for peer in self.seeks.iter().filter_map(overdue).collect::<Vec<_>>() {
            self.give_up(&peer);
        }
    }

    /// A peer cannot be reached, or is of no use.
    pub(crate) fn give_up(&mut self, peer: &PeerId) {
        let Some(seek) = self.seeks.remove(peer) else {
            return;
        };
        self.shared.counters.count(Count::SeeksFailed);
        for caller in seek.callers {
            let _unheard = caller.send(false);
        }
        for (_, reply) in seek.requests {
            self.fail_request(reply, RequestError::NotConnected);
        }
    }

    pub(crate) fn fail_request(&mut self, reply: Reply, error: RequestError) {
        self.shared.counters.count(Count::RequestsFailed);
        // The caller may have given up already.
        let _unheard = reply.send(Err(error));
    }
}
