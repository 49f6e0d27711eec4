//! The keys of the world's hosts, and the network they found.

use gridbay_host::Peer;
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::ids::ValidatorId;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;

const CHAIN_STEPS: u32 = 4_000;

pub(crate) fn account_key(n: usize) -> SecretKey {
    SecretKey::from_seed(&[n as u8 + 1; 32])
}
pub(crate) fn consensus_key(n: usize) -> SecretKey {
    SecretKey::from_seed(&[n as u8 + 101; 32])
}
pub(crate) fn peer(n: usize) -> Peer {
    *SecretKey::from_seed(&[n as u8 + 151; 32])
        .public()
        .as_bytes()
}
pub(crate) fn validator(n: usize) -> ValidatorId {
    gridbay_protocol::validator::validator_id(&consensus_key(n).public())
}
pub(crate) fn chain(n: usize) -> Chain {
    Chain::new(&[n as u8 + 1; 32], CHAIN_STEPS)
}

/// A genesis with `n` validators; heights pass every 250 ms whether work is due or not.
pub(crate) fn genesis(n: usize) -> Genesis {
    let money = Credits::from_micros(1_000_000_000).unwrap();
    let member = |i: usize| Member {
        validator: Some(sample::validator(
            consensus_key(i).public(),
            PublicKey::from_bytes(&peer(i)).unwrap(),
            chain(i).tip(),
        )),
        ..sample::member(&format!("member{i:02}"), account_key(i).public(), money)
    };
    let members = (0..n).map(member).collect();
    Genesis {
        policy: Policy {
            heartbeat_ms: 250,
            ..Policy::local()
        },
        ..sample::genesis("test", vec![sample::class("small", 1, 1024, 10)], members)
    }
}
