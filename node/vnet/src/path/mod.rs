//! How one member of a lease reaches another: a state machine for each pair.
//!
//! The caller tells it the time, what was heard and what was sent; it returns probes to send, and
//! at any moment the way that datagrams take.
//!
//! 1. Up to [`WAYS`] candidates. Each new one is probed at once, up to 20 times, 100 ms apart;
//!    after that with pauses that grow to a minute.
//! 2. Traffic begins on the first way that answers one of our probes. Only an answer counts, not a
//!    datagram that came from somewhere: what others record and send again moves nothing.
//! 3. It moves to a better way that answers: local before direct before relay before stream; among
//!    alike ones to one whose round trip is shorter by a third and 1 ms.
//! 4. A way on which nothing came back for [`SUSPECT`] after something was sent is probed twice a
//!    second, and the others anew. After [`SILENT`] it is given up, and the best of the others
//!    taken.
//! 5. A way that answers is probed each 20 s, in use or not; that keeps NATs open.
//! 6. An authentic datagram from a source that is no candidate makes it one, and it is probed: the
//!    other member has moved, or its NAT gave it a new port. One a second at the most. A probe on a
//!    candidate that waits between bursts has that probed at once, as seldom: the other end has
//!    just found a way to it.
//! 7. A way in use on which the other member's datagrams came, and then none for [`SUSPECT`], is
//!    probed once. Whoever is behind a NAT that gave it a new address, or behind a relay that knows
//!    the old one, is not heard until it sends; and it may have nothing to send.
//! 8. On the way in use packets of 1280, 1420 and 8900 bytes are tried by probes as long as the
//!    sealed packet would be; the largest that is answered is what the way takes.
//! 9. Each end chooses for itself; the two directions may take different ways.

mod candidate;
mod message;

use std::net::SocketAddr;
use std::time::Duration;

use candidate::Way;
pub use candidate::{Candidate, Kind, Ticket, Time, Via};
use message::Message;
pub(crate) use message::{PONG, PROBE, SEEN, cut, seen_address, seen_bytes};
pub use message::{PathKeys, tag_of};

/// Candidates of a pair at the most.
pub const WAYS: usize = 8;
/// Rule 4.
pub const SUSPECT: Duration = Duration::from_secs(2);
/// Rule 4.
pub const SILENT: Duration = Duration::from_secs(6);
/// Between probes of a way that is in doubt.
const DOUBT: Duration = Duration::from_millis(500);
/// Between candidates that were only heard.
const LEARN: Duration = Duration::from_secs(1);
/// Bytes that sealing adds to an inner packet.
pub(crate) const SEAL: usize = 32;
/// Answers in one second at the most.
const ANSWERS: u32 = 200;

/// Whether a datagram that begins so is a probe or the answer to one.
pub fn is_probe(first: u8) -> bool {
    [PROBE, PONG].contains(&first)
}

/// What one end counted of a way through a relay: bytes of sealed packets, without tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByRelay {
    /// This end's ticket.
    pub ticket: Ticket,
    /// Sent by this end.
    pub sent: u64,
    /// Received by it, authentic ones.
    pub received: u64,
    /// Whether the other member answers probes on it, be it in use or not.
    pub answers: bool,
}

/// A probe or an answer to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Where.
    pub via: Via,
    /// What.
    pub bytes: Vec<u8>,
}

/// The ways between this node and one other member.
pub struct Path {
    keys: PathKeys,
    ways: Vec<Way>,
    active: Option<usize>,
    /// When there first was a way.
    reached: Option<Time>,
    counter: u64,
    learned: Option<Time>,
    /// When a way was last probed because of a probe on it.
    poked: Option<Time>,
    /// When something was first sent on the active way after it was last heard.
    unanswered: Option<Time>,
    answers: (u64, u32),
    /// When a datagram last came on the way in use, as long as nothing was done about it.
    traffic: Option<Time>,
    seen: Option<SocketAddr>,
    outputs: Vec<Output>,
}

impl Path {
    /// A pair whose candidates are not known yet; `seed` must be new for each.
    pub fn new(keys: PathKeys, seed: u64) -> Path {
        Path {
            keys,
            ways: Vec::new(),
            active: None,
            reached: None,
            counter: seed,
            learned: None,
            poked: None,
            unanswered: None,
            answers: (0, 0),
            traffic: None,
            seen: None,
            outputs: Vec::new(),
        }
    }

