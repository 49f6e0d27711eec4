//! The bank's policies on whole chains, with figures worked out by hand, and the ways around them
//! that were found.
//!
//! Slots have 8 heights. Four members with shares 1, 1, 1 and 2 and 1,000 micro-credits per weight;
//! profits are shared at every boundary, and a quarter of the savings is taxed every 32 heights.

use crate::reserving::wish;
use crate::trade::bid;
use crate::world::{World, all_roles, credits, genesis, key, policy};
use gridbay_ledger::bank::Way;
use gridbay_protocol::account::opened_by;
use gridbay_protocol::bank::{BankPolicy, Preset, Redistribution, Revenue, SavingsTax};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{AccountId, EntryId, Hash32, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Credits;
use std::sync::Arc;

/// A preset with the small figures of these tests.
pub(crate) fn small(preset: Preset) -> BankPolicy {
    let mut bank = preset.policy(250);
    if bank.weighs() {
        bank.baseline = credits(1_000);
        bank.shares = 1;
    }
    if let Revenue::Shares { every } = &mut bank.revenue {
        *every = 8;
    }
    bank.tax = bank.tax.map(|tax| SavingsTax {
        ppm: 250_000,
        every: 32,
        ..tax
    });
    bank
}

/// The usual four members, the last of double weight, each with its baseline or, under `owners`,
/// with as much.
pub(crate) fn founded(bank: BankPolicy) -> Genesis {
    let mut genesis = genesis(Policy { bank, ..policy() });
    for member in &mut genesis.members {
        let double = member.name == "member4";
        member.weight = if double && bank.weighs() { 2 } else { 1 };
        member.endowment = credits(if double { 2_000 } else { 1_000 });
    }
    genesis
}

pub(crate) fn world(bank: BankPolicy) -> World {
    World::founded(founded(bank))
}

/// An account that owes tax on frozen money has nothing free above its baseline.
pub(crate) fn check_arrears(world: &World) {
    for (id, _) in world.state.accounts() {
        let balance = world.state.balance(id);
        let base = world.state.standing(id).base.micros() as i64;
        let all = balance.free + balance.escrow.micros() as i64;
        let owes = balance.arrears > credits(0);
        assert!(!owes || balance.free <= 0 || all <= base, "{balance:?}");
    }
}

/// Mirage's bank with the members' money as their baseline, sharing profits at every boundary.
pub(crate) fn million() -> BankPolicy {
    let mut bank = BankPolicy::mirage(250);
    bank.baseline = credits(1_000_000);
    bank.revenue = Revenue::Shares { every: 8 };
    bank.tax = bank.tax.map(|tax| SavingsTax { every: 24, ..tax });
    bank
}

/// A reason that only some banks know, or any other.
pub(crate) fn posted(reason: Reason) -> &'static str {
    match reason {
        Reason::Profit => "profit",
        Reason::Tax => "tax",
        Reason::Relief => "relief",
        Reason::Revenue => "revenue",
        Reason::Earning => "earning",
        _ => "posting",
    }
}

fn sum(world: &World, reason: Reason) -> u64 {
    let postings = world.effects.iter().filter_map(|effect| match effect {
        Effect::Posting(p) if p.reason == reason => Some(p.amount.micros()),
        _ => None,
    });
    postings.sum()
}

fn balances(world: &World) -> [i128; 4] {
    [1, 2, 3, 4].map(|n| world.account(n))
}

fn treasury(world: &World) -> i128 {
    world.balance(Purse::Bank)
}

pub(crate) fn transfer(world: &mut World, from: u8, to: AccountId, micros: u64) -> Arc<Authentic> {
    let memo = Hash32([world.fresh() as u8; 32]);
    let amount = credits(micros);
    world.by(from, EntryBody::Transfer { to, amount, memo })
}

/// An account that member `n` opens for the holder of key `by`.
fn opening(world: &World, n: u8, by: u8, micros: u64) -> Arc<Authentic> {
    let body = EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&key(by)),
        endowment: credits(micros),
    };
    world.by(n, body)
}

fn opened(entry: &EntryId) -> Purse {
    Purse::Account(opened_by(entry))
}

