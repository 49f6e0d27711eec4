//! More bids than a class may hold.

use crate::trade::{SALT, bid};
use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::account::opened_by;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::order::{Bid, Commit, Open, order_of};
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// Accounts that share member 2's key, each with 1,000 micro-credits.
fn tenants(world: &mut World, count: usize) -> Vec<AccountId> {
    let open = |n: usize| EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&key(2)),
        endowment: credits(1_000 + n as u64),
    };
    let entries: Vec<_> = (0..count).map(|n| world.by(2, open(n))).collect();
    world.all(entries.clone());
    entries.iter().map(|e| opened_by(&e.id())).collect()
}

fn commit(world: &World, account: AccountId, bid: &Bid) -> Arc<Authentic> {
    let commit = Commit {
        class: bid.class,
        seal: bid.seal(&world.network, &account, &SALT),
        bracket: 1,
    };
    world.sign(account, &key(2), EntryBody::Commit(commit))
}

fn open(world: &World, commit: &Arc<Authentic>, bid: &Bid) -> Arc<Authentic> {
    let open = Open {
        commit: commit.id(),
        bid: bid.clone(),
        salt: SALT,
    };
    world.sign(commit.entry().account, &key(2), EntryBody::Open(open))
}

/// Empty blocks to the end of the running round.
fn end_round(world: &mut World) {
    let calendar = world.state.calendar();
    let last = calendar.last_of_round(calendar.round(world.state.height()));
    if last > world.state.height() {
        world.until(last);
    }
}

/// Two units or nothing, worth nothing.
fn pair(world: &World, n: usize) -> Bid {
    let mut pair = bid(world, &[(2, 0)], 1);
    pair.min = 2;
    pair.work.0[0] = n as u8;
    pair
}

#[test]
fn all_or_none_bids_of_a_class_are_bounded() {
    let (limit, each) = (
        limits::ALL_OR_NONE_PER_CLASS,
        limits::ORDERS_PER_ACCOUNT_CLASS,
    );
    let accounts_per_member = 100;
    let mut world = World::with(Policy {
        accounts_per_member,
        ..policy()
    });
    let tenants = tenants(&mut world, limit / each + 1);
    let (late, crowd) = tenants.split_last().unwrap();
    // Nothing is for sale, so all that is opened stands.
    let mut commits = vec![];
    for n in 0..each {
        let pair = pair(&world, n);
        commits = crowd.iter().map(|a| commit(&world, *a, &pair)).collect();
        world.all(commits.clone());
        end_round(&mut world);
        let opens = commits.iter().map(|c| open(&world, c, &pair)).collect();
        world.all(opens);
    }
    assert_eq!(world.state.orders().count(), limit);
    let (whole, any) = (pair(&world, 0), bid(&world, &[(2, 0)], 1));
    let sealed = commit(&world, *late, &whole);
    world.all(vec![sealed.clone()]);
    end_round(&mut world);
    let opened = open(&world, &sealed, &whole);
    let class = world.class;
    let full = Refusal::AllOrNoneQuota { class, limit };
    assert_eq!(world.refused(opened.clone()), full);
    assert!(full.may_pass_later() && !full.hint().is_empty());
    // One leaves: there is room for one again.
    let gone = order_of(&commits[0].id());
    let owner = commits[0].entry().account;
    let cancel = world.sign(owner, &key(2), EntryBody::Cancel { order: gone });
    world.all(vec![cancel]);
    world.all(vec![opened]);
    // Divisible bids do not count.
    end_round(&mut world);
    let sealed = commit(&world, *late, &any);
    world.all(vec![sealed.clone()]);
    end_round(&mut world);
    let opened = open(&world, &sealed, &any);
    world.all(vec![opened]);
    assert_eq!(world.state.orders().count(), limit + 1);
}
