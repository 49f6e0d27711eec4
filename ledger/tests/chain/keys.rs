//! Keys: each belongs to one account, whoever lists it later.

use crate::world::{World, all_roles, credits, genesis, key, policy};
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::account::opened_by;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::GenesisError;

fn set_keys(n: u8) -> EntryBody {
    let keys = all_roles(&key(n));
    EntryBody::SetKeys { keys }
}

fn open(n: u8) -> EntryBody {
    EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&key(n)),
        endowment: credits(0),
    }
}

fn taken(n: u8) -> Refusal {
    Refusal::KeyTaken(Box::new(key(n).public()))
}

#[test]
fn a_key_of_another_account_is_refused() {
    let mut world = World::new();
    assert_eq!(world.refused(world.by(1, open(2))), taken(2));
    assert_eq!(world.refused(world.by(1, set_keys(2))), taken(2));
    // Beside a key of one's own as well.
    let mut both = [all_roles(&key(1)), all_roles(&key(2))].concat();
    both.sort_by_key(|k| k.key);
    let both = world.by(1, EntryBody::SetKeys { keys: both });
    assert_eq!(world.refused(both), taken(2));
    let owner = world.state.account_of(&key(2).public());
    assert_eq!(owner, Some(world.member(2)));
    // One's own keys may stay.
    world.all(vec![world.by(1, set_keys(1))]);
    assert!(matches!(
        world.refused(world.by(1, open(1))),
        Refusal::KeyTaken(_)
    ));
}

#[test]
fn of_two_that_list_a_key_in_one_block_one_gets_it() {
    let mut world = World::new();
    let entries = vec![world.by(1, open(30)), world.by(2, open(30))];
    world.block(entries.clone());
    assert_eq!(world.left_out.len(), 1);
    let (loser, refusal) = world.left_out[0].clone();
    assert_eq!(refusal, taken(30));
    let winner = entries.iter().find(|e| e.id() != loser).unwrap();
    let owner = world.state.account_of(&key(30).public());
    assert_eq!(owner, Some(opened_by(&winner.id())));
}

#[test]
fn a_key_given_up_is_free_again() {
    let mut world = World::new();
    world.all(vec![world.by(1, set_keys(11))]);
    assert_eq!(world.state.account_of(&key(1).public()), None);
    world.all(vec![world.by(2, set_keys(1))]);
    assert_eq!(
        world.state.account_of(&key(1).public()),
        Some(world.member(2))
    );
    let listed: usize = world.state.accounts().map(|(_, a)| a.keys.len()).sum();
    assert_eq!(listed, 4);
}

#[test]
fn members_with_a_key_in_common_found_no_network() {
    let mut common = genesis(policy());
    common.members[3].keys = all_roles(&key(1));
    assert!(matches!(
        State::genesis(&common),
        Err(GenesisError::Invalid(part)) if part.contains("keys")
    ));
}
