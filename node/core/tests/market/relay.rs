//! A node carries for buyers that pay it, and a little for those that do not.

use crate::adverts::{ask as told, changed, hear};
use crate::genesis::{account_key, node_key};
use crate::world::{EPOCH_MS, World};
use crate::{finish, market, offer, order, sealed};
use gridbay_core::adverts::{About, Heard, Verdict};
use gridbay_core::agent::{AgentReply, AgentRequest, StartRefusal};
use gridbay_core::buy::{RelayPay, Relaying};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::cluster::PROGRAM;
use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_core::relay::{Purse, RelayTerms, SELLS, Signed, Tickets, Wish};
use gridbay_protocol::advert::Advert;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::units::Credits;

/// The buyer's node. Nodes 0 and 1 sell two units each.
const BUYER: usize = 4;
const TERMS: RelayTerms = RelayTerms {
    unit_slot: 1 << 30,
    free_day: 1 << 20,
};

fn tickets(n: u8) -> Tickets {
    let mut bytes = [n; 32];
    bytes[16..].fill(n + 100);
    Tickets(bytes)
}

fn wish(relay: usize, carries: LeaseId, paid_by: Option<LeaseId>) -> Wish {
    Wish {
        relay: node_key(relay),
        carries,
        paid_by,
        pairs: vec![tickets(1), tickets(2)],
        key: account_key(BUYER).public(),
    }
}

/// What a node does about a wish, `days` later.
fn ask(world: &mut World, days: u64, relay: usize, wish: Wish, by: usize) -> Effect {
    let signed = Signed::new(&world.genesis.network(), wish, &account_key(by));
    let now = Now {
        mono_ms: world.now,
        wall_ms: EPOCH_MS + 1_000 + world.now + days * 86_400_000,
    };
    let asked = Input::Asked {
        token: u64::MAX,
        from: node_key(by),
        request: AgentRequest::Relay(Box::new(signed)),
    };
    let effects = world.nodes[relay].core.step(now, asked).expect("no fault");
    let told = |e: &Effect| matches!(e, Effect::Answer { .. } | Effect::Relay { .. });
    effects.into_iter().find(told).expect("an answer")
}

fn is_refused(effect: &Effect, why: StartRefusal) -> bool {
    matches!(effect, Effect::Answer { reply: AgentReply::Refused(r), .. } if *r == why)
}

/// A world in which the buyer has a lease, and node 0 carries for others.
fn leased() -> (World, LeaseId) {
    let mut world = market();
    world.nodes[0].core.relays(TERMS);
    let want = order(&world, 7, sealed(2, 400), 2, 300);
    world.order(BUYER, want);
    assert!(world.run_until(20_000, |w| !w.starts.is_empty()));
    let lease = world.starts[0].1.start.job.lease;
    (world, lease)
}

#[test]
fn an_account_has_a_little_for_nothing_each_day() {
    let (mut world, lease) = leased();
    let free = wish(0, lease, None);
    let first = ask(&mut world, 0, 0, free.clone(), BUYER);
    let Effect::Relay { grant, .. } = &first else {
        panic!("{first:?}");
    };
    assert_eq!((grant.bytes, grant.carries), (1 << 20, lease));
    assert!(matches!(grant.purse, Purse::Free(_)));
    let later = ask(&mut world, 1, 0, free.clone(), BUYER);
    assert!(matches!(&later, Effect::Relay { grant: g, .. } if g.period == grant.period + 1));
    let refusals = [
        (5, free.clone(), 0, StartRefusal::NotBuyer),
        (
            BUYER,
            wish(0, LeaseId([9; 32]), None),
            0,
            StartRefusal::NoLease,
        ),
        (BUYER, wish(0, lease, None), 1, StartRefusal::Invalid),
        (BUYER, wish(1, lease, None), 1, StartRefusal::NoUnit),
        (BUYER, wish(0, lease, Some(lease)), 0, StartRefusal::NoUnit),
    ];
    for (by, wish, relay, why) in refusals {
        let said = ask(&mut world, 0, relay, wish, by);
        assert!(is_refused(&said, why), "{why:?}: {said:?}");
    }
}

