//! A small state for the crate's own tests: two members, one class.

use crate::record::{Lease, Part, Pot, Stake, Way};
use crate::state::State;
use crate::view::Floor;
use crate::{lease, pot};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::genesis::{FORMAT, Genesis, Member, MemberValidator, Policy, RULES};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OrderId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::lease::Share;
use gridbay_protocol::units::{Credits, Price};

/// Its members' keys have the seeds 1 and 2.
pub(crate) fn state() -> State {
    let key = |n: u8| SecretKey::from_seed(&[n; 32]).public();
    let class = ClassKey {
        vcpu: 1,
        memory_mib: 512,
        disk_mib: 512,
        gpu: 0,
        isolation: Isolation::Process,
        circle: "members".into(),
    };
    let member = |n: u8| Member {
        name: format!("member{n}"),
        keys: vec![AccountKey {
            key: key(n),
            roles: Roles::ALL,
        }],
        endowment: Credits::from_micros(1_000).expect("a small amount"),
        credit_line: Credits::ZERO,
        weight: 1,
        validator: (n == 1).then(|| MemberValidator {
            key: key(101),
            node: key(201),
            power: 1,
            beacon_tip: Hash32([n; 32]),
        }),
        addresses: vec![],
    };
    let genesis = Genesis {
        format: FORMAT,
        rules: RULES,
        name: "audit".into(),
        time_ms: 1_000,
        policy: Policy::local(),
        classes: vec![Class {
            name: "small".into(),
            key: class,
            reference_price: Price(10),
        }],
        members: vec![member(1), member(2)],
        beacon: Hash32([7; 32]),
    };
    State::genesis(&genesis).expect("a legal genesis")
}

/// The account of a member, by order of ids.
pub(crate) fn account(state: &State, n: usize) -> AccountId {
    let mut accounts = state.accounts().map(|(id, _)| *id);
    accounts.nth(n).expect("two members")
}

/// The class.
pub(crate) fn class(state: &State) -> ClassId {
    state.classes()[0].key.id()
}

/// A lease that has units of one offer, delivered, and its pot; nothing is paid.
pub(crate) fn run(
    at: &mut Floor<'_, '_>,
    (order, account, class): (OrderId, AccountId, ClassId),
    (lease, pot): (LeaseId, Hash32),
    Share { offer, units }: Share,
) {
    let runs = Lease {
        order,
        account,
        class,
        slot: 0,
        shares: vec![Share { offer, units }],
        paid: Credits::ZERO,
        pot,
        whole_slot: true,
        slots_run: 0,
        firm_through: None,
        delivered: vec![offer],
        deliver_by: 9,
    };
    lease::put(at, lease, Some(runs));
    let part = Part {
        offer,
        units,
        stopped: None,
    };
    let stake = Stake {
        lease,
        order,
        account,
        running: Credits::ZERO,
        left: Credits::ZERO,
        parts: vec![part],
    };
    let record = Pot {
        class,
        way: Way::Bid,
        slot: 0,
        heights: 8,
        left: Credits::ZERO,
        stakes: vec![stake],
        sold: vec![],
    };
    pot::enter(at, pot, record);
}
