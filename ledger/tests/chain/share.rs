//! Pools and the claims on them. Heights and balances as in `market`; units have processors, memory
//! and disk.
//!
//! With a reserve of 48 a sixteenth of memory or disk costs at least 1, a processor at least 16 +
//! 2.

use crate::trade::{START, bid, clearings, lease_ends, money, order, order_ends, terms};
use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{Hash32, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{PoolTerms, Primary};
use gridbay_protocol::order::Claim;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

impl World {
    /// A pool of member 1.
    pub(crate) fn pool(&self, units: u32, cap_ppm: u32, sixteenths: u32) -> Arc<Authentic> {
        let mut terms = terms(self, 1, units, 48, None);
        terms.mechanism = Primary::Share(PoolTerms {
            cap_ppm,
            sixteenths,
        });
        self.by(1, EntryBody::SetOffer(terms))
    }
    fn claim(&self, n: u8, rate: u64) -> Arc<Authentic> {
        self.by(n, EntryBody::Share(claim(self.offer_of(1, 1), rate)))
    }
    /// A world with a pool in force; the next height is 5.
    fn with_pool(units: u32, cap_ppm: u32, sixteenths: u32) -> World {
        World::new().and_pool(units, cap_ppm, sixteenths)
    }
    fn and_pool(mut self, units: u32, cap_ppm: u32, sixteenths: u32) -> World {
        let pool = self.pool(units, cap_ppm, sixteenths);
        self.all(vec![pool]);
        self.until(4);
        self
    }
}

/// A claim without a preference.
pub(crate) fn claim(offer: OfferId, rate: u64) -> Claim {
    Claim {
        offer,
        rate: credits(rate),
        utility: Utility::Linear,
        weights: vec![1, 1, 1],
        tasks: 9,
        slots: 50,
        budget: credits(100_000),
        stands_until: 10_000,
        work: Hash32([3; 32]),
    }
}

fn sharings(effects: &[Effect]) -> Vec<Sharing> {
    let record = |effect: &Effect| match effect {
        Effect::Sharing(record) => Some(record.clone()),
        _ => None,
    };
    effects.iter().filter_map(record).collect()
}

#[test]
fn from_a_claim_to_a_settled_lease() {
    let mut world = World::with_pool(4, 500_000, 16);
    let claim = world.claim(2, 600);
    let id = order(&claim.id());
    assert_eq!(money(&world.all(vec![claim])), [(Reason::Lock, 600)]);
    // Alone, each third of the rate is entitled to all of a resource, and buys the half that the
    // cap leaves: 300.
    let effects = world.until(8);
    let record = &sharings(&effects)[0];
    assert_eq!((record.slot, record.units), (1, 4));
    let portion = &record.awards[0].portion;
    assert_eq!((portion.units, &portion.parts[..]), (2, &[30, 30][..]));
    assert_eq!(record.awards, record.divide());
    assert_eq!(money(&effects), [(Reason::Charge, 300)]);
    let lease = world.lease_of(&id);
    let held = world.state.lease(&lease).unwrap();
    assert_eq!((held.units(), held.firm_through), (2, Some(1)));
    let kept = world.state.order(&id).unwrap().share().unwrap();
    assert_eq!(kept.portion.as_ref(), Some(portion));
    world.deliver(1, lease);
    // The seller earns what was paid; the escrow is filled up; the lease goes on.
    let effects = world.until(16);
    let again = [Reason::Earning, Reason::Lock, Reason::Charge].map(|r| (r, 300));
    assert_eq!(money(&effects), again);
    assert_eq!(world.lease_of(&id), lease);
    // Cancelled, it runs its slot out, and the rest of its money comes back.
    let cancel = world.by(2, EntryBody::Cancel { order: id });
    world.all(vec![cancel]);
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Exit)]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Cancelled)]);
    assert_eq!(world.account(2), START - 600);
    assert_eq!(world.account(1), START + 600);
    assert!(!world.state.work_is_due());
}

