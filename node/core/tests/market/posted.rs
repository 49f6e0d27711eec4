//! Hires at posted prices: tasks run on the posted units, and a late buyer gets nothing.

use crate::genesis::{credits, node_key};
use crate::world::World;
use crate::{equal_states, finish, has, order};
use gridbay_core::buy::{End, PostedTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
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
