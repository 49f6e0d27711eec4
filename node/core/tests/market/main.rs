//! A market of whole cores: sealed orders that end as settled leases, buys that preempt, restarts.

mod adverts;
mod amend;
mod appeals;
mod beacons;
mod checkpoints;
mod cluster;
mod collecting;
mod contracts;
mod copies;
mod deadline;
mod genesis;
mod guests;
mod moved;
mod played;
mod posted;
mod projects;
mod records;
mod relay;
mod reservation;
mod share;
mod starts;
mod transfers;
mod wallet;
mod ways;
mod withheld;
mod world;
mod worth;

use genesis::{credits, node_key};
use gridbay_core::buy::{BidTerms, BuyTerms, End, NewOrder, Relaying, Terms};
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::buyer::{Finish, Record};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::{BuyPart, Step};
use gridbay_protocol::units::{Credits, Price};
use world::World;

fn sleep(seconds: u64) -> JobSpec {
    JobSpec {
        argv: vec!["sleep".into(), seconds.to_string()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        wall_seconds: 600,
        network: false,
        internet: false,
        checkpoint: None,
    }
}

fn offer(world: &World, n: usize, units: u32, reserve: u64, buy: u64) -> Command {
    Command::SetOffer(OfferTerms {
        label: 0,
        class: world.class(),
        units,
        reserve: Price(reserve),
        buy_price: Some(Price(buy)),
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
        node: node_key(n),
    })
}

fn order(world: &World, key: u64, terms: Terms, tasks: u32, seconds: u64) -> NewOrder {
    NewOrder {
        worth: None,
        relay: Relaying::Free,
        request: None,
        key: OrderKey(key),
        entropy: [key as u8; 32],
        name: format!("job{key}"),
        accepted_ms: world.now,
        class: world.class(),
        terms,
        slots: 100,
        tasks,
        spec: sleep(seconds),
    }
}

fn sealed(units: u32, price: u64) -> Terms {
    let steps = vec![Step {
        units,
        price: Price(price),
    }];
    Terms::Sealed(BidTerms {
        steps,
        min: units,
        budget: credits(50),
        patience: 1_000,
    })
}

fn finish(world: &World, n: usize, key: u64) -> Option<Finish> {
    world.nodes[n]
        .core
        .buyer()
        .order(&OrderKey(key))
        .and_then(|o| o.finish().cloned())
}

/// Four validators of which two sell, one buyer.
fn market() -> World {
    let mut world = World::new(4, 2);
    let selling = [(0, 2, 50, 200), (1, 2, 80, 250)];
    for (n, units, reserve, buy) in selling {
        let command = offer(&world, n, units, reserve, buy);
        world.input(
            n,
            500,
            gridbay_core::input::Input::Command { token: 1, command },
        );
    }
    let on_sale = |w: &World| {
        w.nodes[5]
            .core
            .state()
            .offers()
            .filter(|(_, o)| o.active)
            .count()
    };
    assert!(
        world.run_until(20_000, |w| on_sale(w) == 2),
        "offers are on the ledger everywhere"
    );
    world
}

fn equal_states(world: &World) {
    let lowest = world
        .nodes
        .iter()
        .map(|n| n.core.state().height())
        .min()
        .unwrap_or(0);
    let at = |n: usize| {
        world.nodes[n]
            .core
            .host()
            .block(lowest)
            .expect("the disk reads")
            .map(|b| b.block.id())
    };
    for n in 1..world.nodes.len() {
        assert_eq!(at(0), at(n), "block {lowest} of node {n}");
    }
}

#[test]
fn a_sealed_order_ends_as_a_settled_lease() {
    fn agent(world: &World) -> &OrderAgent {
        let buyer = world.nodes[4].core.buyer();
        buyer.order(&OrderKey(7)).expect("it was ordered")
    }
    let mut world = market();
    let began = world.now;
    let want = order(&world, 7, sealed(3, 400), 3, 3);
    world.order(4, want);
    assert!(world.run_until(1_000, |w| !w.nodes[4].replies.is_empty()));
    assert_eq!(world.nodes[4].replies, [Reply::Ordered(OrderKey(7))]);
    assert!(
        world.run_until(30_000, |w| finish(w, 4, 7).is_some()),
        "the job ends"
    );
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    for rank in 0..3u32 {
        let output = &world.nodes[4].output[&(OrderKey(7), rank)];
        assert_eq!(output, rank.to_string().as_bytes());
    }
    let started = agent(&world)
        .tasks
        .records
        .iter()
        .map(|t| t.started_ms)
        .min()
        .unwrap();
    let waited = started - 1_800_000_000_000 - began;
    assert!(
        waited <= 2_500,
        "one round sealed, one opened, then it runs: {waited} ms"
    );
    let settled = |w: &World| agent(w).is_settled();
    assert!(
        world.run_until(10_000, settled),
        "the ledger has closed the order"
    );
    let kept = Record::decode(&world.nodes[4].records[&OrderKey(7)]).unwrap();
    assert_eq!(
        kept,
        agent(&world).record(),
        "the disk holds the order as it is now"
    );
    // No rival: it pays what its absence would give the phantoms, the reserves of the cheapest
    // three units, 50 + 50 + 80 a slot; half of that for the half slot in which the lease began.
    let paid = agent(&world).paid();
    let state = world.nodes[4].core.state();
    let spent = credits(100).micros() as i64
        - state
            .balance(&world.nodes[4].core.account().expect("it has one"))
            .free;
    assert_eq!(
        paid.micros() as i64,
        spent,
        "what was counted is what left the purse"
    );
    assert!(
        paid > Credits::ZERO && paid.micros().is_multiple_of(90),
        "whole prices: {paid}"
    );
    let earned: i64 = (0..2).map(|n| has(&world, state, n) - 100_000_000).sum();
    assert_eq!(earned, spent, "what buyers pay, sellers earn");
    equal_states(&world);
}

/// The free money of a node's account, and its earnings that are still held, in micro-credits.
pub(crate) fn has(world: &World, state: &gridbay_ledger::State, n: usize) -> i64 {
    let account = world.nodes[n].core.account().expect("it has one");
    let balance = state.balance(&account);
    balance.free + balance.retained.micros() as i64
}

#[test]
fn a_buy_preempts_the_lowest_bid_which_resumes_later() {
    let mut world = market();
    let low = order(&world, 1, sealed(4, 300), 4, 8);
    world.order(4, low);
    let runs = |w: &World, n: usize, key| {
        w.nodes[n]
            .core
            .buyer()
            .order(&OrderKey(key))
            .is_some_and(|o| !o.tasks.runs.is_empty())
    };
    assert!(world.run_until(10_000, |w| runs(w, 4, 1)), "the bid runs");
    let terms = Terms::Buy(BuyTerms {
        parts: vec![BuyPart::anywhere(world.class(), 4)],
        limit: credits(1),
        patience: 0,
        surcharge: Default::default(),
    });
    let mut now = order(&world, 2, terms, 4, 2);
    now.slots = 2;
    world.order(5, now);
    assert!(world.run_until(4_000, |w| runs(w, 5, 2)), "the buy runs");
    let preempted = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(1)).unwrap();
        order.last_end == Some(End::Preempted)
    };
    assert!(world.run_until(1_000, preempted), "the bid was preempted");
    assert!(world.run_until(60_000, |w| finish(w, 5, 2) == Some(Finish::Done)));
    assert!(
        world.run_until(60_000, |w| finish(w, 4, 1) == Some(Finish::Done)),
        "and resumed"
    );
    equal_states(&world);
}

