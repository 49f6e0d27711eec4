//! Reaching a peer that is not connected, because somebody waits for it.
//!
//! 1. With addresses known it is dialled; without, when that fails, or when it has not come to anything after [`IMPATIENCE`], its
//!    record is looked up in the DHT and it is dialled where that says: direct addresses first, circuits a little later. While it is
//!    not reached it is looked up again after pauses that double: a peer that has just moved says so in time.
//! 2. When it is admitted, requests that waited go out. When it cannot be reached, or has not been within [`PATIENCE`], they fail
//!    as not connected.
//! 3. Whoever asked for the peer alone is told what the last attempt failed for ([`SeekError`]).
//! 4. [`crate::overlay::Limits::seeks`] peers are sought at a time and [`crate::overlay::Limits::requests_per_seek`] requests wait for each.

use std::time::{Duration, Instant};

use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use crate::overlay::command::{Reply, Sought};
use crate::overlay::error::{DialCause, OverlayError, RequestError, SeekError};
use crate::overlay::peers::marks::Mark;
use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// How long a peer is sought: a lookup and a punch.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a dial may take before the record is looked up beside it: where a peer is no longer, nobody answers for seconds.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// Dials beyond the first, once the record is known.
const REDIALS: u8 = 2;

/// A peer that is sought.
#[derive(Debug)]
pub(crate) struct Seek {
    since: Instant,
    /// Whether a dial was begun at once.
    dialled: bool,
    looked_up: bool,
    /// When the record is looked up next, whatever else is under way, and the pause after that.
    again: Instant,
    pause: Duration,
    redials: u8,
    requests: Vec<(Vec<u8>, Reply)>,
    callers: Vec<oneshot::Sender<Sought>>,
    /// Why the last attempt failed.
    failure: Option<SeekError>,
}

impl Task {
    /// Begins to seek a peer, unless it is connected or sought already. Returns whether it is or was.
    pub(crate) fn seek(&mut self, peer: PeerId) -> bool {
        self.seek_at(peer, Vec::new())
    }

    /// The same, with addresses that somebody gave.
    fn seek_at(&mut self, peer: PeerId, mut given: Vec<Multiaddr>) -> bool {
        if self.seeks.contains_key(&peer) {
            return true;
        }
        if peer == self.shared.local
            || self.is_peer(&peer)
            || self.is_marked(&peer, Mark::Blocked)
            || self.seeks.len() >= self.shared.limits.seeks
        {
            return false;
        }
        self.shared.counters.count(Count::Seeks);
        let now = Instant::now();
        let seek = Seek {
            since: now,
            dialled: false,
            looked_up: false,
            again: now + IMPATIENCE,
            pause: 2 * IMPATIENCE,
            redials: 0,
            requests: Vec::new(),
            callers: Vec::new(),
            failure: None,
        };
        self.seeks.insert(peer, seek);
        given.extend(self.dialer.addresses(&peer));
        // Also beside a dial that is under way: that one may be to where the peer cannot be reached any more.
        let dialled = !given.is_empty() && self.dial_if(PeerCondition::Disconnected, peer, given);
        if let Some(seek) = self.seeks.get_mut(&peer).filter(|_| dialled) {
            seek.dialled = true;
        } else {
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
    pub(crate) fn seek_for_caller(
        &mut self,
        peer: PeerId,
        given: Vec<Multiaddr>,
        reply: oneshot::Sender<Sought>,
    ) {
        let now = Instant::now();
        let banned = self.standing.banned_until(&peer);
        let known = if self.is_peer(&peer) {
            Some(Ok(()))
        } else if peer == self.shared.local {
            Some(Err(SeekError::Myself))
        } else if self.is_marked(&peer, Mark::Blocked) {
            Some(Err(SeekError::Blocked))
        } else if let Some(left) = banned.and_then(|until| until.checked_duration_since(now)) {
            Some(Err(SeekError::Banned { left }))
        } else if !self.seek_at(peer, given) {
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
    pub(crate) fn on_whereabouts(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        self.dialer.learn(peer, addresses.clone(), Instant::now());
        if self.is_peer(&peer) {
            self.dialer.connected(&peer);
        } else if !addresses.is_empty() {
            self.dial_if(PeerCondition::Disconnected, peer, addresses);
        }
    }

    /// A dial to a peer failed: step 1 goes on, or ends.
    pub(crate) fn on_dial_failed(&mut self, peer: PeerId, error: &DialError) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        seek.failure = Some(failure(error));
        if !seek.looked_up {
            self.look_further(peer);
        } else if seek.redials < REDIALS {
            // The record may have come while an earlier dial was under way.
            seek.redials += 1;
            let known = self.dialer.addresses(&peer);
            self.dial(peer, known);
        }
    }

    /// A peer closed its last connection before it was admitted. Another attempt would end alike, unless there is another way
    /// to try.
    pub(crate) fn on_hung_up(&mut self, peer: PeerId) {
        let Some(seek) = self.seeks.get_mut(&peer) else {
            return;
        };
        seek.failure = Some(SeekError::HungUp);
        if seek.looked_up {
            self.end_seek(&peer, SeekError::HungUp);
        } else {
            self.look_further(peer);
        }
    }

    fn look_further(&mut self, peer: PeerId) {
        if self.look_up_record(peer) {
            if let Some(seek) = self.seeks.get_mut(&peer) {
                seek.looked_up = true;
            }
        } else {
            self.give_up(&peer, OverlayError::Busy.into());
        }
    }

    /// A peer was admitted.
    pub(crate) fn found(&mut self, peer: PeerId) {
        let Some(seek) = self.seeks.remove(&peer) else {
            return;
        };
        for caller in seek.callers {
            let _unheard = caller.send(Ok(()));
        }
        for (bytes, reply) in seek.requests {
            self.request(peer, bytes, reply);
        }
    }

    /// Ends seeks that took too long, and looks further for those that take long.
    pub(crate) fn end_seeks(&mut self, now: Instant) {
        let mut slow = Vec::new();
        for (peer, seek) in &mut self.seeks {
            if now >= seek.again {
                (seek.again, seek.pause) = (now + seek.pause, seek.pause * 2);
                slow.push(*peer);
            }
        }
        for peer in slow {
            if !self.peers.is_empty()
                && self.look_up_record(peer)
                && let Some(seek) = self.seeks.get_mut(&peer)
            {
                seek.looked_up = true;
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

    /// Gives up; what the last attempt failed for says more than `otherwise`. Where there is no record, a dial that has not
    /// failed yet may still come to something.
    pub(crate) fn give_up(&mut self, peer: &PeerId, otherwise: SeekError) {
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
            self.fail_request(reply, RequestError::NotConnected);
        }
    }

    pub(crate) fn fail_request(&mut self, reply: Reply, error: RequestError) {
        self.shared.counters.count(Count::RequestsFailed);
        // The caller may have given up already.
        let _unheard = reply.send(Err(error));
    }
}

/// What a failed dial says.
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

/// The most telling of several causes: somebody refused, then nobody answered. The transports wrap theirs so deep that only
/// the words are left.
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
