//! A disk that is short of room, or a node that drains: offers are held back and come back, and a
//! lease that cannot be served ends unpaid.

use crate::genesis::node_key;
use crate::world::World;
use crate::{finish, has, market, offer, order, sealed};
use gridbay_core::buyer::Finish;
use gridbay_core::input::{Command, Input};
use gridbay_core::reply::Reply;

/// Units that a node has on sale.
fn on_sale(world: &World, n: usize) -> u32 {
    let state = world.nodes[5].core.state();
    let here = state.offers().filter(|(_, o)| o.terms.node == node_key(n));
    here.map(|(_, o)| o.supply()).sum()
}

#[test]
fn offers_are_held_back_without_room_and_set_again_with_it() {
    let mut world = market();
    let terms = |w: &World| {
        let state = w.nodes[5].core.state();
        let mut here = state.offers().filter(|(_, o)| o.terms.node == node_key(0));
        here.next().map(|(_, o)| o.terms.clone())
    };
    let before = terms(&world);
    world.input(0, 0, Input::Short(true));
    assert!(world.run_until(10_000, |w| on_sale(w, 0) == 0), "withdrawn");
    assert_eq!(on_sale(&world, 1), 2, "others sell on");
    let again = offer(&world, 0, 2, 50, 200);
    world.nodes[0].replies.clear();
    world.command(0, again);
    world.run(1_000);
    let reply = world.nodes[0].replies.last();
    assert!(
        matches!(reply, Some(Reply::Refused(why)) if why.reason.contains("nearly full")),
        "{reply:?}"
    );
    // The node knows after a restart what it held back, here on a disk with room.
    world.kill(0);
    world.restart(0);
    assert!(world.run_until(20_000, |w| on_sale(w, 0) == 2), "set again");
    assert_eq!(terms(&world), before);
}

#[test]
fn a_node_that_drains_sells_nothing_until_it_is_started_again() {
    let mut world = market();
    world.command(0, Command::Drain);
    assert!(world.run_until(10_000, |w| on_sale(w, 0) == 0), "withdrawn");
    assert_eq!(on_sale(&world, 1), 2, "others sell on");
    // The buyer whom the node would have served, as the cheapest seller, loses no attempt to it.
    let cheapest = order(&world, 7, sealed(1, 400), 1, 1);
    world.order(4, cheapest);
    assert!(world.run_until(20_000, |w| finish(w, 4, 7) == Some(Finish::Done)));
    assert!(world.starts.iter().all(|(n, _)| *n == 1));
    // The end of a shortage does not bring them back, nor does the owner.
    world.input(0, 0, Input::Short(true));
    world.input(0, 0, Input::Short(false));
    world.run(1_000);
    let again = offer(&world, 0, 2, 50, 200);
    world.nodes[0].replies.clear();
    world.command(0, again);
    assert!(!world.run_until(20_000, |w| on_sale(w, 0) > 0));
    let reply = world.nodes[0].replies.last();
    assert!(
        matches!(reply, Some(Reply::Refused(why)) if why.word == "draining"),
        "{reply:?}"
    );
    world.kill(0);
    world.restart(0);
    assert!(world.run_until(20_000, |w| on_sale(w, 0) == 2), "set again");
}

#[test]
fn a_node_that_resumes_sells_again_without_a_restart() {
    let mut world = market();
    world.command(0, Command::Resume);
    assert_eq!(on_sale(&world, 0), 2, "it did not drain");
    world.command(0, Command::Drain);
    assert!(world.run_until(10_000, |w| on_sale(w, 0) == 0), "withdrawn");
    world.command(0, Command::Resume);
    assert!(world.run_until(20_000, |w| on_sale(w, 0) == 2), "set again");
    let cheapest = order(&world, 7, sealed(1, 400), 1, 1);
    world.order(4, cheapest);
    assert!(world.run_until(20_000, |w| finish(w, 4, 7) == Some(Finish::Done)));
    assert!(world.starts.iter().any(|(n, _)| *n == 0), "it serves");
}

#[test]
fn a_node_killed_as_its_offers_are_withdrawn_sets_them_again() {
    let mut world = market();
    world.command(0, Command::Drain);
    let sent = |w: &World| !w.nodes[0].withheld.is_empty();
    assert!(world.run_until(1_000, sent));
    assert_eq!(on_sale(&world, 0), 2, "its withdrawal is in no block yet");
    world.nodes[0].replies.clear();
    world.command(0, Command::WithdrawOffer(0));
    world.run(1);
    let busy = |reply: &Reply| matches!(reply, Reply::Refused(why) if why.word == "busy");
    assert!(
        world.nodes[0].replies.last().is_some_and(busy),
        "either could come first"
    );
    // It returns with the state from before, in which the offer stands.
    world.kill(0);
    assert!(
        world.run_until(20_000, |w| on_sale(w, 0) == 0),
        "decided without it"
    );
    world.restart(0);
    assert!(world.run_until(20_000, |w| on_sale(w, 0) == 2), "set again");
    assert!(
        !world.run_until(40_000, |w| on_sale(w, 0) == 0),
        "and stands"
    );
}

#[test]
fn an_offer_that_the_owner_withdraws_meanwhile_stays_away() {
    let mut world = market();
    world.input(0, 0, Input::Short(true));
    assert!(world.run_until(10_000, |w| on_sale(w, 0) == 0));
    world.command(0, Command::WithdrawOffer(0));
    world.run(1_000);
    assert_eq!(world.nodes[0].replies.last(), Some(&Reply::Done));
    world.input(0, 0, Input::Short(false));
    assert!(!world.run_until(20_000, |w| on_sale(w, 0) > 0));
}

#[test]
fn a_start_that_finds_no_room_ends_the_lease_unpaid_and_the_order_goes_elsewhere() {
    let mut world = market();
    let cheapest = order(&world, 7, sealed(1, 400), 1, 1);
    world.order(4, cheapest);
    assert!(world.run_until(10_000, |w| !w.starts.is_empty()));
    assert_eq!(world.starts[0].0, 0, "the cheaper seller");
    // Acknowledged, and the start is still on its way.
    world.input(0, 0, Input::Short(true));
    let elsewhere = |w: &World| w.starts.last().is_some_and(|(n, _)| *n == 1);
    assert!(world.run_until(6_000, elsewhere));
    assert!(world.run_until(20_000, |w| finish(w, 4, 7).is_some()));
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    let state = world.nodes[5].core.state();
    assert_eq!(has(&world, state, 0), 100_000_000, "nothing was earned");
}
