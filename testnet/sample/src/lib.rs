//! The one builder of genesis for the tests of all packages.
//!
//! They take [`genesis`], [`class`], [`member`] and [`validator`], and change only the values that
//! matter to their subject. So a new field of a genesis is written here, once.

use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, Price};

/// A network under [`Policy::local`], founded a second after 1970. The classes are put into
/// their order, the members are taken in the order given.
pub fn genesis(name: &str, mut classes: Vec<Class>, members: Vec<Member>) -> Genesis {
    classes.sort_by_key(|class| class.key.id());
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: name.to_owned(),
        time_ms: 1_000,
        policy: Policy::local(),
        classes,
        members,
        beacon: Hash32([7; 32]),
    }
}

/// A class of processes on `vcpu` processors, with `mib` MiB of memory and as many of disk; `price`
/// is its reference price in micro-credits a slot.
pub fn class(name: &str, vcpu: u32, mib: u64, price: u64) -> Class {
    Class {
        name: name.to_owned(),
        key: ClassKey {
            vcpu,
            memory_mib: mib,
            disk_mib: mib,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".to_owned(),
        },
        reference_price: Price(price),
    }
}

/// A member whose one key may do everything. It has no credit line and no validator.
pub fn member(name: &str, key: PublicKey, endowment: Credits) -> Member {
    Member {
        name: name.to_owned(),
        keys: vec![AccountKey {
            key,
            roles: Roles::ALL,
        }],
        endowment,
        credit_line: Credits::ZERO,
        weight: 1,
        validator: None,
        addresses: vec![],
    }
}

/// A validator of power 1, by its consensus key, its node's transport key and the tip of its beacon
/// chain.
pub fn validator(key: PublicKey, node: PublicKey, tip: [u8; 32]) -> MemberValidator {
    MemberValidator {
        key,
        node,
        power: 1,
        beacon_tip: Hash32(tip),
    }
}
