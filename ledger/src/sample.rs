//! A small state for the crate's own tests: two members, one class.

use crate::record::{Lease, Part, Pot, Stake, Way};
use crate::state::State;
use crate::view::Floor;
use crate::{lease, pot};
use gridbay_protocol::genesis::Member;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OrderId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::lease::Share;
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;

/// Its members' keys have the seeds 1 and 2.
pub(crate) fn state() -> State {
    let key = |n: u8| SecretKey::from_seed(&[n; 32]).public();
    let money = Credits::from_micros(1_000).expect("a small amount");
    let validating = Member {
        validator: Some(sample::validator(key(101), key(201), [1; 32])),
        ..sample::member("member1", key(1), money)
    };
    let members = vec![validating, sample::member("member2", key(2), money)];
    let genesis = sample::genesis("audit", vec![sample::class("small", 1, 512, 10)], members);
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