#[test]
fn a_grant_that_nobody_asks_for_any_more_lapses() {
    let (mut world, lease) = leased();
    let granted = ask(&mut world, 0, 0, wish(0, lease, None), BUYER);
    world.perform_job(0, granted);
    assert_eq!(world.nodes[0].relayed.len(), 1);
    assert!(world.run_until(60_000, |w| w.nodes[0].relayed.is_empty()));
}

#[test]
fn a_unit_pays_slot_by_slot_and_its_end_ends_the_grant() {
    let (mut world, lease) = leased();
    world.nodes[1].core.relays(TERMS);
    let mut want = order(&world, 8, sealed(1, 500), 1, 300);
    want.spec.argv = [PROGRAM, "relay"].map(str::to_owned).into();
    world.order(BUYER, want);
    let relay = |w: &World| {
        let mut starts = w.starts.iter().filter(|(_, s)| s.start.job.lease != lease);
        starts.next_back().map(|(n, s)| (*n, s.start.job))
    };
    assert!(world.run_until(20_000, |w| relay(w).is_some()));
    world.run(1_000);
    let (n, job) = relay(&world).unwrap();
    let paid = wish(n, lease, Some(job.lease));
    let said = ask(&mut world, 0, n, paid.clone(), BUYER);
    assert!(
        matches!(&said, Effect::Relay { grant, .. } if grant.purse == Purse::Lease(job.lease)),
        "{said:?}"
    );
    world.perform_job(n, said);
    let said = ask(&mut world, 0, n, paid, 5);
    assert!(is_refused(&said, StartRefusal::NotBuyer), "{said:?}");
    let period = move |w: &World| w.nodes[n].relayed.values().map(|g| g.period).next();
    let first = period(&world);
    assert!(first.is_some());
    assert!(
        world.run_until(20_000, |w| period(w) > first),
        "the next slot"
    );
    world.command(BUYER, Command::Cancel(OrderKey(8)));
    assert!(world.run_until(20_000, |w| period(w).is_none()));
}

/// An order with a network on nodes 0 and 1 of which neither reaches the other.
fn severed(relay: Relaying) -> (World, LeaseId) {
    let mut world = market();
    world.severed = true;
    let mut want = order(&world, 7, sealed(3, 400), 3, 300);
    want.spec.network = true;
    want.relay = relay;
    world.order(BUYER, want);
    let joined = |w: &World| w.clusters(0).count() + w.clusters(1).count() == 2;
    assert!(world.run_until(20_000, joined));
    let lease = world.clusters(0).next().expect("a network").lease;
    (world, lease)
}

fn agent(world: &World, key: OrderKey) -> Option<&OrderAgent> {
    world.nodes[BUYER].core.buyer().order(&key)
}

fn sources(world: &World) -> Vec<usize> {
    let all = agent(world, OrderKey(7))
        .expect("it is there")
        .relays()
        .sources();
    let carry = all.iter().filter(|s| s.carries());
    let node =
        |s: &gridbay_core::buyer::Source| world.node_of(s.node.as_bytes()).expect("a known node");
    carry.map(node).collect()
}

/// The orders that lease relays for order 7.
fn all_leasing(world: &World) -> Vec<OrderKey> {
    let orders = world.nodes[BUYER].core.buyer().orders();
    let theirs = orders.filter(|(_, a)| a.order().relay == Relaying::For(OrderKey(7)));
    theirs.map(|(key, _)| *key).collect()
}

/// One of them, if there is one.
fn leasing(world: &World) -> Option<OrderKey> {
    all_leasing(world).first().copied()
}

