//! One sample of everything, from fixed seeds.

pub(crate) mod block;
pub(crate) mod deadline;
pub(crate) mod effect;
pub(crate) mod entry;
pub(crate) mod genesis;
pub(crate) mod market;
pub(crate) mod node;
pub(crate) mod posted;

use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;

/// The network of all signed samples.
pub(crate) const NETWORK: NetworkId = NetworkId([0x11; 32]);

/// The key of seed `n`.
pub(crate) fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}
/// An amount in micro-credits.
pub(crate) fn micros(n: u64) -> Credits {
    Credits::from_micros(n).expect("samples hold legal amounts")
}
