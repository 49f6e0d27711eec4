//! Houses take turns in a block, and in a house its accounts. Tests mempools larger than a block,
//! above all those in which entries of many accounts exclude one another.

use crate::inclusion::{Mempool, list, pay, proposed, ready, whole_balance};
use crate::model::Dice;
use crate::seats::invited;
use crate::trade::bid;
use crate::world::{World, policy};
use gridbay_ledger::{BlockRefusal, Refusal};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, EntryId, Hash32, OfferId};
use gridbay_protocol::limits::{
    BLOCK_ENTRIES, BLOCK_ENTRIES_BYTES, OFFERS_PER_ACCOUNT, ORDERS_PER_ACCOUNT_CLASS,
    SIGNED_ENTRY_BYTES,
};
use gridbay_protocol::order::{Buy, BuyPart};
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A world with so many users, and what they act under.
fn users(count: u8) -> (World, Vec<u8>) {
    let mut world = World::with(Policy {
        accounts_per_member: 200,
        ..policy()
    });
    let users = (0..count).map(|i| world.tenant(1 + i % 4, 20_000));
    let users = users.collect();
    (world, users)
}

/// Nothing is missing in an honest block, whatever part of the mempool a judge knows.
fn honest(world: &World, mempool: &Mempool, what: &str) -> Vec<Arc<Authentic>> {
    let block = proposed(world, mempool);
    let missing = world.twin.missing(&block, mempool).len();
    assert_eq!(missing, 0, "{what}: {} taken", block.entries().len());
    for part in 0..3 {
        let known = |e: &&Arc<Authentic>| e.id().0[0] % 3 == part;
        let known: Mempool = mempool.iter().filter(known).cloned().collect();
        assert_eq!(world.twin.missing(&block, &known), [], "{what}");
    }
    block.entries().to_vec()
}

fn shares(entries: &[Arc<Authentic>]) -> BTreeMap<AccountId, usize> {
    let mut shares = BTreeMap::new();
    for entry in entries {
        *shares.entry(entry.entry().account).or_default() += 1;
    }
    shares
}

/// A key that several accounts want.
fn contended(link: u8) -> u8 {
    200 + link
}

/// Accounts of which each has more ready than its part of a block. In each of the first `links` the
/// oldest entry opens an account with a key, and the youngest takes the next one's key.
fn chain_of(links: u8, accounts: u8, each: usize) -> (World, Mempool) {
    let (mut world, users) = users(accounts);
    let (mut first, mut bulk, mut last) = (Mempool::new(), Mempool::new(), Mempool::new());
    for (link, n) in (0..links).zip(users.iter().copied()) {
        let account = world.member(n);
        first.push(invited(&world, account, n, contended(link)));
        let keys = list(n, contended(link + 1));
        last.push(world.by(n, EntryBody::SetKeys { keys }));
    }
    for n in &users {
        for _ in 0..each {
            let to = world.member(1);
            bulk.push(pay(&mut world, *n, to, 1));
        }
    }
    let keys = list(2, contended(0));
    first.push(world.by(2, EntryBody::SetKeys { keys }));
    let mempool = ready(&world.state, [first, bulk, last].concat());
    assert_eq!(mempool.len(), 1 + 2 * links as usize + users.len() * each);
    (world, mempool)
}

#[test]
fn a_chain_of_accounts_whose_entries_shut_out_one_anothers_makes_no_block_miss_anything() {
    for (links, accounts, each) in [(1, 30, 70), (12, 30, 70), (24, 30, 70), (40, 44, 50)] {
        let (world, mempool) = chain_of(links, accounts, each);
        assert!(mempool.len() > BLOCK_ENTRIES);
        honest(&world, &mempool, &format!("{links} links"));
    }
}

/// A buy that names as many offers as it may, so that it is large.
fn large_buy(world: &mut World, n: u8) -> Arc<Authentic> {
    let offer = |i: usize| OfferId([i as u8; 32]);
    let buy = Buy {
        parts: vec![BuyPart {
            offers: (0..OFFERS_PER_ACCOUNT).map(offer).collect(),
            ..BuyPart::anywhere(world.class, 1)
        }],
        work: Hash32([world.fresh() as u8; 32]),
        stands_until: 1_000 + world.fresh(),
        ..world.one(1, 10)
    };
    world.by(n, EntryBody::Buy(buy))
}

