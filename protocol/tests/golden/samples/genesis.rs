//! The constitution of a small network, and an invitation to it.

use super::{entry, key, micros};
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::invitation::{Bootstrap, Invitation};
use gridbay_protocol::units::Price;

/// A class of `vcpu` processors.
pub(crate) fn class(name: &str, vcpu: u32, isolation: Isolation) -> Class {
    Class {
        name: name.into(),
        key: ClassKey {
            vcpu,
            memory_mib: u64::from(vcpu) * 2_048,
            disk_mib: 10_240,
            gpu: vcpu / 8,
            isolation,
            circle: "members".into(),
        },
        reference_price: Price(5_555),
    }
}

/// A member whose keys come from `seed`; validator of `power` unless that is zero.
pub(crate) fn member(name: &str, seed: u8, power: u64) -> Member {
    let validator = MemberValidator {
        key: key(seed).public(),
        node: key(seed + 1).public(),
        power,
        beacon_tip: Hash32([seed; 32]),
    };
    Member {
        name: name.into(),
        keys: entry::keys(),
        endowment: micros(1_000_000_000),
        credit_line: micros(500_000_000),
        weight: 1,
        validator: (power > 0).then_some(validator),
        addresses: vec![format!("/ip4/127.0.0.1/udp/4{seed:03}/quic-v1")],
    }
}

/// Two classes, two members, one of them a validator.
pub(crate) fn genesis() -> Genesis {
    let mut classes = vec![
        class("small", 2, Isolation::Process),
        class("large", 16, Isolation::Machine),
    ];
    classes.sort_by_key(|c| c.key.id());
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: "golden".into(),
        time_ms: 1_750_000_000_000,
        policy: Policy::local(),
        classes,
        members: vec![member("alpha", 40, 10), member("beta", 50, 0)],
        beacon: Hash32([0xbb; 32]),
    }
}

/// An invitation by the account of the entry samples.
pub(crate) fn invitation() -> Invitation {
    Invitation {
        network: super::NETWORK,
        grant: entry::grant(),
        token_seed: [entry::TOKEN; 32],
        bootstrap: vec![Bootstrap {
            node: key(41).public(),
            addresses: vec!["/ip4/127.0.0.1/tcp/4040".into()],
        }],
    }
}
