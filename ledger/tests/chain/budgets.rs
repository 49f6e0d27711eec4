//! The budget of entries of one account in an epoch.

use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::entry_budget::{EntryBudget, EntryBudgets, KEY_RESERVE};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::limits::EPOCH_HEIGHTS;

const USERS: u32 = 64;

/// Users may put 64 entries into an epoch, members 100.
fn tight(bytes: u64) -> World {
    let member = EntryBudget {
        entries: 100,
        bytes: 1 << 20,
    };
    let user = EntryBudget {
        entries: USERS,
        bytes,
    };
    World::with(Policy {
        entries: EntryBudgets { member, user },
        ..policy()
    })
}

fn transfer(world: &World, to: u8, n: u64) -> EntryBody {
    let mut memo = [0; 32];
    memo[..8].copy_from_slice(&n.to_be_bytes());
    EntryBody::Transfer {
        to: world.member(to),
        amount: credits(1),
        memo: Hash32(memo),
    }
}

/// Transfers of an account in one block; how many took effect.
fn spam(world: &mut World, by: u8, count: u64) -> usize {
    let body = |world: &mut World| {
        let n = world.fresh();
        transfer(world, 3, n)
    };
    let entries = (0..count).map(|_| {
        let body = body(world);
        world.by(by, body)
    });
    let entries: Vec<_> = entries.collect();
    world.block(entries);
    for (_, refusal) in &world.left_out {
        assert!(matches!(refusal, Refusal::EntryBudget { .. }), "{refusal}");
    }
    count as usize - world.left_out.len()
}

#[test]
fn an_account_that_spent_its_budget_waits_for_the_next_epoch_and_others_go_on() {
    let mut world = tight(1 << 20);
    let user = world.tenant(2, 10_000);
    assert_eq!(spam(&mut world, user, 200), USERS as usize);
    let body = transfer(&world, 3, 1_000_000);
    let refusal = world.refused(world.by(user, body));
    assert!(
        matches!(refusal, Refusal::EntryBudget { entries: USERS, next, .. }
            if next == EPOCH_HEIGHTS + 1),
        "{refusal}"
    );
    assert!(refusal.may_pass_later());
    let (spent, budget) = (
        world.state.spent(&world.member(user)),
        world.state.entry_budget(&world.member(user)),
    );
    assert_eq!((spent.entries, budget.entries), (USERS, USERS));
    // A member has a budget of its own; opening the user's account took one entry of it.
    assert_eq!(spam(&mut world, 2, 120), 99);
    assert_eq!(spam(&mut world, 1, 10), 10);
    // The very first height of the next epoch counts anew, and no height before it.
    world.until(EPOCH_HEIGHTS - 1);
    let body = transfer(&world, 3, 1_000_001);
    world.refused(world.by(user, body));
    assert_eq!(world.state.height(), EPOCH_HEIGHTS);
    assert_eq!(world.state.spent(&world.member(user)).entries, 0);
    assert_eq!(spam(&mut world, user, 70), USERS as usize);
}

#[test]
fn bytes_count_as_well_as_entries() {
    let mut world = tight(8 << 10);
    let user = world.tenant(2, 10_000);
    let taken = spam(&mut world, user, 60);
    let spent = world.state.spent(&world.member(user));
    assert!(taken < 60 && spent.bytes <= 8 << 10, "{taken}: {spent:?}");
    let each = spent.bytes / taken as u64;
    assert!(spent.bytes + each > 8 << 10, "the budget is used up");
}

#[test]
fn what_answers_for_the_ledger_passes_and_so_do_new_keys() {
    let mut world = tight(1 << 20);
    let user = world.tenant(2, 10_000);
    world.until(12);
    let bid = crate::trade::bid(&world, &[(1, 20)], 1);
    let commit = world.commit(user, &bid, 0);
    world.all(vec![commit.clone()]);
    spam(&mut world, user, 100);
    let again = crate::trade::bid(&world, &[(1, 21)], 1);
    let refusal = world.refused(world.commit(user, &again, 0));
    assert!(matches!(refusal, Refusal::EntryBudget { .. }), "{refusal}");
    // A seal that could not be opened would cost its deposit.
    let calendar = world.state.calendar();
    let last = calendar.last_of_round(calendar.round(13));
    if world.state.height() < last {
        world.until(last);
    }
    let open = world.open(user, &commit, &bid);
    world.all(vec![open]);
    let spent = world.state.spent(&world.member(user));
    assert_eq!(spent.entries, USERS + 1, "it counts");
    // A thief who spent the budget with a stolen key, and more by what is owed, does not keep the
    // owner from changing keys.
    for n in 0..KEY_RESERVE {
        let keys = all_roles(&key(200 + n as u8));
        let by = if n == 0 { user } else { 199 + n as u8 };
        let entry = world.sign(world.member(user), &key(by), EntryBody::SetKeys { keys });
        world.all(vec![entry]);
    }
    let keys = all_roles(&key(user));
    let last = key(200 + KEY_RESERVE as u8 - 1);
    let entry = world.sign(world.member(user), &last, EntryBody::SetKeys { keys });
    let refusal = world.refused(entry);
    assert!(matches!(refusal, Refusal::EntryBudget { .. }), "{refusal}");
}
