//! Questions to other nodes: codec and time limit around the overlay's requests.

use crate::overlay::{OverlayHandle, PeerId, key_of_peer_id, peer_id_of_key};
use gridbay_core::agent::{AgentReply, AgentRequest, REPLY_BYTES, REQUEST_BYTES};
use gridbay_protocol::codec;
use gridbay_protocol::keys::PublicKey;
use std::time::Duration;

/// Time for one answer. A chunk of half a MiB takes a second on a slow line.
const ANSWER: Duration = Duration::from_secs(10);

/// Asks other nodes.
#[derive(Clone, Debug)]
pub struct Asker {
    overlay: OverlayHandle,
}

impl Asker {
    /// Over an overlay.
    pub fn new(overlay: OverlayHandle) -> Asker {
        Asker { overlay }
    }
    /// The answer, or `None` if there was none in time or it made no sense.
    pub async fn ask(&self, to: &PublicKey, request: &AgentRequest) -> Option<AgentReply> {
        let peer = peer_of(to)?;
        let bytes = codec::encode(request);
        match self.overlay.request(peer, bytes, ANSWER).await {
            Ok(reply) => match codec::decode(&reply, REPLY_BYTES) {
                Ok(reply) => Some(reply),
                Err(error) => {
                    tracing::debug!(%to, %error, "an answer that makes no sense");
                    let _gone = self.overlay.penalise(peer, 20.0);
                    None
                }
            },
            Err(error) => {
                tracing::debug!(%to, %error, "no answer");
                None
            }
        }
    }
}

/// Parses a question of another node.
pub fn decode_request(bytes: &[u8]) -> Result<AgentRequest, codec::CodecError> {
    codec::decode(bytes, REQUEST_BYTES)
}

/// Peer id of a transport key.
pub fn peer_of(key: &PublicKey) -> Option<PeerId> {
    peer_id_of_key(key.as_bytes())
}

/// Transport key of a peer; `None` for keys that gridbay does not use.
pub fn key_of(peer: &PeerId) -> Option<PublicKey> {
    PublicKey::from_bytes(&key_of_peer_id(peer)?).ok()
}
