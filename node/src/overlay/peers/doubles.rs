//! Two connections to one peer, where one suffices.
//!
//! 1. Two nodes that dial each other at once end up with two connections, over QUIC and TCP or of one kind. Each costs both ends signs
//!    of life, and neither ends by itself. In a network that starts all at once, two thirds of the peers have two.
//! 2. Once all direct connections to a peer are older than [`OVERLAP`](crate::overlay::reach::traverse::OVERLAP), the end with the lower id closes all but one. One end
//!    decides, so that never both are closed. QUIC stays rather than TCP, and the older rather than the newer.
//! 3. Not while anything is under way with the peer, and not where a place at a relay hangs on one of them.

use std::time::Instant;

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;

use super::peer::Peer;
use crate::overlay::reach::addresses::{is_circuit, is_quic};
use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// Step 2: all but the best of a peer's direct connections, given as whether they are QUIC.
fn spare(direct: impl Iterator<Item = (ConnectionId, bool)>) -> Vec<ConnectionId> {
    let mut direct: Vec<_> = direct.map(|(id, quic)| (!quic, id)).collect();
    direct.sort_unstable();
    direct.into_iter().skip(1).map(|(_, id)| id).collect()
}

impl Task {
    /// Closes what is spare.
    pub(crate) fn end_doubles(&mut self, now: Instant) {
        let ours = |(id, peer): &(&PeerId, &Peer)| {
            peer.connections.len() > 1 && self.shared.local < **id && !self.is_in_use(id, peer)
        };
        let spare: Vec<ConnectionId> = self
            .peers
            .iter()
            .filter(ours)
            .flat_map(|(_, peer)| self.spare_of(peer, now))
            .collect();
        for connection in spare {
            self.shared.counters.count(Count::DoublesClosed);
            self.swarm.close_connection(connection);
        }
    }

    fn spare_of(&self, peer: &Peer, now: Instant) -> Vec<ConnectionId> {
        let direct = || peer.connections.iter().filter(|(_, a)| !is_circuit(a));
        if !direct().all(|(id, _)| self.moves.is_old(id, now)) {
            return Vec::new();
        }
        spare(direct().map(|(id, address)| (*id, is_quic(address))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_over_quic_stays() {
        let id = ConnectionId::new_unchecked;
        let spare = |all: &[(usize, bool)]| spare(all.iter().map(|(n, quic)| (id(*n), *quic)));
        assert!(spare(&[]).is_empty() && spare(&[(3, false)]).is_empty());
        assert_eq!(spare(&[(1, false), (2, true)]), [id(1)]);
        assert_eq!(spare(&[(1, false), (2, true), (4, true)]), [id(4), id(1)]);
        assert_eq!(spare(&[(7, false), (5, false)]), [id(7)]);
    }
}