    /// Takes the announced candidates, the first [`WAYS`] of them: known ones go on as they are,
    /// those that are not announced any more are forgotten.
    pub fn announce(&mut self, candidates: &[Candidate], now: Time) {
        let active = self.active();
        let wanted = &candidates[..candidates.len().min(WAYS)];
        let learned = |way: &Way| !way.announced && way.answers;
        let mut gone = Vec::new();
        self.ways.retain(|way| {
            let stays = wanted.contains(&way.candidate) || learned(way);
            if let Some(ticket) = way.candidate.via.ticket.filter(|_| !stays) {
                gone.push((ticket, way.carried));
            }
            stays
        });
        for candidate in wanted {
            match self.ways.iter_mut().find(|way| way.candidate == *candidate) {
                Some(way) => way.announced = true,
                None => self.ways.push(Way::new(*candidate, true, now)),
            }
        }
        self.ways.sort_by_key(|way| !way.announced);
        self.ways.truncate(WAYS);
        for (ticket, [sent, received]) in gone {
            self.carried(&ticket, sent, received);
            // The relay may still send to where this end no longer is.
            let same = |way: &&mut Way| way.candidate.via.ticket == Some(ticket);
            self.ways
                .iter_mut()
                .filter(same)
                .for_each(|way| way.poke(now));
        }
        self.active = active.and_then(|old| self.position(old.via));
        self.choose(now);
    }

    /// This node's own addresses have changed, or the other one asks for it: all ways are probed
    /// anew.
    pub fn hurry(&mut self, now: Time) {
        for way in &mut self.ways {
            way.hurry(now);
        }
    }

    /// The way in use.
    pub fn active(&self) -> Option<Candidate> {
        self.active.map(|at| self.ways[at].candidate)
    }

    /// Round trip on the way in use.
    pub fn round_trip(&self) -> Option<Duration> {
        self.active.and_then(|at| self.ways[at].round_trip)
    }

