//! The keys of the world's nodes, and the network they found.

use crate::world::EPOCH_MS;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::units::{Credits, Price};

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
    let class = Class {
        name: "small".into(),
        key: ClassKey {
            vcpu: 1,
            memory_mib: 512,
            disk_mib: 512,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".into(),
        },
        reference_price: Price(100),
    };
    let member = |n: usize| Member {
        name: format!("member{n:02}"),
        keys: vec![AccountKey {
            key: account_key(n).public(),
            roles: Roles::ALL,
        }],
        endowment: credits(100),
        credit_line: Credits::ZERO,
        weight: 1,
        validator: (n < validators).then(|| MemberValidator {
            key: key(3, n as u8).public(),
            node: node_key(n),
            power: 1,
            beacon_tip: Hash32(chain(n, chain_steps).tip()),
        }),
        addresses: vec![],
    };
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: "world".into(),
        time_ms: EPOCH_MS,
        policy,
        classes: vec![class],
        members: (0..validators + others).map(member).collect(),
        beacon: Hash32([9; 32]),
    }
}
