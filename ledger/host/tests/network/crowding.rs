//! The mempool against one member that fills it with the entries of many accounts.

use crate::mempool::{STRANGER, give, host, payment, signed};
use crate::world::World;
use gridbay_host::{HostInput, Sought, limits};
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits::{EPOCH_HEIGHTS, INCLUSION_HEIGHTS};
use gridbay_protocol::units::Credits;

/// The balance of each account of the house, in millionths of a credit.
pub(crate) const ENDOWMENT: u64 = 1_000;

/// A network, and accounts of member 0 in its book.
pub(crate) fn with_house(
    validators: usize,
    seed: u64,
    accounts: usize,
) -> (World, Vec<(AccountId, SecretKey)>) {
    let mut world = World::new(validators, 0, seed);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    let mut house = vec![];
    for n in 0..accounts {
        let key = SecretKey::from_seed(&[[77, n as u8]; 16].concat().try_into().unwrap());
        let keys = vec![AccountKey {
            key: key.public(),
            roles: Roles::ALL,
        }];
        let body = EntryBody::OpenAccount {
            grant: None,
            keys,
            endowment: Credits::from_micros(ENDOWMENT).unwrap(),
        };
        let entry = world.sign(0, body, 100);
        house.push((opened_by(&entry.id()), key));
        world.input(0, HostInput::Submit(vec![entry]));
    }
    let open = |w: &World| {
        let state = host(w, 0).state();
        house.iter().all(|(id, _)| state.account(id).is_some())
    };
    assert!(world.run(60_000, open));
    let tip = world.tip(0);
    assert!(world.run(60_000, |w| w.all_at(tip)));
    (world, house)
}

/// So many transfers of each account of a house to the next one.
fn transfers(
    world: &World,
    house: &[(AccountId, SecretKey)],
    (number, micros, valid_until): (usize, u64, u64),
) -> Vec<SignedEntry> {
    let mut sent = vec![];
    for n in 0..number {
        for (i, (account, key)) in house.iter().enumerate() {
            let (to, _) = house[(i + 1) % house.len()];
            let mut memo = Hash32::default();
            memo.0[..8].copy_from_slice(&(n as u64).to_le_bytes());
            let amount = Credits::from_micros(micros).unwrap();
            let body = EntryBody::Transfer { to, amount, memo };
            sent.push(signed(world, *account, key, valid_until, body));
        }
    }
    sent
}

#[test]
fn one_members_accounts_fill_every_pool_and_keep_nobody_out() {
    let (mut world, house) = with_house(2, 61, 40);
    // Whole balances: few of them are in any block, and those in none cost no budget.
    let all = (limits::MEMPOOL_PER_ACCOUNT, ENDOWMENT, 1_000);
    let flood = transfers(&world, &house, all);
    for batch in flood.chunks(limits::BATCH_ENTRIES) {
        for i in 0..2 {
            give(&mut world, i, STRANGER, batch.to_vec());
        }
    }
    assert_eq!(host(&world, 1).mempool_len(), limits::MEMPOOL_ENTRIES);
    let first = world.tip(0);
    for _ in 0..3 {
        let entry = world.transfer(1);
        let (tip, id, sought) = (world.tip(0), entry.id(), Sought::from(&*entry));
        world.input(1, HostInput::Submit(vec![entry]));
        assert!(!world.refused.contains_key(&id), "{:?}", world.refused[&id]);
        let in_the_book = |w: &World| host(w, 0).entry_height(sought).is_some();
        assert!(world.run(world.now + 60_000, in_the_book));
        let included = host(&world, 0).entry_height(sought).unwrap();
        assert!(
            included <= tip + INCLUSION_HEIGHTS,
            "{included} > {tip} + 3"
        );
    }
    assert!(
        host(&world, 0).mempool_len() > limits::MEMPOOL_ENTRIES / 4,
        "the flood goes on"
    );
    let rounds: Vec<_> = world.rounds.range(first..).collect();
    assert!(rounds.iter().all(|(_, round)| **round == 0), "{rounds:?}");
}

#[test]
fn what_waits_for_money_that_never_comes_keeps_nobody_waiting_out() {
    let (mut world, house) = with_house(1, 62, 10);
    let end = world.tip(0) + 500;
    for batch in transfers(&world, &house, (500, 2 * ENDOWMENT, end)).chunks(limits::BATCH_ENTRIES)
    {
        give(&mut world, 0, STRANGER, batch.to_vec());
    }
    assert_eq!(
        host(&world, 0).mempool_len(),
        house.len() * limits::MEMPOOL_WAITING_PER_ACCOUNT
    );
    // One that waits for money, which comes with the next block.
    let poor = SecretKey::from_seed(&[78; 32]);
    let keys = vec![AccountKey {
        key: poor.public(),
        roles: Roles::ALL,
    }];
    let opens = EntryBody::OpenAccount {
        grant: None,
        keys,
        endowment: Credits::ZERO,
    };
    let opens = world.sign(0, opens, end);
    let account = opened_by(&opens.id());
    world.input(0, HostInput::Submit(vec![opens]));
    let open = |w: &World| host(w, 0).state().account(&account).is_some();
    assert!(world.run(world.now + 60_000, open));
    let body = payment(world.account(0), 5);
    let waits = signed(&world, account, &poor, end, body);
    give(&mut world, 0, STRANGER, vec![waits.clone()]);
    let tip = world.tip(0);
    let money = world.sign(0, payment(account, 5), end);
    world.input(0, HostInput::Submit(vec![money]));
    let done = |w: &World| host(w, 0).entry_height(&waits).is_some();
    assert!(world.run(world.now + 60_000, done));
    let included = host(&world, 0).entry_height(&waits).unwrap();
    assert!(
        included <= tip + INCLUSION_HEIGHTS,
        "{included} > {tip} + 3"
    );
}

#[test]
fn what_no_budget_is_left_for_waits_only_if_it_outlives_the_epoch() {
    let mut world = World::new(2, 0, 63);
    world.genesis.policy.entries.member.entries = 64;
    world.boot_all();
    for _ in 0..64 {
        let entry = world.transfer(0);
        world.input(0, HostInput::Submit(vec![entry]));
    }
    assert!(world.run(60_000, |w| host(w, 0).mempool_len() == 0 && w.tip(0) > 1));
    let to = world.account(1);
    for (micros, ends) in [(1, EPOCH_HEIGHTS), (2, EPOCH_HEIGHTS + 1)] {
        let entry = world.sign(0, payment(to, micros), ends).signed().clone();
        give(&mut world, 0, STRANGER, vec![entry]);
    }
    assert_eq!(host(&world, 0).mempool_len(), 1);
}