#[test]
fn no_honest_block_misses_anything_whatever_is_shut_out_among_more_than_it_holds() {
    for seed in 0..8 {
        let mut dice = Dice(seed);
        let (mut world, users) = users(20 + dice.below(20) as u8);
        let mut mempool = Mempool::new();
        while mempool.len() < BLOCK_ENTRIES + 400 {
            let n = users[dice.below(users.len() as u64) as usize];
            let other = users[dice.below(users.len() as u64) as usize];
            let account = world.member(n);
            let keys = list(n, contended(dice.below(40) as u8));
            let entry = match dice.below(100) {
                0..=4 => invited(&world, account, n, contended(dice.below(40) as u8)),
                5..=9 => world.by(n, EntryBody::SetKeys { keys }),
                10..=14 if other != n => whole_balance(&mut world, n, other),
                15..=24 => large_buy(&mut world, n),
                25 => world.by(
                    n,
                    EntryBody::CloseAccount {
                        to: world.member(1),
                    },
                ),
                _ => {
                    let to = world.member(other % 4 + 1);
                    pay(&mut world, n, to, 1 + dice.below(3_000))
                }
            };
            mempool.push(entry);
        }
        let mempool = ready(&world.state, mempool);
        assert!(mempool.len() > BLOCK_ENTRIES);
        honest(&world, &mempool, &format!("seed {seed}"));
        world.block(mempool);
        assert!(!world.left_out.is_empty());
    }
}

#[test]
fn a_block_that_its_bytes_fill_is_shared_out_evenly_and_misses_nothing() {
    let (mut world, users) = users(130);
    let mut mempool = Mempool::new();
    for _ in 0..ORDERS_PER_ACCOUNT_CLASS + 3 {
        for n in &users {
            mempool.push(large_buy(&mut world, *n));
        }
    }
    let to = world.member(3);
    let small = pay(&mut world, 2, to, 7);
    mempool.push(small.clone());
    let mempool = ready(&world.state, mempool);
    let taken = honest(&world, &mempool, "large buys");
    let bytes: usize = taken.iter().map(|e| e.signed_bytes()).sum();
    assert!(taken.len() < BLOCK_ENTRIES && bytes + SIGNED_ENTRY_BYTES > BLOCK_ENTRIES_BYTES);
    assert!(bytes <= BLOCK_ENTRIES_BYTES);
    assert!(taken.iter().any(|e| e.id() == small.id()));
    let mut shares = shares(&taken);
    assert_eq!(shares.remove(&world.member(2)), Some(1));
    let (least, most) = (shares.values().min(), shares.values().max());
    assert!(most.unwrap() - least.unwrap() <= 1, "{shares:?}");
    // An account that the quota of its orders stops leaves its room to others.
    world.block(mempool.clone());
    let mempool = ready(&world.state, mempool);
    honest(&world, &mempool, "the rest of the buys");
    world.block(mempool);
    let quota = |(_, refusal): &(EntryId, Refusal)| matches!(refusal, Refusal::OrderQuota { .. });
    assert!(world.left_out.iter().any(quota));
}

#[test]
fn of_more_than_a_block_holds_the_oldest_entries_of_each_account_come_first() {
    let (mut world, users) = users(32);
    let mut mempool = Mempool::new();
    for _ in 0..90 {
        for n in &users {
            let to = world.member(1);
            mempool.push(pay(&mut world, *n, to, 1));
        }
    }
    let taken: Vec<EntryId> = honest(&world, &mempool, "no refusals")
        .iter()
        .map(|e| e.id())
        .collect();
    assert_eq!(taken.len(), BLOCK_ENTRIES);
    // They came round by round, so the oldest of all are just those that have a share.
    assert!(
        mempool[..BLOCK_ENTRIES]
            .iter()
            .all(|e| taken.contains(&e.id()))
    );
}

