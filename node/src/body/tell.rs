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
        // Others' entries, that a block left out, are no reason: a liar could have them told.
        if matches!(line, Line::Entries) && self.core().host().waits_for_others() {
            self.tools.anchors.call_all();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_host::message::{BodyRequest, Status};
    use gridbay_protocol::ids::BlockId;

    #[test]
    fn each_class_has_a_line_of_its_own() {
        let block = BlockId::default();
        let ask = HostMessage::BodyRequest(BodyRequest { height: 1, block });
        // Of a body only its name is looked at.
        let body = b"\xa1\x64body\x00".to_vec();
        let entries = HostMessage::Entries(Vec::new());
        let status = HostMessage::Status(Status { tip: 1 });
        let all = [ask.encode(), body, entries.encode(), status.encode()];
        let lines = [Line::Votes, Line::Bodies, Line::Entries, Line::Words];
        assert_eq!(all.map(|bytes| line(&bytes)), lines);
    }
}
