//! Inclusion as a property over random mempools: a block that an honest proposer makes of all
//! entries that it knows misses nothing that any judge knows, if the judge was told no more; and a
//! censor's block is seen through, full or not.

use crate::deadline;
use crate::model::Dice;
use crate::trade::bid;
use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::{CheckedBlock, State};
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::account::Roles;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, EntryId, Hash32};
use gridbay_protocol::limits::{BLOCK_ENTRIES, BLOCK_ENTRIES_BYTES, SIGNED_ENTRY_BYTES};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) type Mempool = Vec<Arc<Authentic>>;

/// A world with eight accounts besides the members', 5 to 12, and few seats for more.
fn crowd(openings: u32) -> World {
    let mut world = World::with(Policy {
        accounts_per_member: 2 + openings,
        ..policy()
    });
    for sponsor in [1, 1, 2, 2, 3, 3, 4, 4] {
        world.tenant(sponsor, 10_000);
    }
    world
}

pub(crate) fn pay(world: &mut World, from: u8, to: AccountId, micros: u64) -> Arc<Authentic> {
    let mut memo = Hash32::default();
    memo.0[..8].copy_from_slice(&world.fresh().to_le_bytes());
    let amount = credits(micros);
    world.by(from, EntryBody::Transfer { to, amount, memo })
}

/// All that an account has, sent to another: of many such entries of one account few take effect.
pub(crate) fn whole_balance(world: &mut World, from: u8, to: u8) -> Arc<Authentic> {
    let has = world.balance(Purse::Account(world.member(from)));
    let to = world.member(to);
    pay(world, from, to, has.max(1) as u64)
}

pub(crate) fn list(key_of: u8, also: u8) -> Vec<AccountKey> {
    let mut keys = all_roles(&key(key_of));
    if also != key_of {
        keys.push(AccountKey {
            key: key(also).public(),
            roles: Roles::ALL,
        });
    }
    keys.sort_by_key(|k| k.key);
    keys
}

/// One entry of any kind that contends with others: for money, keys, seats, places in a round.
fn contender(world: &mut World, dice: &mut Dice) -> Arc<Authentic> {
    let n = 1 + dice.below(12) as u8;
    let other = 1 + (n + dice.below(11) as u8) % 12;
    match dice.below(10) {
        0..=2 => {
            let to = world.member(other);
            let micros = 1 + dice.below(6_000);
            pay(world, n, to, micros)
        }
        3..=5 => whole_balance(world, n, other),
        6 => {
            let keys = list(n, 30 + dice.below(3) as u8);
            world.by(n, EntryBody::SetKeys { keys })
        }
        7 => {
            let member = 1 + dice.below(4) as u8;
            let keys = list(30 + dice.below(3) as u8, 33 + dice.below(3) as u8);
            let endowment = credits(dice.below(3_000));
            let grant = None;
            world.by(
                member,
                EntryBody::OpenAccount {
                    grant,
                    keys,
                    endowment,
                },
            )
        }
        8 => {
            let wish = bid(world, &[(1 + dice.below(3) as u32, 20)], 2);
            world.commit(n, &wish, dice.below(8) as u8)
        }
        _ => {
            let label = dice.below(40) as u32;
            world.offer(n, label, 1 + dice.below(90) as u32, 10, None)
        }
    }
}

/// The part of a mempool that a host holds as ready.
pub(crate) fn ready(state: &State, mempool: Mempool) -> Mempool {
    let mut seen = BTreeSet::new();
    let ready = |e: &Arc<Authentic>| seen.insert(e.id()) && state.admit(e).is_ok();
    mempool.into_iter().filter(ready).collect()
}

/// The block that a proposer makes of a mempool, as a judge has it before it. It costs one look at
/// each entry, or two if not all fit.
pub(crate) fn proposed(world: &World, mempool: &Mempool) -> CheckedBlock {
    let made = world.state.propose(world.draft(mempool.clone()));
    let bytes: usize = mempool.iter().map(|e| e.signed_bytes()).sum();
    if mempool.len() < BLOCK_ENTRIES && bytes + SIGNED_ENTRY_BYTES < BLOCK_ENTRIES_BYTES {
        assert_eq!(made.looks, mempool.len());
    }
    assert!(made.looks <= 2 * mempool.len(), "{} looks", made.looks);
    let block = made.block;
    let bytes = block.block().encode();
    let body = gridbay_protocol::block::Block::decode(&bytes).unwrap();
    let checked = CheckedBlock::check(&world.network, body, |_, _| None).unwrap();
    world.twin.execute(&checked).unwrap();
    checked
}

fn ids(block: &CheckedBlock) -> BTreeSet<EntryId> {
    block.entries().iter().map(|e| e.id()).collect()
}

/// An honest proposer misses nothing; one that leaves out an entry that it took is seen.
fn honest_passes_and_censor_does_not(
    world: &World,
    mempool: &Mempool,
    dice: &mut Dice,
) -> CheckedBlock {
    let block = proposed(world, mempool);
    assert_eq!(world.twin.missing(&block, mempool), []);
    let some = |e: &&Arc<Authentic>| e.id().0[0].is_multiple_of(2);
    let subset: Mempool = mempool.iter().filter(some).cloned().collect();
    assert_eq!(world.twin.missing(&block, &subset), []);
    let taken: Vec<EntryId> = ids(&block).into_iter().collect();
    if taken.len() + 100 < BLOCK_ENTRIES
        && let Some(hated) = dice.pick(&taken)
    {
        let rest: Mempool = mempool
            .iter()
            .filter(|e| e.id() != hated)
            .cloned()
            .collect();
        let censored = proposed(world, &rest);
        assert!(world.twin.missing(&censored, mempool).contains(&hated));
    }
    block
}