#[test]
fn half_a_unit_runs_in_half_of_the_slots() {
    let mut world = World::with_pool(1, 1_000_000, 8);
    let claims: Vec<_> = [2, 3].map(|n| world.claim(n, 600)).to_vec();
    let ids: Vec<OrderId> = claims.iter().map(|c| order(&c.id())).collect();
    world.all(claims);
    let mut served = [0u32; 2];
    let mut unserved = 0;
    for slot in 1..=40u64 {
        let effects = world.until(8 * slot);
        let awards = &sharings(&effects)[0].awards;
        assert_eq!(awards.len(), 1, "one runs, and has all the memory");
        assert_eq!(awards[0].portion.parts, [15, 15]);
        assert_eq!(awards[0].portion.processors, 500);
        assert_eq!(awards[0].pay, credits(600));
        for (sum, id) in served.iter_mut().zip(&ids) {
            *sum += u32::from(awards[0].order == *id);
        }
        for (_, end) in lease_ends(&effects) {
            assert_eq!(end, LeaseEnd::Unserved);
            unserved += 1;
        }
        let lease = world.lease_of(&awards[0].order);
        if !world.state.lease(&lease).unwrap().is_delivered() {
            world.deliver(1, lease);
        }
    }
    // Fair coins: 20 each, standard deviation 3.2; and as often does the luck change.
    assert!(served.iter().all(|n| *n >= 8), "{served:?}");
    assert!(unserved >= 8, "{unserved}");
    let paid: i128 = (2..=3).map(|n| START - world.account(n)).sum();
    assert_eq!(paid, 40 * 600 + 600, "and one that waits with its escrow");
}

#[test]
fn what_the_pool_keeps_is_sold_in_the_auction() {
    let mut world = World::with_pool(4, 500_000, 8);
    let three = bid(&world, &[(3, 100)], 5);
    let claim = world.claim(2, 600);
    let id = order(&claim.id());
    world.all(vec![claim]);
    world.until(8);
    let own = world.lease_of(&id);
    world.deliver(1, own);
    let orders = world.bids(&[(3, three)]);
    let effects = world.until(16);
    let record = &clearings(&effects)[0];
    assert_eq!(record.offers[0].units, 2);
    assert_eq!(record.awards[0].units, 2);
    // A second claim takes its share at the next boundary, whatever the bid.
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let other = world.claim(4, 600);
    world.all(vec![other]);
    let effects = world.until(24);
    assert_eq!(sharings(&effects)[0].awards.len(), 2);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Outbid)]);
}