#[test]
fn pairs_without_a_way_get_relays_that_cost_nothing_and_a_spare() {
    let (mut world, lease) = severed(Relaying::Free);
    assert!(!world.is_whole(&lease));
    world.run(10_000);
    assert!(!world.is_whole(&lease), "nobody gives");
    // The other two validators begin to, and node 5, of which no advert says so, is not asked.
    for n in [2, 3, 5] {
        world.nodes[n].core.relays(TERMS);
    }
    let told = |w: &World| w.told(0, &lease, &node_key(1)).len();
    assert!(world.run_until(90_000, |w| w.is_whole(&lease) && told(w) == 2));
    assert!(leasing(&world).is_none());
    let both = sources(&world);
    world.run(30_000);
    assert_eq!(sources(&world), both, "a spare that nobody uses serves");
    let first = both[0];
    world.kill(first);
    assert!(world.is_whole(&lease), "the spare carries");
    world.restart(first);
    world.nodes[first].core.relays(TERMS);
    world.severed = false;
    let alone = |w: &World| w.told(0, &lease, &node_key(1)).is_empty();
    assert!(
        world.run_until(60_000, alone),
        "relays that nobody needs are let go"
    );
    assert!(world.run_until(60_000, |w| w.nodes[2].relayed.is_empty()));
}

#[test]
fn a_job_without_relays_gets_none() {
    let (mut world, lease) = severed(Relaying::Off);
    world.nodes[2].core.relays(TERMS);
    world.run(20_000);
    assert!(!world.is_whole(&lease) && sources(&world).is_empty());
}

/// A third seller, whose unit is too dear for jobs, and sold to relay.
fn with_a_seller_that_relays() -> (World, LeaseId) {
    let (mut world, lease) = paid_relays(true);
    sell_relaying(&mut world, 2, 500);
    (world, lease)
}

/// A job that pays for relays, and members that reach one another unless they are `severed`.
fn paid_relays(severed: bool) -> (World, LeaseId) {
    let mut world = market();
    world.severed = severed;
    let mut want = order(&world, 7, sealed(4, 400), 4, 300);
    want.spec.network = true;
    let limit = Credits::from_micros(600).expect("in range");
    want.relay = Relaying::Paid(RelayPay { limit, slots: 50 });
    world.order(BUYER, want);
    let joined = |w: &World| w.clusters(0).count() + w.clusters(1).count() == 2;
    assert!(world.run_until(20_000, joined));
    let lease = world.clusters(0).next().expect("a network").lease;
    (world, lease)
}

/// A node begins to sell relaying.
fn sell_relaying(world: &mut World, n: usize, buy: u64) {
    world.nodes[n].core.relays(RelayTerms {
        free_day: 0,
        ..TERMS
    });
    world.input(
        n,
        0,
        Input::About(About {
            attributes: [(SELLS.to_owned(), "yes".to_owned())].into(),
            round_trips: vec![],
        }),
    );
    let command = offer(world, n, 1, 450, buy);
    world.command(n, command);
}

#[test]
fn a_relay_is_leased_where_none_is_given_and_ends_with_the_job() {
    let (mut world, lease) = with_a_seller_that_relays();
    assert!(world.run_until(60_000, |w| w.is_whole(&lease)));
    assert_eq!(sources(&world), [2]);
    let key = leasing(&world).expect("an order");
    world.run(10_000);
    assert!(agent(&world, key).unwrap().paid().micros() > 0);
    world.command(BUYER, Command::Cancel(OrderKey(7)));
    let over = |w: &World| {
        finish(w, BUYER, key.0).is_some()
            && w.nodes[2]
                .jobs
                .values()
                .all(|j| matches!(j.phase, gridbay_core::agent::Phase::Ended { .. }))
    };
    assert!(world.run_until(30_000, over));
    assert!(finish(&world, BUYER, key.0) != Some(Finish::Done));
    assert!(world.nodes[2].relayed.is_empty());
}

#[test]
fn one_members_word_that_it_is_relayed_leases_nothing() {
    let (mut world, lease) = paid_relays(false);
    sell_relaying(&mut world, 2, 500);
    world.claimants.insert(0);
    world.run(60_000);
    assert!(world.is_whole(&lease));
    assert_eq!(leasing(&world), None, "the other member reaches it without");
    world.claimants.clear();
    world.severed = true;
    assert!(world.run_until(60_000, |w| leasing(w).is_some()));
}

