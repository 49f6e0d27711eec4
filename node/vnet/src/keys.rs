//! Secrets that are erased when they are dropped.

use boringtun::x25519::{PublicKey, StaticSecret};
use gridbay_protocol::hash::{Domain, hash};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::path::cut;
use crate::session::Tag;

/// 32 secret bytes: a member's X25519 key for one lease, or the key that all members of a lease
/// share.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A new one, from the operating system.
    pub fn random() -> Result<Secret, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(bytes))
    }

    /// One that is known already.
    pub fn new(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The X25519 public key that belongs to it.
    pub fn public(&self) -> [u8; 32] {
        PublicKey::from(&self.x25519()).to_bytes()
    }

    pub(crate) fn x25519(&self) -> StaticSecret {
        StaticSecret::from(self.0)
    }

    /// The secret shared with the owner of a public key; none if that key is a degenerate one.
    pub(crate) fn agree(&self, public: [u8; 32]) -> Option<Secret> {
        let shared = self.x25519().diffie_hellman(&PublicKey::from(public));
        shared.was_contributory().then(|| Secret(shared.to_bytes()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// What a handshake with a member of a lease carries in front; only members can compute it.
pub(crate) fn handshake_tag(psk: &Secret, receiver: &[u8; 32]) -> Tag {
    cut(hash(Domain::LeaseTag, &[psk.bytes(), receiver]))
}
