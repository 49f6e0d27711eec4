//! The ledger's messages to other nodes, each on the line of its class.

use super::Body;
use crate::overlay::{self, Line, PeerId};
use gridbay_host::message::{Class, HostMessage};

/// The line on which a ledger's message goes.
fn line(bytes: &[u8]) -> Line {
    match HostMessage::class(bytes) {
        Class::Votes => Line::Votes,
        Class::Bodies => Line::Bodies,
        Class::Entries => Line::Entries,
        Class::Words => Line::Words,
    }
}

impl Body {
    pub(super) fn broadcast(&self, bytes: Vec<u8>) {
        let peers = self.tools.overlay.peers();
        let voting = peers.iter().map(|p| p.peer).filter(|p| self.votes(p));
        let line = line(&bytes);
        if let Err(error) = self.tools.overlay.send_all(voting.collect(), line, bytes) {
            tracing::debug!(%error, "a broadcast was dropped");
        }
    }

    /// Whether a peer is the node of a validator.
    fn votes(&self, peer: &PeerId) -> bool {
        let key = overlay::key_of_peer_id(peer);
        let members = self.core().state().validators().members();
        key.is_some_and(|key| members.iter().any(|v| *v.node.as_bytes() == key))
    }

    pub(super) fn send(&self, to: &[u8; 32], bytes: Vec<u8>) {
        if let Some(peer) = overlay::peer_id_of_key(to)
            && let Err(error) = self.tools.overlay.send(peer, line(&bytes), bytes)
        {
            tracing::debug!(%peer, %error, "a message was dropped");
        }
    }
}