#[test]
fn killed_nodes_lose_no_order_and_no_job() {
    let mut world = market();
    let want = order(&world, 7, sealed(4, 400), 4, 6);
    world.order(4, want);
    let running = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(7));
        order.is_some_and(|o| o.tasks.runs.values().filter(|r| r.accepted).count() == 4)
    };
    assert!(world.run_until(10_000, running));
    world.kill(0);
    let height = world.nodes[1].core.state().height();
    world.run(3_000);
    assert!(
        world.nodes[1].core.state().height() > height + 2,
        "the chain goes on without one"
    );
    world.restart(0);
    world.kill(4);
    world.run(1_000);
    world.restart(4);
    assert!(world.run_until(60_000, |w| finish(w, 4, 7).is_some()));
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    let attempts: Vec<u32> = world.nodes[4]
        .core
        .buyer()
        .order(&OrderKey(7))
        .unwrap()
        .tasks
        .records
        .iter()
        .map(|t| t.attempt)
        .collect();
    assert_eq!(attempts, [1; 4], "every task ran once");
    equal_states(&world);
}

#[test]
fn a_buyer_killed_at_its_jobs_end_does_not_pay_on() {
    let mut world = market();
    let want = order(&world, 7, sealed(4, 400), 4, 1);
    world.order(4, want);
    assert!(world.run_until(60_000, |w| finish(w, 4, 7) == Some(Finish::Done)));
    let leased = |w: &World| w.nodes[1].core.state().leases().next().is_some();
    assert!(leased(&world), "the order has a hundred slots");
    world.kill(4);
    world.run(1_000);
    world.restart(4);
    assert!(world.run_until(20_000, |w| !leased(w)));
    equal_states(&world);
}

#[test]
fn an_order_that_cannot_be_paid_is_refused_before_it_is_sent() {
    let mut world = market();
    let terms = Terms::Sealed(BidTerms {
        steps: vec![Step {
            units: 4,
            price: Price(40_000_000),
        }],
        min: 4,
        budget: credits(1_000),
        patience: 100,
    });
    let dear = order(&world, 3, terms, 4, 1);
    world.order(4, dear);
    assert!(world.run_until(1_000, |w| !w.nodes[4].replies.is_empty()));
    assert!(
        matches!(&world.nodes[4].replies[0], Reply::Refused(r) if r.reason.contains("100 credits"))
    );
    assert!(world.nodes[4].records.is_empty());
}
