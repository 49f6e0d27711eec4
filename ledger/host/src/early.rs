//! Messages for a height that has not started here yet.
//!
//! Validators start a height at slightly different moments, so messages for the next height, and for
//! the one after it, wait here, bounded per peer and in all. What does not fit is dropped; repetition
//! and catch-up make up for it. Of bodies only as many wait as [`BODIES_WAITING`].

use crate::catchup::Peer;
use crate::limits;
use crate::message::HostMessage;
use std::collections::BTreeMap;

/// Bodies that wait together with their proposals.
const BODIES_WAITING: usize = 4;

/// The waiting messages.
#[derive(Debug, Default)]
pub(crate) struct Early {
    by_height: BTreeMap<u64, Vec<(Peer, HostMessage)>>,
    per_peer: BTreeMap<Peer, usize>,
    bodies: usize,
}

impl Early {
    /// Keeps a message for `height`, if there is room.
    pub(crate) fn keep(&mut self, height: u64, from: Peer, mut message: HostMessage) {
        let share = self.per_peer.entry(from).or_default();
        if *share >= limits::EARLY_PER_PEER {
            return;
        }
        *share += 1;
        let total: usize = self.per_peer.values().sum();
        if total > limits::EARLY_MESSAGES {
            self.forget(from);
            return;
        }
        if let HostMessage::Proposal(offered) = &mut message
            && offered.body.is_some()
        {
            if self.bodies >= BODIES_WAITING {
                offered.body = None;
            } else {
                self.bodies += 1;
            }
        }
        let waiting = self.by_height.entry(height).or_default();
        waiting.push((from, message));
    }
    /// Messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.per_peer.values().sum()
    }
    fn forget(&mut self, from: Peer) {
        if let Some(share) = self.per_peer.get_mut(&from) {
            *share -= 1;
            if *share == 0 {
                self.per_peer.remove(&from);
            }
        }
    }
    /// Takes the messages for `height` out; those for lower heights are dropped.
    pub(crate) fn take(&mut self, height: u64) -> Vec<(Peer, HostMessage)> {
        let later = self.by_height.split_off(&height.saturating_add(1));
        let mut past = std::mem::replace(&mut self.by_height, later);
        let taken = past.remove(&height).unwrap_or_default();
        for (from, message) in past.into_values().flatten().chain(taken.iter().cloned()) {
            self.forget(from);
            if matches!(&message, HostMessage::Proposal(o) if o.body.is_some()) {
                self.bodies -= 1;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Status;

    #[test]
    fn a_flood_of_one_peer_leaves_room_for_others() {
        let mut early = Early::default();
        let message = |tip| HostMessage::Status(Status { tip });
        for i in 0..1_000 {
            early.keep(7, [1; 32], message(i));
        }
        early.keep(8, [2; 32], message(1));
        assert_eq!(early.take(7).len(), limits::EARLY_PER_PEER);
        early.keep(9, [1; 32], message(1));
        assert_eq!(early.take(9), [([1; 32], message(1))]);
        assert!(early.per_peer.is_empty() && early.by_height.is_empty());
    }
}