#[test]
fn an_honest_block_passes_every_judge_whatever_contends_in_the_pool() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let mut world = crowd(dice.below(3) as u32);
        for _ in 0..3 {
            let entries = dice.below(120);
            let mempool: Mempool = (0..entries)
                .map(|_| contender(&mut world, &mut dice))
                .collect();
            let mempool = ready(&world.state, mempool);
            honest_passes_and_censor_does_not(&world, &mempool, &mut dice);
            world.block(mempool);
        }
    }
}

#[test]
fn a_block_with_the_last_seats_at_an_offer_passes() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mut world = deadline::seller(0);
        let tenants: Vec<u8> = [1, 1, 2, 2, 3, 3]
            .into_iter()
            .map(|sponsor| world.tenant(sponsor, 50_000))
            .collect();
        world.until(world.state.height() + 2 + seed % 6);
        let mut mempool = Mempool::new();
        for n in tenants.into_iter().chain(2..=4) {
            for work in 1..=3 {
                let job = deadline::job(&world, work, (4, 8), (2_000 + dice.below(900), 500));
                mempool.push(world.by(n, EntryBody::Deadline(job)));
            }
        }
        let mempool = ready(&world.state, mempool);
        let block = honest_passes_and_censor_does_not(&world, &mempool, &mut dice);
        assert!(block.entries().len() < mempool.len(), "seats are short");
    }
}

#[test]
fn more_than_a_block_holds_is_shared_out_and_passes() {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let mut world = crowd(4);
        let mut mempool = Mempool::new();
        for n in 1..=12u8 {
            let many = [3, 40, 300, 500][dice.below(4) as usize];
            for _ in 0..many {
                let to = world.member(1 + n % 12);
                mempool.push(pay(&mut world, n, to, 1));
            }
        }
        while mempool.len() < BLOCK_ENTRIES + 300 {
            mempool.push(contender(&mut world, &mut dice));
        }
        let mempool = ready(&world.state, mempool);
        let block = proposed(&world, &mempool);
        assert_eq!(world.twin.missing(&block, &mempool), [], "seed {seed}");
    }
}

/// Four pairs send all they have to each other, 500 times each; members wait behind them.
fn conspiracy() -> (World, Mempool, Mempool) {
    let mut world = crowd(0);
    let (mut old, mut honest) = (Mempool::new(), Mempool::new());
    for n in (5..=12).cycle().take(8 * 300) {
        let partner = if n % 2 == 0 { n - 1 } else { n + 1 };
        old.push(whole_balance(&mut world, n, partner));
    }
    for n in (1..=4).cycle().take(40) {
        let to = world.member(1 + n % 4);
        honest.push(pay(&mut world, n, to, 7));
    }
    (world, old, honest)
}

#[test]
fn accounts_whose_entries_exclude_one_another_keep_nobody_out() {
    let (world, old, honest) = conspiracy();
    let mempool = ready(&world.state, [old, honest.clone()].concat());
    assert!(mempool.len() > BLOCK_ENTRIES);
    let block = proposed(&world, &mempool);
    let taken = ids(&block);
    assert!(honest.iter().all(|e| taken.contains(&e.id())));
    assert_eq!(world.twin.missing(&block, &mempool), []);
}

#[test]
fn an_account_that_opens_nothing_because_a_key_is_taken_before_it_is_not_missed() {
    let mut world = crowd(3);
    let takes = world.by(5, EntryBody::SetKeys { keys: list(5, 30) });
    let opens = EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&key(30)),
        endowment: credits(1),
    };
    let opens = world.by(2, opens);
    let mempool = ready(&world.state, vec![takes.clone(), opens.clone()]);
    assert_eq!(mempool.len(), 2, "each alone is admitted");
    let block = proposed(&world, &mempool);
    assert_eq!(ids(&block), BTreeSet::from([takes.id()]));
    assert_eq!(world.twin.missing(&block, &mempool), []);
    // Without the other entry it would be.
    let empty = proposed(&world, &Mempool::new());
    assert_eq!(world.twin.missing(&empty, &mempool).len(), 2);
    world.block(mempool);
}

#[test]
fn a_censor_that_fills_the_block_itself_is_seen_through() {
    let mut world = crowd(0);
    let mut own = Mempool::new();
    for n in (5..=9).cycle().take(BLOCK_ENTRIES) {
        let to = world.member(1);
        own.push(pay(&mut world, n, to, 1));
    }
    let to = world.member(1);
    let hated = pay(&mut world, 2, to, 5);
    let full = proposed(&world, &own);
    assert_eq!(full.entries().len(), BLOCK_ENTRIES);
    let known = vec![hated.clone()];
    assert_eq!(world.twin.missing(&full, &known), [hated.id()]);
    // An honest proposer gives it its place, though 2,000 others have waited longer.
    own.push(hated.clone());
    let block = proposed(&world, &own);
    assert!(ids(&block).contains(&hated.id()));
    assert_eq!(world.twin.missing(&block, &own), []);
}