#[test]
fn nobody_sells_the_relaying_of_anothers_node() {
    let (mut world, _) = paid_relays(true);
    let command = offer(&world, 2, 1, 450, 500);
    world.command(2, command);
    world.run(20_000);
    let its = told(&mut world, 2, AgentRequest::Advert).remove(0).advert;
    let other = told(&mut world, 0, AgentRequest::Advert).remove(0).advert;
    let claim = Advert {
        node: its.node,
        lines: its.lines,
        attributes: [(SELLS.to_owned(), "yes".to_owned())].into(),
        ..other
    };
    let network = world.genesis.network();
    let signed = changed(&claim, &account_key(0), network, 1);
    let heard = hear(&mut world, BUYER, Heard::Asked, &signed);
    assert_eq!(heard, Verdict::Accept);
    world.run(60_000);
    assert_eq!(leasing(&world), None);
}

#[test]
fn another_relay_carries_once_one_that_carried_ceases_to() {
    let (mut world, lease) = with_a_seller_that_relays();
    assert!(world.run_until(60_000, |w| w.is_whole(&lease)));
    world.run(15_000);
    // It answers as before, and what came by it stays in its members' counts.
    world.fakes.insert(2);
    sell_relaying(&mut world, 3, 500);
    assert!(!world.is_whole(&lease));
    assert!(world.run_until(60_000, |w| w.is_whole(&lease)));
    assert_eq!(sources(&world), [3]);
    let relays = agent(&world, OrderKey(7)).unwrap().relays();
    assert!(!relays.is_accused(&node_key(2)), "it did carry once");
}

/// The seller of node 2 is paid to relay and does not. The lease that pays it.
fn with_a_false_relay(owner_attends: bool) -> (World, LeaseId) {
    let (mut world, lease) = with_a_seller_that_relays();
    world.command(BUYER, Command::Attend(OrderKey(7), owner_attends));
    world.fakes.insert(2);
    let leased = |w: &World| w.nodes[2].jobs.keys().next().map(|job| job.lease);
    assert!(world.run_until(60_000, |w| leased(w).is_some()));
    let paid_by = leased(&world).expect("it is leased");
    let accused = |w: &World| {
        let relays = agent(w, OrderKey(7)).expect("an order").relays();
        relays.is_accused(&node_key(2))
    };
    assert!(world.run_until(60_000, accused));
    assert!(!world.is_whole(&lease));
    (world, paid_by)
}

fn holds(world: &World, lease: &LeaseId) -> bool {
    let lease = world.nodes[BUYER].core.state().lease(lease);
    lease.is_some_and(|lease| !lease.shares.is_empty())
}

#[test]
fn a_relay_that_claims_and_does_not_carry_loses_its_lease() {
    let (mut world, paid_by) = with_a_false_relay(true);
    let over = |w: &World| !holds(w, &paid_by);
    assert!(world.run_until(60_000, over), "it is complained of");
}

#[test]
fn a_relay_that_one_member_may_have_smeared_is_replaced_without_a_complaint() {
    let (mut world, paid_by) = with_a_false_relay(false);
    let relays = agent(&world, OrderKey(7)).unwrap().relays();
    assert!(!relays.is_guilty(&node_key(2)), "the two are one pair");
    world.run(60_000);
    assert!(holds(&world, &paid_by));
    sell_relaying(&mut world, 3, 510);
    assert!(world.run_until(60_000, |w| sources(w) == [3]));
    assert!(world.run_until(60_000, |w| !holds(w, &paid_by)));
}

#[test]
fn a_dead_relay_that_was_paid_is_replaced_within_ten_seconds() {
    let (mut world, lease) = with_a_seller_that_relays();
    assert!(world.run_until(60_000, |w| w.is_whole(&lease)));
    let first = all_leasing(&world);
    assert_eq!((sources(&world), first.len()), (vec![2], 1));
    sell_relaying(&mut world, 3, 510);
    world.run(5_000);
    assert_eq!(all_leasing(&world), first, "one is enough");
    world.kill(2);
    assert!(!world.is_whole(&lease));
    assert!(world.run_until(10_000, |w| w.is_whole(&lease)));
    assert_eq!(sources(&world), [3]);
    let over = |w: &World| finish(w, BUYER, first[0].0).is_some();
    assert!(world.run_until(5_000, over), "the first order ends");
    world.run(20_000);
    assert_eq!(all_leasing(&world).len(), 2, "and no third one comes");
    assert!(world.is_whole(&lease));
}