/// Member 2 rents a unit of member 1 for a slot, for its reserve of 30. Settled at height 24.
fn one_rental(world: &mut World) {
    let offer = world.offer(1, 0, 1, 30, None);
    world.all(vec![offer]);
    world.until(9);
    let wish = bid(world, &[(1, 50)], 1);
    let orders = world.bids(&[(2, wish)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(24);
}

/// A bid of member `n` that freezes `micros` and finds no units.
fn freeze(world: &mut World, n: u8, micros: u64) -> OrderId {
    let wish = bid(world, &[(1, micros)], 1);
    world.bids(&[(n, wish)])[0]
}

#[test]
fn mirage_by_hand() {
    let mut world = world(small(Preset::Mirage));
    one_rental(&mut world);
    // 30 paid, by shares 1, 1, 1 and 2 of 5.
    assert_eq!(sum(&world, Reason::Earning), 0);
    assert_eq!(sum(&world, Reason::Revenue), 30);
    assert_eq!(sum(&world, Reason::Profit), 30);
    assert_eq!(balances(&world), [1_006, 976, 1_006, 2_012]);
    // A quarter of 6, 6 and 12, rounded down; 5 in all for the one who lacks 24.
    world.until(32);
    assert_eq!(balances(&world), [1_005, 981, 1_005, 2_009]);
    assert_eq!(
        (sum(&world, Reason::Tax), sum(&world, Reason::Relief)),
        (5, 5)
    );
    assert_eq!(treasury(&world), 0);
}

#[test]
fn what_bookings_pay_is_shared_like_all_else() {
    let mut world = world(small(Preset::Mirage));
    let offer = world.reservable(1, 1, 2, 10);
    world.all(vec![offer]);
    world.until(9);
    let (runs, given_up) = (
        wish(&world, 1, 2, (3, 9), 41),
        wish(&world, 1, 2, (3, 9), 40),
    );
    let orders = world.bids(&[(2, runs), (3, given_up)]);
    world.until(16);
    let cancel = world.by(3, EntryBody::Cancel { order: orders[1] });
    world.all(vec![cancel]);
    assert_eq!(sum(&world, Reason::Cancellation), 20);
    world.until(24);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(40);
    assert_eq!(sum(&world, Reason::Earning), 0);
    assert_eq!(sum(&world, Reason::Revenue), 41);
    assert!(sum(&world, Reason::Profit) >= 61);
    let sales = world.state.prices(&world.class).unwrap();
    assert!(sales.period.contains_key(&Way::Reservation));
}

#[test]
fn bellagio_by_hand() {
    let mut world = world(small(Preset::Bellagio));
    one_rental(&mut world);
    assert_eq!(balances(&world), [1_030, 970, 1_000, 2_000]);
    world.until(32);
    // A quarter of 30.
    assert_eq!(balances(&world), [1_023, 977, 1_000, 2_000]);
    assert_eq!(sum(&world, Reason::Revenue), 0);
}

#[test]
fn owners_by_hand() {
    let mut world = world(small(Preset::Owners));
    one_rental(&mut world);
    world.until(64);
    assert_eq!(balances(&world), [1_030, 970, 1_000, 2_000]);
    assert_eq!(sum(&world, Reason::Tax) + sum(&world, Reason::Profit), 0);
}

#[test]
fn all_get_the_tax_by_their_shares() {
    let mut bank = small(Preset::Bellagio);
    bank.tax = bank.tax.map(|tax| SavingsTax {
        mode: Redistribution::All,
        ..tax
    });
    let mut world = world(bank);
    let to = world.member(1);
    let gift = transfer(&mut world, 2, to, 400);
    world.all(vec![gift]);
    world.until(32);
    // 100 of 400, by shares 1, 1, 1 and 2 of 5.
    assert_eq!(balances(&world), [1_320, 620, 1_020, 2_040]);
}

#[test]
fn a_pool_that_nobody_needs_waits() {
    let mut world = world(small(Preset::Bellagio));
    let gift = opening(&world, 1, 20, 100);
    world.all(vec![gift.clone()]);
    world.until(32);
    // The opened account pays from the first micro-credit. Its sponsor has given 100 away but
    // answers for 75 of them: it lacks 25.
    assert_eq!(world.balance(opened(&gift.id())), 75);
    assert_eq!((world.account(1), treasury(&world)), (925, 0));
    let gift = opening(&world, 4, 21, 400);
    world.all(vec![gift]);
    let lavish = world.member(4);
    let back = transfer(&mut world, 1, lavish, 1);
    world.all(vec![back]);
    world.until(64);
    assert_eq!(world.model.values().sum::<i128>(), 5_000);
}

#[test]
fn arrears_wait_for_the_thaw() {
    let mut world = world(small(Preset::Bellagio));
    let rich = world.member(2);
    let gift = transfer(&mut world, 3, rich, 400);
    world.all(vec![gift]);
    let order = freeze(&mut world, 2, 1_400);
    assert_eq!(balances(&world), [1_000, 0, 600, 2_000]);
    world.until(32);
    // A quarter of what exceeds 1,000 is due, and nothing is free.
    assert_eq!(sum(&world, Reason::Tax), 0);
    assert_eq!(world.state.arrears(&rich), credits(100));
    assert_eq!(world.state.balance(&rich).arrears, credits(100));
    let cancel = world.by(2, EntryBody::Cancel { order });
    world.all(vec![cancel]);
    assert_eq!(world.account(2), 1_300);
    assert_eq!(sum(&world, Reason::Arrears), 100);
    assert_eq!(
        (world.state.arrears(&rich), treasury(&world)),
        (Credits::ZERO, 100)
    );
    // A quarter of 300 more, and all of it for the one in need.
    world.until(64);
    assert_eq!(balances(&world), [1_000, 1_225, 775, 2_000]);
}

#[test]
fn arrears_are_taken_of_any_money_that_comes_in_and_no_more_than_comes_in() {
    let mut world = world(small(Preset::Bellagio));
    let rich = world.member(2);
    let gift = transfer(&mut world, 3, rich, 400);
    world.all(vec![gift]);
    freeze(&mut world, 2, 1_400);
    world.until(32);
    let gift = transfer(&mut world, 4, rich, 30);
    world.all(vec![gift]);
    assert_eq!(world.account(2), 0);
    assert_eq!(world.state.arrears(&rich), credits(70));
    let gift = transfer(&mut world, 4, rich, 100);
    world.all(vec![gift]);
    assert_eq!(world.account(2), 30);
    assert_eq!(world.state.arrears(&rich), Credits::ZERO);
}

/// An account that freezes all its money before every tax pays no less than one that does not.
#[test]
fn freezing_evades_nothing() {
    let run = |evade: bool| {
        let mut world = world(small(Preset::Bellagio));
        let rich = world.member(2);
        let gift = transfer(&mut world, 3, rich, 800);
        world.all(vec![gift]);
        for period in 1..=8u64 {
            world.until(32 * period - 7);
            let free = world.account(2) as u64;
            let order = evade.then(|| freeze(&mut world, 2, free));
            world.until(32 * period);
            if let Some(order) = order {
                let cancel = world.by(2, EntryBody::Cancel { order });
                world.all(vec![cancel]);
            }
        }
        world.account(2)
    };
    // 800 of savings, less a quarter eight times: 1,081.
    assert_eq!((run(false), run(true)), (1_081, 1_081));
}

/// Four taxes while member 4 saves 8,000 and member 1, with `savings` above its baseline, keeps its
/// money at home or in two accounts that it opens. Returns its money at home, and the parked money.
fn parking(savings: u64, park: bool) -> (i128, i128) {
    let mut genesis = founded(small(Preset::Bellagio));
    genesis.members[0].endowment = credits(1_000 + savings);
    genesis.members[3].endowment = credits(10_000);
    let mut world = World::founded(genesis);
    let half = (1_000 + savings) / 2;
    let entries: Vec<_> = (20..22).map(|k| opening(&world, 1, k, half)).collect();
    let parked: Vec<Purse> = entries.iter().map(|e| opened(&e.id())).collect();
    if park {
        world.all(entries);
    }
    world.until(32 * 4);
    let hidden: i128 = parked.iter().map(|purse| world.balance(*purse)).sum();
    (world.account(1), hidden)
}

/// Money parked in accounts that a member opened is taxed there from the first micro-credit, and
/// the member that looks poor by it is helped only as far as it is.
#[test]
fn tax_parking_gains_nothing() {
    // 600 of savings, less a quarter four times. Parked, all 1,600 are taxed, and what is lost
    // below the baseline returns.
    assert_eq!(parking(600, false), (1_191, 0));
    assert_eq!(parking(600, true), (492, 508));
    // Nothing to tax at home. Parked, a quarter of it is lost and returns at every tax.
    assert_eq!(parking(0, false), (1_000, 0));
    assert_eq!(parking(0, true), (682, 318));
}

/// Opening accounts mints nothing, now or at any sharing, tax or relief.
#[test]
fn empty_invited_accounts_get_nothing() {
    let run = |open: bool| {
        let mut world = world(small(Preset::Mirage));
        if open {
            let entries: Vec<_> = (20..23).map(|k| opening(&world, 3, k, 0)).collect();
            world.all(entries);
        } else {
            world.until(1);
        }
        one_rental_after(&mut world);
        world.until(64);
        let accounts = world.state.accounts().map(|(id, _)| *id);
        let strangers = accounts.filter(|id| (1..=4).all(|n| world.member(n) != *id));
        let held: Vec<i128> = strangers
            .map(|id| world.balance(Purse::Account(id)))
            .collect();
        (balances(&world), held)
    };
    let (without, nobody) = run(false);
    let (with, empty) = run(true);
    assert_eq!((with, nobody.len()), (without, 0));
    assert_eq!(empty, [0, 0, 0]);
    assert_eq!(without, [1_004, 985, 1_004, 2_007]);
}

/// As [`one_rental`], one block later.
fn one_rental_after(world: &mut World) {
    assert_eq!(world.state.height(), 1);
    one_rental(world);
}
