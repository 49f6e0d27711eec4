//! A job that is worth something only when it is done bids more with every slot done.

use crate::world::World;
use crate::{credits, finish, market, order, sealed};
use gridbay_core::buy::{BidTerms, End, NewOrder, Terms, Worth};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::Seen;
use gridbay_core::key::OrderKey;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};

/// A job of four nodes for ten seconds, five slots, worth so many micro-credits.
fn job(world: &World, worth: u64) -> NewOrder {
    let worth = Worth {
        worth: Credits::from_micros(worth).expect("an amount"),
        length: 5,
    };
    let steps = vec![Step {
        units: 4,
        price: worth.bid(5, 4),
    }];
    let terms = Terms::Sealed(BidTerms {
        steps,
        min: 4,
        budget: credits(50),
        patience: 1_000,
    });
    NewOrder {
        worth: Some(worth),
        ..order(world, 7, terms, 4, 9)
    }
}

fn price(world: &World) -> Option<Price> {
    let agent = world.nodes[4].core.buyer().order(&OrderKey(7))?;
    let live = world.nodes[4].core.state().order(&agent.id?)?;
    Some(live.bid()?.bid.steps[0].price)
}

fn runs(world: &World, n: usize, key: u64) -> bool {
    let agent = world.nodes[n].core.buyer().order(&OrderKey(key));
    agent.is_some_and(|agent| matches!(agent.seen, Seen::Running(_)))
}

#[test]
fn what_is_half_done_is_not_displaced_by_what_would_have_won_at_first() {
    let mut world = market();
    let want = job(&world, 2_000);
    world.order(4, want);
    assert!(world.run_until(30_000, |w| runs(w, 4, 7)));
    assert_eq!(
        price(&world),
        Some(Price(100)),
        "2,000 over 4 nodes and 5 slots"
    );
    assert!(world.run_until(8_000, |w| price(w) >= Some(Price(166))));
    // Three slots and less are left. A stranger to whom each node and slot is worth 150 comes too
    // late.
    let rival = order(&world, 8, sealed(4, 150), 4, 1);
    world.order(5, rival);
    assert!(world.run_until(60_000, |w| finish(w, 4, 7).is_some()));
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    let agent = world.nodes[4].core.buyer().order(&OrderKey(7)).unwrap();
    assert_eq!(agent.milestones().lost, 0);
    assert!(world.run_until(60_000, |w| finish(w, 5, 8).is_some()));
}

#[test]
fn who_loses_his_units_starts_anew_and_bids_less_again() {
    let mut world = market();
    let want = job(&world, 2_000);
    world.order(4, want);
    assert!(world.run_until(30_000, |w| price(w) >= Some(Price(125))));
    let rival = order(&world, 8, sealed(4, 5_000), 4, 20);
    world.order(5, rival);
    assert!(world.run_until(20_000, |w| runs(w, 5, 8)));
    assert!(world.run_until(1_000, |w| !runs(w, 4, 7)));
    assert!(world.run_until(15_000, |w| price(w) == Some(Price(100))));
}

#[test]
fn a_job_that_is_worth_less_than_the_reserves_gives_up() {
    let mut world = market();
    // The reserves of all four units are 2 x 50 and 2 x 80: 260 a slot.
    let want = job(&world, 5 * 260 - 1);
    world.order(4, want);
    assert!(world.run_until(30_000, |w| finish(w, 4, 7).is_some()));
    let gave_up = Finish::Ended(End::TooDear);
    assert_eq!(finish(&world, 4, 7), Some(gave_up));
    world.run(10_000);
    let account = world.nodes[4].core.account().unwrap();
    let balance = world.nodes[4].core.state().balance(&account);
    assert_eq!(balance.escrow, Credits::ZERO);
}
