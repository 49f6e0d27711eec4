//! The smallest network of four validators that a genesis may have: nobody has money.

use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::{Credits, Price};

/// The key of a seed.
pub(crate) fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

/// Member n has a validator with key n, and an account key of its own.
pub(crate) fn genesis() -> Genesis {
    let member = |n: u8| Member {
        name: format!("m{n}"),
        keys: vec![AccountKey {
            key: key(n + 100).public(),
            roles: Roles::ALL,
        }],
        endowment: Credits::ZERO,
        credit_line: Credits::ZERO,
        weight: 1,
        validator: Some(MemberValidator {
            key: key(n).public(),
            node: key(n + 50).public(),
            power: 1,
            beacon_tip: Hash32([n; 32]),
        }),
        addresses: vec![],
    };
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: "lab".into(),
        time_ms: 1_000,
        policy: Policy::local(),
        classes: vec![Class {
            name: "small".into(),
            key: ClassKey {
                vcpu: 1,
                memory_mib: 1,
                disk_mib: 1,
                gpu: 0,
                isolation: Isolation::Process,
                circle: "members".into(),
            },
            reference_price: Price(1),
        }],
        members: (1..=4).map(member).collect(),
        beacon: Hash32([0; 32]),
    }
}
