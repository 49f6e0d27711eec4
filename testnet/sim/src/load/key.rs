//! Keys of users.

use crate::found::account_key;
use crate::rng::Rng;
use gridbay_protocol::keys::{PublicKey, SecretKey};

/// A secret key and its public part, which is costly to compute.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) secret: SecretKey,
    pub(super) public: PublicKey,
}

impl Key {
    pub(super) fn new(secret: SecretKey) -> Key {
        let public = secret.public();
        Key { secret, public }
    }
    /// A key that nobody else has.
    pub(super) fn fresh(rng: &mut Rng) -> Key {
        Key::new(SecretKey::from_seed(&rng.bytes32()))
    }
}

/// The key of the account of node `n`.
pub(super) fn node_account(n: usize) -> Key {
    Key::new(account_key(n))
}
