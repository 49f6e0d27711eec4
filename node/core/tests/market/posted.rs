//! Hires at posted prices: tasks run on the posted units, and a late buyer gets nothing.

use crate::genesis::{credits, node_key};
use crate::world::World;
use crate::{equal_states, finish, has, order};
use gridbay_core::buy::{End, PostedTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::units::{Credits, Price};

/// Four validators of which the first posts three units at 50, two buyers.
fn shop() -> World {
    let mut world = World::new(4, 2);
    let command = Command::SetOffer(OfferTerms {
        label: 0,
        class: world.class(),
        units: 3,
        reserve: Price(50),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Posted,
        node: node_key(0),
    });
    world.input(0, 500, Input::Command { token: 1, command });
    let on_sale =
        |w: &World| (4..6).all(|n| w.nodes[n].core.state().offers().any(|(_, o)| o.active));
    assert!(world.run_until(20_000, on_sale));
    world
}

fn hire(units: u32, limit: u64) -> Terms {
    Terms::Posted(PostedTerms {
        units,
        limit: Price(limit),
    })
}

fn paid(world: &World) -> Option<(bool, Credits)> {
    let agent = world.nodes[4].core.buyer().order(&OrderKey(1));
    agent.map(|agent| (agent.is_settled(), agent.paid()))
}

#[test]
fn a_hire_runs_its_tasks_and_who_comes_late_gets_nothing() {
    let mut world = shop();
    let first = order(&world, 1, hire(2, 60), 2, 1);
    world.order(4, first);
    assert!(world.run_until(5_000, |w| w.nodes[5].core.state().leases().count() == 1));
    for (key, units, limit) in [(2, 2, 60), (3, 1, 49)] {
        let late = order(&world, key, hire(units, limit), units, 1);
        world.order(5, late);
    }
    let ended = |w: &World| {
        finish(w, 4, 1).is_some() && finish(w, 5, 2).is_some() && finish(w, 5, 3).is_some()
    };
    assert!(world.run_until(60_000, ended));
    assert_eq!(finish(&world, 4, 1), Some(Finish::Done));
    assert_eq!(finish(&world, 5, 2), Some(Finish::Ended(End::NoUnits)));
    assert_eq!(finish(&world, 5, 3), Some(Finish::Ended(End::TooDear)));
    assert!(world.run_until(20_000, |w| paid(w).is_some_and(|(settled, _)| settled)));
    equal_states(&world);
    let (state, start) = (world.nodes[0].core.state(), credits(100).micros() as i64);
    let spent = paid(&world).map(|(_, paid)| paid.micros() as i64);
    assert_eq!(Some(start - has(&world, state, 4)), spent);
    assert!(spent.is_some_and(|spent| spent > 0));
    assert_eq!(has(&world, state, 5), start);
}

/// Hires of a buyer that the ledger of node 0 has decided, and what they cost altogether.
fn hired(world: &World) -> (usize, i64) {
    let host = world.nodes[0].core.host();
    let heights = 1..=world.nodes[0].core.state().height();
    let blocks = heights.filter_map(|height| host.block(height).expect("the disk reads"));
    let entries = blocks.flat_map(|block| block.block.entries.clone());
    let hires = entries.filter(|entry| matches!(entry.entry.body, EntryBody::Posted(_)));
    let state = world.nodes[0].core.state();
    let spent = credits(100).micros() as i64 - has(world, state, 4);
    (hires.count(), spent)
}

/// A buyer is away from the moment its hire is in the book until long after it has ended.
fn absent(leave: fn(&mut World), come: fn(&mut World)) {
    let mut world = shop();
    let mut want = order(&world, 1, hire(2, 60), 2, 1);
    // Its lease is over, and gone from the state, when the buyer is back.
    want.slots = 1;
    world.order(4, want);
    let in_the_book = |w: &World| w.nodes[0].core.state().leases().count() == 1;
    assert!(world.run_until(5_000, in_the_book));
    leave(&mut world);
    let began = world.nodes[0].core.state().height();
    let long = |w: &World| w.nodes[0].core.state().height() > began + 50;
    assert!(world.run_until(400_000, long));
    come(&mut world);
    let settled = |w: &World| paid(w).is_some_and(|(settled, _)| settled);
    assert!(world.run_until(60_000, settled));
    world.run(5_000);
    let (hires, spent) = hired(&world);
    assert_eq!(hires, 1, "one order, one hire");
    assert!(spent > 0, "the lease was paid while it lasted");
    let told = paid(&world).map(|(_, paid)| paid.micros() as i64);
    assert_eq!(told, Some(spent), "the buyer knows what it paid");
    equal_states(&world);
}

#[test]
fn a_buyer_that_was_suspended_hires_once() {
    absent(|w| w.suspend(4), |w| w.resume(4));
}

#[test]
fn a_buyer_that_was_killed_hires_once() {
    absent(|w| w.kill(4), |w| w.restart(4));
}

#[test]
fn a_buyer_killed_before_it_saved_what_its_disk_holds_hires_once() {
    let mut world = shop();
    let mut want = order(&world, 1, hire(2, 60), 2, 1);
    want.slots = 1;
    world.order(4, want);
    assert!(world.run_until(1_000, |w| !w.nodes[4].records.is_empty()));
    let before = world.nodes[4].records.clone();
    let began = world.nodes[4].core.state().height();
    assert!(world.run_until(400_000, |w| w.nodes[4].core.state().height() > began + 50));
    assert_eq!(hired(&world).0, 1);
    world.kill(4);
    // Its blocks were flushed, and the record of its order was not.
    world.nodes[4].records = before;
    world.restart(4);
    world.run(20_000);
    assert_eq!(hired(&world).0, 1, "one order, one hire");
}

#[test]
fn a_hire_of_other_units_than_tasks_is_not_sent() {
    let mut world = shop();
    let terms = [hire(2, 60), hire(0, 60), hire(1, Price::MAX.0 + 1)];
    for (key, terms) in (1..).zip(terms) {
        let want = order(&world, key, terms, 1, 1);
        world.order(4, want);
    }
    assert!(world.run_until(1_000, |w| w.nodes[4].replies.len() == 3));
    let refused = |reply: &Reply| matches!(reply, Reply::Refused(_));
    assert!(world.nodes[4].replies.iter().all(refused));
}