    /// All ways that are tried.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.ways.iter().map(|way| way.candidate)
    }

    /// When there first was a way.
    pub fn reached(&self) -> Option<Time> {
        self.reached
    }

    /// Probes of the way in use that were sent since it answers, and the answers to them.
    pub fn probes(&self) -> (u32, u32) {
        self.active.map_or((0, 0), |at| self.ways[at].probes)
    }

    /// Bytes of an inner packet that the way in use is known to take; none before it was tried.
    pub fn mtu(&self) -> Option<u16> {
        self.active.and_then(|at| self.ways[at].mtu)
    }

    /// Bytes of an inner packet that the way in use takes at the most, once that is known.
    pub fn bound(&self) -> Option<u16> {
        self.active.and_then(|at| self.ways[at].bound())
    }

    /// The address that the other member last saw us at.
    pub fn seen(&self) -> Option<SocketAddr> {
        self.seen
    }

    /// Sealed packets of so many bytes were sent on, or came by, the way with this ticket.
    pub fn carried(&mut self, ticket: &Ticket, sent: u64, received: u64) {
        let by = |way: &&mut Way| way.candidate.via.ticket.as_ref() == Some(ticket);
        if let Some(way) = self.ways.iter_mut().find(by) {
            way.carried[0] += sent;
            way.carried[1] += received;
        }
    }

    /// What went by each relay since it was announced, whichever way leads to it.
    pub fn by_relays(&self, now: Time) -> Vec<ByRelay> {
        let mut all: Vec<ByRelay> = Vec::new();
        for way in &self.ways {
            let [sent, received] = way.carried;
            let Some(ticket) = way.candidate.via.ticket else {
                continue;
            };
            match all.iter_mut().find(|by| by.ticket == ticket) {
                Some(by) => {
                    by.sent += sent;
                    by.received += received;
                    by.answers |= way.is_fresh(now);
                }
                None => all.push(ByRelay {
                    ticket,
                    sent,
                    received,
                    answers: way.is_fresh(now),
                }),
            }
        }
        all
    }

    /// Something is sent on the way in use: where to?
    pub fn sending(&mut self, now: Time) -> Option<Via> {
        let way = &self.ways[self.active?];
        self.unanswered.get_or_insert(now);
        Some(way.candidate.via)
    }

    /// The way that datagrams from this source came by.
    pub fn via(&self, source: SocketAddr) -> Via {
        let known = self.ways.iter().map(|way| way.candidate.via);
        let found = known.into_iter().find(|via| via.at == source);
        found.unwrap_or(Via {
            at: source,
            ticket: None,
        })
    }

    /// An authentic datagram of the other member came from this source, which was not sent before.
    pub fn heard(&mut self, source: SocketAddr, now: Time) {
        self.traffic = Some(now);
        match self
            .ways
            .iter_mut()
            .position(|way| way.candidate.via.at == source)
        {
            Some(at) => {
                self.ways[at].heard = Some(now);
                if self.active == Some(at) {
                    self.unanswered = None;
                }
            }
            None => self.learn(source, now),
        }
    }

    /// A probe or answer came from this source; whether it was authentic.
    pub fn message(&mut self, bytes: &[u8], source: SocketAddr, now: Time) -> bool {
        match self.keys.open(bytes) {
            Some(Message::Probe { number }) => {
                self.answer(number, source, now);
                // A recorded one may be sent again by anybody: it keeps no way in use.
                if self.ways.iter().all(|way| way.candidate.via.at != source) {
                    self.learn(source, now);
                }
                self.try_back(source, now);
            }
            Some(Message::Pong { number, seen }) => {
                let found = self
                    .ways
                    .iter_mut()
                    .position(|way| way.answered(number, now));
                if let Some(at) = found {
                    let way = &self.ways[at].candidate;
                    let own = way.via.ticket.is_none() && way.kind != Kind::Stream;
                    self.seen = own.then_some(seen);
                    if self.active == Some(at) {
                        self.unanswered = None;
                    }
                    self.choose(now);
                }
            }
            None => return false,
        }
        true
    }

    /// Time passes: probes that are due, and a silent way is given up.
    pub fn tick(&mut self, now: Time) {
        self.judge(now);
        self.look_after(now);
        for at in 0..self.ways.len() {
            let number = self.keys.number(self.counter);
            let way = &mut self.ways[at];
            if way.due(now, number) {
                self.counter = self.counter.wrapping_add(1);
                let via = way.candidate.via;
                if self.active == Some(at) {
                    self.unanswered.get_or_insert(now);
                }
                let bytes = self.keys.probe(number, 0);
                self.outputs.push(Output { via, bytes });
            }
        }
        self.try_sizes(now);
    }

    /// Rule 8.
    fn try_sizes(&mut self, now: Time) {
        let Some(at) = self.active else {
            return;
        };
        let number = self.keys.number(self.counter);
        if let Some(size) = self.ways[at].try_size(now, number) {
            self.counter = self.counter.wrapping_add(1);
            let via = self.ways[at].candidate.via;
            let bytes = self.keys.probe(number, usize::from(size) + SEAL);
            self.outputs.push(Output { via, bytes });
        }
    }

    /// What is to be sent since the last call.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// Rule 4.
    fn judge(&mut self, now: Time) {
        let (Some(at), Some(since)) = (self.active, self.unanswered) else {
            return;
        };
        let silent = now.saturating_sub(since);
        if silent >= SILENT {
            self.ways[at].give_up(now);
            self.active = None;
            self.unanswered = None;
            self.choose(now);
        } else if silent >= SUSPECT {
            let doubted = &mut self.ways[at];
            doubted.next = doubted.next.min(now + DOUBT);
            for (other, way) in self.ways.iter_mut().enumerate() {
                let stale = way.heard.is_none_or(|heard| heard < since);
                let waits = way.next > now + DOUBT;
                if other != at && way.answers && stale && waits {
                    way.next = now;
                }
            }
        }
    }

    /// Rule 7.
    fn look_after(&mut self, now: Time) {
        if self.traffic.is_some_and(|last| last + SUSPECT <= now) {
            self.traffic = None;
            if let Some(at) = self.active {
                self.ways[at].next = now;
            }
        }
    }

    /// Rules 2 and 3.
    fn choose(&mut self, now: Time) {
        let key = |way: &Way| (way.candidate.kind.rank(), way.round_trip);
        let ways = self.ways.iter().enumerate();
        let usable = ways.filter(|(_, way)| way.is_fresh(now));
        let Some((best, way)) = usable.min_by_key(|(_, way)| key(way)) else {
            return;
        };
        let moves = match self.active.map(|at| &self.ways[at]) {
            None => true,
            Some(old) if way.candidate.kind.rank() != old.candidate.kind.rank() => {
                way.candidate.kind.rank() < old.candidate.kind.rank()
            }
            Some(old) => match (way.round_trip, old.round_trip) {
                (Some(new), Some(old)) => new * 3 / 2 + Duration::from_millis(1) < old,
                _ => false,
            },
        };
        if moves && self.active != Some(best) {
            self.active = Some(best);
            self.reached.get_or_insert(now);
            self.unanswered = None;
        }
    }

    /// Rule 6.
    fn learn(&mut self, source: SocketAddr, now: Time) {
        if self.learned.is_some_and(|last| now < last + LEARN) {
            return;
        }
        self.learned = Some(now);
        if self.ways.len() == WAYS {
            let spare = |(at, way): &(usize, &Way)| !way.answers && self.active != Some(*at);
            let Some((at, _)) = self.ways.iter().enumerate().rfind(spare) else {
                return;
            };
            self.ways.remove(at);
            self.active = self.active.map(|active| active - usize::from(active > at));
        }
        let candidate = Candidate::at(Kind::Punched, source);
        self.ways.push(Way::new(candidate, false, now));
    }

    /// Rule 6, of a known source.
    fn try_back(&mut self, source: SocketAddr, now: Time) {
        if self.poked.is_some_and(|last| now < last + LEARN) {
            return;
        }
        let waits = |way: &&mut Way| {
            way.candidate.via.at == source && !way.answers && way.next > now + DOUBT
        };
        if let Some(way) = self.ways.iter_mut().find(waits) {
            way.poke(now);
            self.poked = Some(now);
        }
    }

    fn answer(&mut self, number: u64, source: SocketAddr, now: Time) {
        if self.answers.0 != now.as_secs() {
            self.answers = (now.as_secs(), 0);
        }
        if self.answers.1 < ANSWERS {
            self.answers.1 += 1;
            let (via, bytes) = (self.via(source), self.keys.pong(number, source));
            self.outputs.push(Output { via, bytes });
        }
    }

    fn position(&self, via: Via) -> Option<usize> {
        self.ways.iter().position(|way| way.candidate.via == via)
    }
}

#[cfg(test)]
mod tests;
