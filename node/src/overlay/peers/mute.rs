//! Streams that have named no protocol yet: *mute* ones.
//!
//! The swarm takes a limited number of them from a connection; those beyond wait in the
//! multiplexer, unread, each with a window full of bytes. So one peer has at most [`MUTE`] over all
//! its connections, less than the swarm takes, and the newest is cut off: then all that come are
//! taken and read at once, and one holds no more than a line of negotiation, at most 16 KiB.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libp2p::PeerId;

/// Mute streams of one peer: somewhat less than the 128 that the swarm takes, as many as validators
/// have under load. Honest streams name their protocol in the first packet, so only lost packets
/// and a busy node keep them waiting.
const MUTE: usize = 112;

/// How many each peer has.
#[derive(Clone, Debug, Default)]
pub(crate) struct MuteStreams(Arc<Mutex<BTreeMap<PeerId, usize>>>);

/// The place of one; dropping gives it back.
#[derive(Debug)]
pub(crate) struct Place {
    peer: PeerId,
    open: MuteStreams,
}

impl MuteStreams {
    fn open(&self) -> MutexGuard<'_, BTreeMap<PeerId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more of a peer, if it may have it.
    pub(crate) fn place(&self, peer: PeerId) -> Option<Place> {
        let mut all = self.open();
        let open = all.entry(peer).or_default();
        if *open >= MUTE {
            return None;
        }
        *open += 1;
        let open = self.clone();
        Some(Place { peer, open })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.open.open();
        if let Some(open) = all.get_mut(&self.peer) {
            *open -= 1;
            if *open == 0 {
                all.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_has_its_own_and_places_come_back() {
        let streams = MuteStreams::default();
        let (a, b) = (PeerId::random(), PeerId::random());
        let mut places: Vec<Place> = (0..200).map_while(|_| streams.place(a)).collect();
        assert_eq!(places.len(), MUTE);
        assert!(streams.place(b).is_some());
        places.pop();
        assert!(streams.place(a).is_some());
        drop(places);
        assert!(streams.open().is_empty());
    }
}