#[test]
fn what_is_not_delivered_is_not_paid() {
    let mut world = World::with_pool(4, 500_000, 8);
    let claims = vec![world.claim(2, 600), world.claim(3, 900)];
    let ids: Vec<OrderId> = claims.iter().map(|c| order(&c.id())).collect();
    world.all(claims);
    world.until(8);
    let lease = world.lease_of(&ids[0]);
    let paid = world.state.lease(&lease).unwrap().paid;
    assert!(paid > credits(0));
    let fail = world.by(1, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(lease_ends(&effects), [(ids[0], LeaseEnd::Undelivered)]);
    // The other is never acknowledged: at 14 its lease ends, and with it, for a while, the pool.
    let effects = world.until(14);
    assert_eq!(lease_ends(&effects), [(ids[1], LeaseEnd::Undelivered)]);
    let effects = world.until(16);
    assert_eq!(sharings(&effects), []);
    let earned = money(&effects);
    assert!(earned.iter().all(|m| m.0 == Reason::Refund), "{earned:?}");
    assert_eq!(world.account(1), START);
    // Both stand, at the price of a locked slot.
    world.until(32);
    let locked = |n| world.state.balance(&world.member(n)).escrow.micros();
    assert_eq!(world.account(2), START - i128::from(locked(2)));
    assert_eq!(world.account(3), START - i128::from(locked(3)));
    // Set again, the pool serves them.
    let pool = world.pool(4, 500_000, 8);
    world.all(vec![pool]);
    let effects = world.until(40);
    assert_eq!(sharings(&effects)[0].awards.len(), 2);
    // Withdrawn, it ends their leases with the slot.
    for id in &ids {
        let lease = world.lease_of(id);
        world.deliver(1, lease);
    }
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    let effects = world.until(48);
    let mut ends = lease_ends(&effects);
    ends.sort();
    let mut unserved = ids
        .iter()
        .map(|id| (*id, LeaseEnd::Unserved))
        .collect::<Vec<_>>();
    unserved.sort();
    assert_eq!(ends, unserved);
    assert_eq!(order_ends(&effects), []);
}

#[test]
fn a_claim_ends_with_its_budget_its_slots_or_its_patience() {
    let mut world = World::with_pool(4, 500_000, 8);
    let pool = world.offer_of(1, 1);
    let poor = Claim {
        budget: credits(1_099),
        ..claim(pool, 800)
    };
    let short = Claim {
        slots: 1,
        ..claim(pool, 800)
    };
    // Well below the least price of a processor, 18, it never runs.
    let hopeless = Claim {
        stands_until: 15,
        ..claim(pool, 30)
    };
    let entries: Vec<_> = [(2, poor), (3, short), (4, hopeless)]
        .map(|(n, claim)| world.by(n, EntryBody::Share(claim)))
        .to_vec();
    let ids: Vec<OrderId> = entries.iter().map(|c| order(&c.id())).collect();
    world.all(entries);
    let effects = world.until(8);
    assert_eq!(sharings(&effects)[0].awards.len(), 2);
    for id in &ids[..2] {
        let lease = world.lease_of(id);
        world.deliver(1, lease);
    }
    // The first has paid more than 299, so another slot at 800 is beyond its budget.
    let mut ends = order_ends(&world.until(16));
    ends.sort();
    let mut expected = vec![
        (ids[0], OrderEnd::Unfunded),
        (ids[1], OrderEnd::Served),
        (ids[2], OrderEnd::TimedOut),
    ];
    expected.sort();
    assert_eq!(ends, expected);
    assert_eq!(world.account(4), START);
    let paid: i128 = (2..=3).map(|n| START - world.account(n)).sum();
    assert_eq!(world.account(1), START + paid);
    assert!(!world.state.work_is_due());
}

#[test]
fn bad_claims_are_refused_by_name() {
    let mut world = World::with_pool(4, 500_000, 8);
    let auctioned = world.offer(1, 2, 1, 0, None);
    world.all(vec![auctioned]);
    world.until(8);
    let (pool, other) = (world.offer_of(1, 1), world.offer_of(1, 2));
    let mut refused = |n, claim| {
        let entry = world.by(n, EntryBody::Share(claim));
        world.refused(entry)
    };
    for offer in [OfferId([9; 32]), other] {
        let refusal = refused(2, claim(offer, 60));
        assert_eq!(refusal, Refusal::NoPool(offer));
    }
    let two_weights = Claim {
        weights: vec![1, 1],
        ..claim(pool, 60)
    };
    assert_eq!(
        refused(2, two_weights),
        Refusal::PoolWeights {
            weights: 2,
            resources: 3
        }
    );
    let below = Claim {
        budget: credits(59),
        ..claim(pool, 60)
    };
    assert!(matches!(refused(2, below), Refusal::Budget { .. }));
    for stands_until in [0, u64::MAX] {
        let odd = Claim {
            stands_until,
            ..claim(pool, 60)
        };
        assert_eq!(refused(2, odd), Refusal::Standing { stands_until });
    }
    let dear = Claim {
        budget: credits(i64::MAX as u64),
        ..claim(pool, (1 << 50) - 1)
    };
    assert!(matches!(refused(2, dear), Refusal::Funds { .. }));
    let first = world.claim(2, 60);
    let id = order(&first.id());
    world.all(vec![first]);
    let second = world.claim(2, 61);
    assert_eq!(world.refused(second), Refusal::PoolTwice(id));
}

#[test]
fn the_fullest_pool() {
    let policy = Policy {
        accounts_per_member: 200,
        ..policy()
    };
    let mut world = World::with(policy).and_pool(64, 400_000, 8);
    let mut accounts = vec![];
    for n in 0..=limits::CLAIMS_PER_POOL as u8 {
        let opening = EntryBody::OpenAccount {
            grant: None,
            keys: all_roles(&key(n + 100)),
            endowment: credits(1_000),
        };
        // Half of them are of member 2, the others of member 3.
        let opening = world.by(2 + n % 2, opening);
        world.all(vec![opening]);
        let account = world.state.account_of(&key(n + 100).public());
        accounts.push(account.unwrap());
    }
    let pool = world.offer_of(1, 1);
    let mut entries: Vec<_> = accounts
        .iter()
        .enumerate()
        .map(|(n, account)| {
            let claim = Claim {
                utility: [Utility::Linear, Utility::Log][n / 2 % 2],
                weights: vec![4 + n as u32 % 5, n as u32 % 3, n as u32 % 2],
                ..claim(pool, 500 + n as u64)
            };
            world.sign(*account, &key(n as u8 + 100), EntryBody::Share(claim))
        })
        .collect();
    let last = entries.pop().unwrap();
    world.all(entries);
    let limit = limits::CLAIMS_PER_POOL;
    assert_eq!(world.refused(last), Refusal::PoolFull { pool, limit });
    let calendar = world.state.calendar();
    let boundary = calendar.last_of_slot(calendar.slot(world.state.height() + 1));
    let effects = world.until(boundary);
    let record = &sharings(&effects)[0];
    assert_eq!(record.claims.len(), limit);
    assert_eq!(record.awards, record.divide());
    // Both sponsors are entitled to more than the 25 processors that the cap leaves each.
    for sponsor in [world.member(2), world.member(3)] {
        let of = |order: &OrderId| {
            record
                .claims
                .iter()
                .any(|c| c.order == *order && c.sponsor == sponsor)
        };
        let own = record.awards.iter().filter(|a| of(&a.order));
        let units: u32 = own.map(|a| a.portion.units).sum();
        assert_eq!(units, 25);
    }
}
