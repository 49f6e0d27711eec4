//! Messages that others have not taken yet: one-way messages that they have not confirmed, and
//! answers that they have not read.
//!
//! A message counts until it is confirmed or has failed, which a silent peer can draw out to
//! [`crate::overlay::Tuning::request`]. So the bound is per peer: one that does not confirm is sent
//! nothing more, and no other notices. Bytes are also bounded over all peers that are not kept,
//! because anybody can connect; kept peers (validators) are few, and their messages never wait for
//! those of others.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use libp2p::PeerId;

use crate::overlay::config::Limits;

/// How much of a peer's room a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Three quarters: the rest is for messages that must not wait for these.
    Most,
}

impl Part {
    fn of(self, room: usize) -> usize {
        match self {
            Part::Whole => room,
            Part::Most => room - room / 4,
        }
    }
}

/// The messages that one peer has not confirmed.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    messages: usize,
    bytes: usize,
}

/// A message on its way.
#[derive(Debug)]
struct Sent {
    peer: PeerId,
    bytes: usize,
    kept: bool,
}

/// The messages on their way, by the id under which the network reports their end.
#[derive(Debug)]
pub(crate) struct InFlight<Id> {
    sent: HashMap<Id, Sent>,
    loads: BTreeMap<PeerId, Load>,
    /// Bytes on their way to peers that were not kept.
    others: usize,
}

impl<Id: Eq + Hash> InFlight<Id> {
    pub(crate) fn new() -> Self {
        Self {
            sent: HashMap::new(),
            loads: BTreeMap::new(),
            others: 0,
        }
    }

    /// Whether a message of so many bytes may be sent to a peer now. A peer that owes nothing may
    /// be sent a message of any size.
    pub(crate) fn has_room(
        &self,
        peer: &PeerId,
        bytes: usize,
        kept: bool,
        part: Part,
        limits: &Limits,
    ) -> bool {
        let load = self.loads.get(peer).copied().unwrap_or_default();
        let own = load.messages == 0
            || (load.messages < part.of(limits.direct_per_peer)
                && load.bytes.saturating_add(bytes) <= part.of(limits.direct_bytes_per_peer));
        own && (kept || self.others.saturating_add(bytes) <= limits.direct_bytes_not_kept)
    }

    /// Whether something is on its way to a peer.
    pub(crate) fn is_busy(&self, peer: &PeerId) -> bool {
        self.loads.get(peer).is_some_and(|load| load.messages > 0)
    }

    /// A message was handed to the network.
    pub(crate) fn begin(&mut self, id: Id, peer: PeerId, bytes: usize, kept: bool) {
        let load = self.loads.entry(peer).or_default();
        load.messages += 1;
        load.bytes += bytes;
        if !kept {
            self.others += bytes;
        }
        self.sent.insert(id, Sent { peer, bytes, kept });
    }

    /// Messages on their way.
    pub(crate) fn len(&self) -> usize {
        self.sent.len()
    }

    /// A message was confirmed or has failed. Returns whose it was.
    pub(crate) fn end(&mut self, id: &Id) -> Option<PeerId> {
        let Sent { peer, bytes, kept } = self.sent.remove(id)?;
        if !kept {
            self.others -= bytes;
        }
        if let Some(load) = self.loads.get_mut(&peer) {
            load.messages -= 1;
            load.bytes -= bytes;
            if load.messages == 0 {
                self.loads.remove(&peer);
            }
        }
        Some(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages until there is no room; returns how many.
    fn fill(flight: &mut InFlight<usize>, peer: PeerId, bytes: usize, kept: bool) -> usize {
        let limits = Limits::default();
        let mut count = 0;
        while flight.has_room(&peer, bytes, kept, Part::Whole, &limits) {
            flight.begin(flight.sent.len(), peer, bytes, kept);
            count += 1;
        }
        count
    }

    #[test]
    fn silent_peers_of_any_number_do_not_mute_a_kept_one() {
        let limits = Limits::default();
        let mut flight = InFlight::new();
        for _ in 0..100 {
            let sent = fill(&mut flight, PeerId::random(), 100, true);
            assert_eq!(sent, limits.direct_per_peer);
            fill(&mut flight, PeerId::random(), 1 << 20, false);
        }
        assert!(flight.others <= limits.direct_bytes_not_kept);
        assert!(!flight.has_room(&PeerId::random(), 1 << 20, false, Part::Whole, &limits));
        let validator = PeerId::random();
        let sent = fill(&mut flight, validator, 1 << 20, true);
        assert_eq!(sent, limits.direct_bytes_per_peer >> 20);
    }

    #[test]
    fn what_may_have_most_of_the_room_leaves_the_rest_to_what_must_not_wait() {
        let limits = Limits::default();
        for bytes in [100, 1 << 20] {
            let (mut flight, peer) = (InFlight::new(), PeerId::random());
            while flight.has_room(&peer, bytes, true, Part::Most, &limits) {
                flight.begin(flight.sent.len(), peer, bytes, true);
            }
            let entries = flight.len();
            let all = fill(&mut flight, peer, bytes, true) + entries;
            assert_eq!(all - entries, all / 4, "of {all}");
        }
    }

    #[test]
    fn what_ended_makes_room_and_nothing_is_left_behind() {
        let limits = Limits::default();
        let mut flight = InFlight::new();
        let peers = [PeerId::random(), PeerId::random()];
        let large = limits.direct_bytes_per_peer + 1;
        assert_eq!(
            fill(&mut flight, peers[0], large, true),
            1,
            "larger than the bound, but alone"
        );
        fill(&mut flight, peers[1], 1000, false);
        let last = flight.sent.len();
        flight.end(&(last - 1));
        assert!(flight.has_room(&peers[1], 1000, false, Part::Whole, &limits));
        for id in 0..=last {
            flight.end(&id);
        }
        assert!(flight.sent.is_empty() && flight.loads.is_empty());
        assert_eq!(flight.others, 0);
    }
}
