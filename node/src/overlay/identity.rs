//! Transport identity: a peer id is nothing but an ed25519 public key in libp2p's wrapping.
//!
//! Short keys are embedded in the id itself (multihash code 0), so both directions are total for
//! every peer that uses ed25519; ids of other key kinds have no 32-byte key.

use libp2p::PeerId;
use libp2p::identity::{Keypair, PublicKey, ed25519};

/// Multihash code of the identity function: the digest is the encoded key itself.
const IDENTITY_MULTIHASH: u64 = 0;
/// What stands before the 32 bytes of an ed25519 key in its encoding: field 1 (the kind) is 1, and
/// field 2 has 32 bytes.
const ED25519_PREFIX: [u8; 4] = [0x08, 0x01, 0x12, 0x20];

/// The peer id of an ed25519 public key, or `None` when the bytes are not a point on the curve.
pub fn peer_id_of_key(key: &[u8; 32]) -> Option<PeerId> {
    let key = ed25519::PublicKey::try_from_bytes(key).ok()?;
    Some(PublicKey::from(key).to_peer_id())
}

/// The bytes of the ed25519 public key inside a peer id, or `None` when the id stands for another
/// kind of key. Whether they are a point on the curve is for the caller to ask: it costs some
/// microseconds.
pub fn key_of_peer_id(peer: &PeerId) -> Option<[u8; 32]> {
    let hash = peer.as_ref();
    if hash.code() != IDENTITY_MULTIHASH {
        return None;
    }
    hash.digest().strip_prefix(&ED25519_PREFIX)?.try_into().ok()
}

/// The key pair of a 32-byte seed.
pub(crate) fn keypair_of_seed(seed: &[u8; 32]) -> Keypair {
    Keypair::ed25519_from_bytes(*seed).expect("any 32 bytes are an ed25519 seed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_peer_ids_convert_both_ways() {
        let pair = keypair_of_seed(&[7; 32]);
        let peer = pair.public().to_peer_id();
        let key = key_of_peer_id(&peer).unwrap();
        let dalek = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
        assert_eq!(key, dalek.verifying_key().to_bytes());
        assert_eq!(peer_id_of_key(&key), Some(peer));
    }

    #[test]
    fn an_id_without_an_embedded_key_has_none() {
        let hashed = PeerId::random();
        assert_eq!(key_of_peer_id(&hashed), None);
    }

    #[test]
    fn bytes_that_are_no_point_are_refused() {
        let bad = (0..=255u8)
            .map(|b| [b; 32])
            .filter(|k| peer_id_of_key(k).is_none())
            .count();
        assert!(bad > 0);
    }
}
