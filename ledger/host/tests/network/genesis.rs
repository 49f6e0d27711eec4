//! The keys of the world's hosts, and the network they found.

use gridbay_host::Peer;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::{Hash32, ValidatorId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::{Credits, Price};

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
    let member = |i: usize| Member {
        name: format!("member{i:02}"),
        keys: vec![AccountKey {
            key: account_key(i).public(),
            roles: Roles::ALL,
        }],
        endowment: Credits::from_micros(1_000_000_000).unwrap(),
        credit_line: Credits::ZERO,
        weight: 1,
        validator: Some(MemberValidator {
            key: consensus_key(i).public(),
            node: gridbay_protocol::keys::PublicKey::from_bytes(&peer(i)).unwrap(),
            power: 1,
            beacon_tip: Hash32(chain(i).tip()),
        }),
        addresses: vec![],
    };
    Genesis {
        format: FORMAT,
        rules: RULES,
        name: "test".into(),
        time_ms: 1_000,
        policy: Policy {
            calendar: Calendar {
                round_heights: 4,
                slot_rounds: 2,
            },
            heartbeat_ms: 250,
            ..Policy::local()
        },
        classes: vec![Class {
            name: "small".into(),
            key: ClassKey {
                vcpu: 1,
                memory_mib: 1024,
                disk_mib: 1024,
                gpu: 0,
                isolation: Isolation::Process,
                circle: "members".into(),
            },
            reference_price: Price(10),
        }],
        members: (0..n).map(member).collect(),
        beacon: Hash32([7; 32]),
    }
}
