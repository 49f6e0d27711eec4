//! More bids than a class may hold.

use crate::trade::{SALT, bid};
use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::account::opened_by;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits;
use gridbay_protocol::order::{Bid, Commit, Open, order_of};
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// An account that member 2 opened, and its key.
struct Tenant {
    account: AccountId,
    key: SecretKey,
}

/// Accounts that member 2 opened, each with a key of its own and 1,000 micro-credits.
fn tenants(world: &mut World, count: usize) -> Vec<Tenant> {
    let own = |n: usize| key(100 + n as u8);
    let open = |n: usize| EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&own(n)),
        endowment: credits(1_000),
    };
    let entries: Vec<_> = (0..count).map(|n| world.by(2, open(n))).collect();
    world.all(entries.clone());
    let tenant = |(n, entry): (usize, &Arc<Authentic>)| Tenant {
        account: opened_by(&entry.id()),
        key: own(n),
    };
    entries.iter().enumerate().map(tenant).collect()
}

fn commit(world: &World, tenant: &Tenant, bid: &Bid) -> Arc<Authentic> {
    let commit = Commit {
        class: bid.class,
        seal: bid.seal(&world.network, &tenant.account, &SALT),
        bracket: 2,
    };
    world.sign(tenant.account, &tenant.key, EntryBody::Commit(commit))
}

fn open(world: &World, tenant: &Tenant, commit: &Arc<Authentic>, bid: &Bid) -> Arc<Authentic> {
    let open = Open {
        commit: commit.id(),
        wish: bid.clone().into(),
        salt: SALT,
    };
    world.sign(tenant.account, &tenant.key, EntryBody::Open(open))
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

/// Another member has its part.
fn opened_by_another(world: &mut World, whole: &Bid) {
    let orders = world.bids(&[(3, whole.clone())]);
    let order = world.state.order(&orders[0]);
    assert!(order.is_some_and(|order| order.bid().is_some()));
}

#[test]
fn all_or_none_bids_of_a_class_are_bounded_and_one_member_leaves_others_their_part() {
    let (limit, each) = (
        limits::ALL_OR_NONE_PER_CLASS,
        limits::ORDERS_PER_ACCOUNT_CLASS,
    );
    // Four members, each with a part for itself and one for its accounts: 512 / 16 bids.
    let part = limit / 16;
    let most = limit - 7 * part;
    let accounts_per_member = 100;
    let mut world = World::with(Policy {
        accounts_per_member,
        ..policy()
    });
    let tenants = tenants(&mut world, most / each + 1);
    let (late, crowd) = tenants.split_last().unwrap();
    // Nothing is for sale, so all that is opened stands.
    let mut commits = vec![];
    for n in 0..each {
        let pair = pair(&world, n);
        commits = crowd.iter().map(|t| commit(&world, t, &pair)).collect();
        world.all(commits.clone());
        end_round(&mut world);
        let sealed = crowd.iter().zip(&commits);
        let opens = sealed.map(|(t, c)| open(&world, t, c, &pair)).collect();
        world.all(opens);
    }
    assert_eq!(world.state.orders().count(), most);
    let (whole, any) = (pair(&world, 0), bid(&world, &[(2, 0)], 1));
    let sealed = commit(&world, late, &whole);
    world.all(vec![sealed.clone()]);
    end_round(&mut world);
    let opened = open(&world, late, &sealed, &whole);
    let class = world.class;
    let full = Refusal::AllOrNoneQuota { class, limit };
    assert_eq!(world.refused(opened.clone()), full);
    assert!(full.may_pass_later() && !full.hint().is_empty());
    opened_by_another(&mut world, &whole);
    let sealed = commit(&world, late, &whole);
    world.all(vec![sealed.clone()]);
    end_round(&mut world);
    let opened = open(&world, late, &sealed, &whole);
    // One leaves: there is room for one again.
    let gone = order_of(&commits[0].id());
    let owner = &crowd[0];
    let cancel = world.sign(owner.account, &owner.key, EntryBody::Cancel { order: gone });
    world.all(vec![cancel]);
    world.all(vec![opened]);
    // A bid that leaves a choice above its minimum needs the room of several.
    end_round(&mut world);
    let gone = order_of(&commits[1].id());
    let owner = &crowd[1];
    let cancel = world.sign(owner.account, &owner.key, EntryBody::Cancel { order: gone });
    let mut choosy = pair(&world, 1);
    choosy.steps[0].units = 3;
    let sealed = commit(&world, late, &choosy);
    world.all(vec![cancel, sealed.clone()]);
    end_round(&mut world);
    assert_eq!(
        world.refused(open(&world, late, &sealed, &choosy)),
        Refusal::AllOrNoneQuota { class, limit }
    );
    // Divisible bids do not count.
    end_round(&mut world);
    let sealed = commit(&world, late, &any);
    world.all(vec![sealed.clone()]);
    end_round(&mut world);
    let opened = open(&world, late, &sealed, &any);
    world.all(vec![opened]);
    assert_eq!(world.state.orders().count(), most + 1);
}
