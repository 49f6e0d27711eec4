//! The keys of the world's nodes, and the network they found.

use crate::world::EPOCH_MS;
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;

pub(crate) fn credits(n: u64) -> Credits {
    Credits::from_micros(n * 1_000_000).expect("small")
}
pub(crate) fn key(kind: u8, n: u8) -> SecretKey {
    let mut seed = [kind; 32];
    seed[31] = n;
    SecretKey::from_seed(&seed)
}
pub(crate) fn account_key(n: usize) -> SecretKey {
    key(1, n as u8)
}
pub(crate) fn node_key(n: usize) -> PublicKey {
    key(2, n as u8).public()
}
/// The first beacon chain of a validator.
pub(crate) fn chain(n: usize, steps: u32) -> Chain {
    Chain::new(&[n as u8; 32], steps)
}

/// A network of `validators` members that validate and `others` that only have an account.
pub(crate) fn genesis(
    validators: usize,
    others: usize,
    chain_steps: u32,
    policy: Policy,
) -> Genesis {
    let member = |n: usize| Member {
        validator: (n < validators).then(|| {
            let key = key(3, n as u8).public();
            sample::validator(key, node_key(n), chain(n, chain_steps).tip())
        }),
        ..sample::member(
            &format!("member{n:02}"),
            account_key(n).public(),
            credits(100),
        )
    };
    let members = (0..validators + others).map(member).collect();
    Genesis {
        time_ms: EPOCH_MS,
        policy,
        beacon: Hash32([9; 32]),
        ..sample::genesis("world", vec![sample::class("small", 1, 512, 100)], members)
    }
}
