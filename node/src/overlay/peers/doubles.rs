//! Two connections to one peer, where one suffices.
//!
//! 1. Two nodes that dial each other at once end up with two connections, over QUIC and TCP or of
//!    one kind. Each costs both ends signs of life, and neither ends by itself. In a network that
//!    starts all at once, two thirds of the peers have two.
//! 2. Once all direct connections to a peer are older than
//!    [`OVERLAP`](crate::overlay::reach::moves::OVERLAP), the end with the lower id closes all but
//!    one. One end decides, so that never both are closed. QUIC stays rather than TCP, on this
//!    machine TCP rather than QUIC, and the older rather than the newer.
//! 3. Not while anything is under way with the peer, and not where a place at a relay hangs on one
//!    of them.

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;

use super::peer::Peer;
use super::{Order, Peers};
use crate::overlay::reach::addresses::{is_circuit, is_first_choice};
use crate::overlay::stats::Count;

/// Step 2: all but the best of a peer's direct connections, given as whether they are over the
/// transport of first choice.
fn spare(direct: impl Iterator<Item = (ConnectionId, bool)>) -> Vec<ConnectionId> {
    let mut direct: Vec<_> = direct.map(|(id, first)| (!first, id)).collect();
    direct.sort_unstable();
    direct.into_iter().skip(1).map(|(_, id)| id).collect()
}

impl Peers {
    /// Closes what is spare. The other rooms know which connections are old enough, and with which
    /// peers something is under way.
    pub(crate) fn end_doubles(
        &mut self,
        is_old: impl Fn(&ConnectionId) -> bool,
        is_in_use: impl Fn(&PeerId) -> bool,
    ) {
        let ours = |(id, peer): &(&PeerId, &Peer)| {
            peer.connections.len() > 1 && self.shared.local < **id && !is_in_use(id)
        };
        let doubles = self.connected.iter().filter(ours);
        let spare: Vec<ConnectionId> = doubles
            .flat_map(|(_, peer)| spare_of(peer, &is_old))
            .collect();
        for connection in spare {
            self.shared.counters.count(Count::DoublesClosed);
            self.orders.push(Order::Close(connection));
        }
    }
}

fn spare_of(peer: &Peer, is_old: impl Fn(&ConnectionId) -> bool) -> Vec<ConnectionId> {
    let direct = || peer.connections.iter().filter(|(_, a)| !is_circuit(a));
    if !direct().all(|(id, _)| is_old(id)) {
        return Vec::new();
    }
    spare(direct().map(|(id, address)| (*id, is_first_choice(address))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_first_choice_stays() {
        let id = ConnectionId::new_unchecked;
        let spare = |all: &[(usize, bool)]| spare(all.iter().map(|(n, quic)| (id(*n), *quic)));
        assert!(spare(&[]).is_empty() && spare(&[(3, false)]).is_empty());
        assert_eq!(spare(&[(1, false), (2, true)]), [id(1)]);
        assert_eq!(spare(&[(1, false), (2, true), (4, true)]), [id(4), id(1)]);
        assert_eq!(spare(&[(7, false), (5, false)]), [id(7)]);
    }
}
