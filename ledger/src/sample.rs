//! A small state for the crate's own tests: two members, one class.

use crate::state::State;
use gridbay_protocol::genesis::Member;
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::keys::SecretKey;
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