#[test]
fn houses_take_turns_and_each_account_has_its_own_entries_by_kind() {
    let mut world = World::new();
    let mut mempool = Mempool::new();
    for n in 1..=4 {
        for _ in 0..3 {
            let to = world.member(1 + n % 4);
            mempool.push(pay(&mut world, n, to, 1));
        }
        let keys = list(n, 40 + n);
        mempool.push(world.by(n, EntryBody::SetKeys { keys }));
    }
    let block = proposed(&world, &mempool);
    let accounts: Vec<AccountId> = block.entries().iter().map(|e| e.entry().account).collect();
    assert_eq!(accounts.len(), mempool.len());
    for turn in accounts.chunks(4) {
        assert_eq!(turn, &accounts[..4], "the same order in each turn");
    }
    let new_keys = |e: &Arc<Authentic>| matches!(e.entry().body, EntryBody::SetKeys { .. });
    assert!(block.entries()[..4].iter().all(new_keys));
    // Neither may an account take two turns at once, nor its own entries come in another order.
    for (one, other) in [(1, 4), (4, 8)] {
        let swapped = |b: &mut gridbay_protocol::block::Block| {
            b.entries.swap(one, other);
            let ids: Vec<_> = b.entries.iter().map(|e| e.id().0).collect();
            b.header.entries_root = Hash32(gridbay_ledger::log::merkle_root(&ids));
        };
        let refusal = world.tampered(mempool.clone(), swapped);
        assert!(
            matches!(refusal, Err(BlockRefusal::Order(_))),
            "{refusal:?}"
        );
    }
}

#[test]
fn an_entry_of_the_last_kind_has_its_turn_among_the_first() {
    let (mut world, users) = users(31);
    let mut own = Mempool::new();
    for n in users[..30].iter().cycle().take(BLOCK_ENTRIES + 30) {
        let to = world.member(1);
        own.push(pay(&mut world, *n, to, 1));
    }
    let to = world.member(1);
    let last = world.by(users[30], EntryBody::CloseAccount { to });
    let full = proposed(&world, &own);
    assert_eq!(full.entries().len(), BLOCK_ENTRIES);
    assert_eq!(
        world.twin.missing(&full, std::slice::from_ref(&last)),
        [last.id()]
    );
    own.push(last.clone());
    let taken = honest(&world, &own, "the last kind");
    assert!(taken[..32].iter().any(|e| e.id() == last.id()));
}

#[test]
fn a_member_gains_no_part_of_a_block_by_opening_accounts() {
    let mut world = World::with(Policy {
        accounts_per_member: 200,
        ..policy()
    });
    let crowd: Vec<u8> = (0..150).map(|_| world.tenant(1, 5_000)).collect();
    let lone = world.tenant(2, 20_000);
    let mut mempool = Mempool::new();
    for n in crowd.iter().cycle().take(BLOCK_ENTRIES * 2) {
        let to = world.member(1);
        mempool.push(pay(&mut world, *n, to, 1));
    }
    for _ in 0..64 {
        let to = world.member(2);
        mempool.push(pay(&mut world, lone, to, 1));
    }
    let mempool = ready(&world.state, mempool);
    let taken = honest(
        &world,
        &mempool,
        "a house of 150 accounts and one of a single one",
    );
    assert_eq!(taken.len(), BLOCK_ENTRIES);
    let mut shares = shares(&taken);
    assert_eq!(shares.remove(&world.member(lone)), Some(64));
    let (least, most) = (shares.values().min(), shares.values().max());
    assert!(most.unwrap() - least.unwrap() <= 1, "{shares:?}");
    // A proposer of the same house that leaves the other's entries out is seen through.
    let own: Mempool = mempool[..mempool.len() - 64].to_vec();
    let full = proposed(&world, &own);
    assert_eq!(full.entries().len(), BLOCK_ENTRIES);
    assert_eq!(world.twin.missing(&full, &mempool).len(), 64);
}

#[test]
fn nobody_crowds_an_opening_of_its_own_out() {
    let (mut world, users) = users(30);
    let end_round = |world: &mut World| {
        let calendar = world.state.calendar();
        let last = calendar.last_of_round(calendar.round(world.state.height()));
        if last > world.state.height() {
            world.until(last);
        }
    };
    end_round(&mut world);
    let wish = bid(&world, &[(1, 10)], 1);
    let commit = world.commit(1, &wish, 2);
    world.all(vec![commit.clone()]);
    end_round(&mut world);
    let opening = world.open(1, &commit, &wish);
    let mut mempool = vec![opening.clone()];
    for n in [1].iter().chain(&users) {
        for _ in 0..100 {
            let to = world.member(2);
            mempool.push(pay(&mut world, *n, to, 1));
        }
    }
    let mempool = ready(&world.state, mempool);
    assert!(mempool.iter().any(|e| e.id() == opening.id()));
    let taken = honest(&world, &mempool, "an opening");
    assert_eq!(taken.len(), BLOCK_ENTRIES);
    assert!(taken.iter().any(|e| e.id() == opening.id()));
}
