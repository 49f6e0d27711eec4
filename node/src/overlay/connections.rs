//! The connections to each peer, as a behaviour hears of them.

use std::collections::{BTreeMap, BTreeSet};

use libp2p::PeerId;
use libp2p::swarm::behaviour::ConnectionEstablished;
use libp2p::swarm::{ConnectionClosed, ConnectionId, FromSwarm};

/// Whether a connection goes through a relay.
type Relayed = bool;

/// Direct ones come before those through relays, and older ones before newer ones.
#[derive(Debug, Default)]
pub(super) struct Connections(BTreeMap<PeerId, BTreeSet<(Relayed, ConnectionId)>>);

impl Connections {
    /// Takes note of what has begun or ended.
    pub(super) fn hear(&mut self, event: &FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            }) => {
                let known = self.0.entry(*peer_id).or_default();
                known.insert((endpoint.is_relayed(), *connection_id));
            }
            FromSwarm::ConnectionClosed(ConnectionClosed {
                peer_id,
                connection_id,
                endpoint,
                ..
            }) => {
                if let Some(known) = self.0.get_mut(peer_id) {
                    known.remove(&(endpoint.is_relayed(), *connection_id));
                    if known.is_empty() {
                        self.0.remove(peer_id);
                    }
                }
            }
            _ => {}
        }
    }

    /// The oldest direct connection to a peer, or the oldest through a relay if there is none.
    pub(super) fn best(&self, peer: &PeerId) -> Option<ConnectionId> {
        Some(self.first(peer)?.1)
    }

    /// The oldest direct connection to a peer.
    pub(super) fn direct(&self, peer: &PeerId) -> Option<ConnectionId> {
        let (relayed, connection) = self.first(peer)?;
        (!relayed).then_some(connection)
    }

    fn first(&self, peer: &PeerId) -> Option<(Relayed, ConnectionId)> {
        self.0.get(peer)?.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_connections_go_before_relayed_ones_and_older_before_newer() {
        let peer = PeerId::random();
        let at = ConnectionId::new_unchecked;
        let known = |all: &[(Relayed, usize)]| {
            let all = all.iter().map(|(relayed, n)| (*relayed, at(*n)));
            Connections([(peer, all.collect())].into())
        };
        let relayed = known(&[(true, 2), (true, 1)]);
        assert_eq!(
            (relayed.best(&peer), relayed.direct(&peer)),
            (Some(at(1)), None)
        );
        let both = known(&[(true, 1), (false, 4), (false, 3)]);
        assert_eq!(both.best(&peer), Some(at(3)));
        assert_eq!(both.direct(&peer), Some(at(3)));
        assert_eq!(both.best(&PeerId::random()), None);
    }
}
