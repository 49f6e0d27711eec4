//! What the handles of the overlay can see of the connected peers.

use std::collections::BTreeSet;
use std::sync::Arc;

use libp2p::PeerId;

use super::Peers;
use super::marks::Mark;
use super::peer::Peer;
use crate::overlay::reach::addresses::{is_circuit, relay_of};
use crate::overlay::view::PeerInfo;
use crate::overlay::wire::behaviour::Gossip;

impl Peers {
    /// Shows the connected peers to the handles.
    pub(crate) fn show(&self, gossip: &Gossip) {
        let mesh: BTreeSet<&PeerId> = gossip.all_mesh_peers().collect();
        let subscribed: BTreeSet<&PeerId> = gossip
            .all_peers()
            .filter(|(_, topics)| !topics.is_empty())
            .map(|(id, _)| id)
            .collect();
        let info = |(id, peer): (&PeerId, &Peer)| {
            let address = peer
                .connections
                .values()
                .min_by_key(|a| is_circuit(a))?
                .clone();
            peer.admitted.then(|| PeerInfo {
                peer: *id,
                via: relay_of(&address),
                relays: peer.relays,
                address,
                connections: peer.connections.len(),
                rtt: peer.rtt,
                score: peer.score,
                kept: self.dialer.is_sought(id),
                trusted: self.marks.is(id, Mark::Trusted),
                subscribed: subscribed.contains(&id),
                in_mesh: mesh.contains(&id),
            })
        };
        let peers: Arc<[PeerInfo]> = self.connected.iter().filter_map(info).collect();
        self.snapshot.send_replace(peers);
    }
}
