//! A buyer changes its price while its bid stands or runs.

use crate::world::World;
use crate::{equal_states, finish, market, order, sealed};
use gridbay_core::buy::{BidTerms, BuyTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::order::{BuyPart, Step};
use gridbay_protocol::units::{Credits, Price};

fn amend(key: u64, units: u32, price: u64, budget: Option<Credits>) -> Command {
    Command::Amend {
        order: OrderKey(key),
        steps: vec![Step {
            units,
            price: Price(price),
        }],
        budget,
    }
}

fn agent(world: &World, n: usize, key: u64) -> &OrderAgent {
    let agent = world.nodes[n].core.buyer().order(&OrderKey(key));
    agent.expect("the order is known")
}

fn runs(world: &World, n: usize, key: u64) -> bool {
    let agent = world.nodes[n].core.buyer().order(&OrderKey(key));
    agent.is_some_and(|agent| matches!(agent.seen, Seen::Running(_)))
}

/// The price that the ledger has of a bid.
fn price(world: &World, n: usize, key: u64) -> Option<u64> {
    let live = world.nodes[n]
        .core
        .state()
        .order(&agent(world, n, key).id?)?;
    Some(live.bid()?.bid.steps[0].price.0)
}

/// The money of buyer 4's account, free and locked, and its payments for its order 7, in
/// micro-credits.
fn money(world: &World) -> (i64, i64) {
    let core = &world.nodes[4].core;
    let balance = core.state().balance(&core.account().expect("it has one"));
    let micros = |amount: Credits| i64::try_from(amount.micros()).expect("a small amount");
    let paid = micros(agent(world, 4, 7).paid());
    (balance.free + micros(balance.escrow), paid)
}

/// Buyer 4 runs all four units at a price of 100, for ten seconds.
fn running() -> World {
    let mut world = market();
    let want = order(&world, 7, sealed(4, 100), 4, 10);
    world.order(4, want);
    assert!(world.run_until(30_000, |w| runs(w, 4, 7)));
    world
}

#[test]
fn a_bid_that_is_raised_in_time_is_not_displaced() {
    let mut world = running();
    let lease = agent(&world, 4, 7).milestones().lease;
    world.command(4, amend(7, 4, 300, None));
    let rival = order(&world, 8, sealed(4, 200), 4, 1);
    world.order(5, rival);
    assert!(world.run_until(20_000, |w| price(w, 4, 7) == Some(300)));
    assert!(world.run_until(60_000, |w| finish(w, 4, 7).is_some()));
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    let done = agent(&world, 4, 7);
    assert_eq!(
        (done.milestones().lost, done.milestones().lease),
        (0, lease)
    );
    assert!(done.amending().is_none(), "nothing is under way");
    let Terms::Sealed(BidTerms { steps, .. }) = &done.order().terms else {
        panic!("a bid")
    };
    assert_eq!(
        steps[0].price,
        Price(300),
        "these are the order's terms now"
    );
    assert!(world.run_until(60_000, |w| finish(w, 5, 8).is_some()));
    equal_states(&world);
}

#[test]
fn a_bid_that_was_displaced_comes_back_at_a_higher_price_also_after_a_crash() {
    let mut world = running();
    let mut rival = order(&world, 8, sealed(4, 200), 4, 500);
    rival.slots = 400;
    world.order(5, rival);
    assert!(world.run_until(20_000, |w| runs(w, 5, 8)));
    assert!(world.run_until(5_000, |w| agent(w, 4, 7).milestones().lost == 1));
    world.command(4, amend(7, 4, 300, None));
    let sealed = |w: &World| {
        let amending = agent(w, 4, 7).amending();
        amending.is_some_and(|a| a.sent.as_ref().is_some_and(|s| s.included))
    };
    assert!(world.run_until(10_000, sealed));
    world.kill(4);
    world.restart(4);
    assert!(world.run_until(20_000, |w| runs(w, 4, 7)));
    assert_eq!(price(&world, 4, 7), Some(300));
    world.run(100);
    assert!(!runs(&world, 5, 8));
}

#[test]
fn what_the_ledger_would_refuse_is_refused_at_once() {
    let mut world = running();
    let buy = Terms::Buy(BuyTerms {
        parts: vec![BuyPart::anywhere(world.class(), 1)],
        limit: crate::credits(1),
        patience: 0,
        surcharge: Credits::ZERO,
    });
    let mut want = order(&world, 9, buy, 1, 5);
    want.slots = 3;
    world.order(4, want);
    world.run(500);
    world.nodes[4].replies.clear();
    let poor = Some(Credits::from_micros(500).unwrap());
    let wrong = [
        (amend(99, 4, 300, None), "no_order"),
        (amend(9, 1, 300, None), "not_a_bid"),
        (amend(7, 5, 300, None), "units"),
        (amend(7, 4, u64::MAX, None), "price"),
        (amend(7, 4, 300, poor), "budget"),
    ];
    let words: Vec<&str> = wrong.iter().map(|(_, word)| *word).collect();
    for (command, _) in wrong {
        world.command(4, command);
    }
    world.run(100);
    let said: Vec<&str> = world.nodes[4]
        .replies
        .iter()
        .map(|reply| match reply {
            Reply::Refused(refused) => refused.word,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said, words);
    assert!(agent(&world, 4, 7).amending().is_none());
}

#[test]
fn a_cancelled_order_gets_back_the_deposit_of_its_amendment() {
    let mut world = running();
    let (held, paid) = money(&world);
    let before = held + paid;
    world.command(4, amend(7, 4, 300, None));
    let sealed = |w: &World| {
        let amending = agent(w, 4, 7).amending();
        amending.is_some_and(|a| a.sent.as_ref().is_some_and(|s| s.included))
    };
    assert!(world.run_until(10_000, sealed));
    world.command(4, Command::Cancel(OrderKey(7)));
    assert!(world.run_until(30_000, |w| agent(w, 4, 7).is_settled()));
    world.run(5_000);
    let (after, paid) = money(&world);
    assert_eq!(after + paid, before, "the deposit is back");
    let account = world.nodes[4].core.account().expect("it has one");
    let balance = world.nodes[4].core.state().balance(&account);
    assert_eq!(balance.escrow, Credits::ZERO, "nothing is locked any more");
}
