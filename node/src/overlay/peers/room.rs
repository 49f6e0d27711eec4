//! Room among the connections: those that did not identify themselves in time are closed, and
//! unneeded ones when there are too many.

use std::collections::BTreeSet;
use std::time::Instant;

use gridbay_core::overlay::{Idle, Room};
use libp2p::PeerId;

use super::crowding::crowd_of;
use super::marks::Mark;
use super::peer::Peer;
use super::{Order, Peers};
use crate::overlay::stats::Count;
use crate::overlay::wire::behaviour::Gossip;

impl Peers {
    /// Ends connections that have not identified themselves in time.
    pub(crate) fn end_unidentified(&mut self, now: Instant) {
        let patience = self.shared.tuning.admission;
        let overdue = |peer: &Peer| !peer.admitted && now.duration_since(peer.since) > patience;
        let overdue = self.connected.iter().filter(|(_, peer)| overdue(peer));
        for (peer, _) in overdue {
            self.shared.counters.count(Count::NotIdentified);
            self.orders.push(Order::Disconnect(*peer));
        }
    }

    /// Closes connections that nobody needs (`gridbay_core::overlay`): many when there are nearly
    /// too many, else now and then one that we dialled. The other rooms know with which peers
    /// something is under way.
    pub(crate) fn make_room(
        &mut self,
        gossip: &Gossip,
        is_in_use: impl Fn(&PeerId) -> bool,
        now: Instant,
    ) {
        let limits = &self.shared.limits;
        let room = Room {
            connections: limits.connections as usize,
            wanted: limits.wanted_peers,
            grace: self.shared.tuning.grace,
        };
        let open = self.connected.values().map(|p| p.connections.len()).sum();
        if room.suffices(self.connected.len(), open) {
            return;
        }
        let idle = self.unneeded(gossip, is_in_use, now);
        for peer in room.to_close(self.connected.len(), open, idle) {
            self.shared.counters.count(Count::ClosedForRoom);
            self.orders.push(Order::Disconnect(peer));
        }
    }

    /// The peers that nobody needs: neither kept (but those that rest), nor in gossip's mesh, nor
    /// in use.
    fn unneeded(
        &self,
        gossip: &Gossip,
        is_in_use: impl Fn(&PeerId) -> bool,
        now: Instant,
    ) -> Vec<Idle<PeerId>> {
        let mesh: BTreeSet<&PeerId> = gossip.all_mesh_peers().collect();
        let crowds = self.crowds();
        let idle = |(id, peer): (&PeerId, &Peer)| {
            let needed = mesh.contains(id)
                || self.dialer.is_sought(id)
                || self.marks.is(id, Mark::Trusted)
                || is_in_use(id);
            (!needed).then(|| Idle {
                peer: *id,
                own: peer.connections.keys().any(|c| self.dialled.contains(c)),
                crowd: crowd_of(&crowds, peer),
                age: now.duration_since(peer.since),
            })
        };
        self.connected.iter().filter_map(idle).collect()
    }
}
