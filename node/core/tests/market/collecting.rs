//! Output that comes more slowly than leases last: what a program has done is not lost with its
//! unit, and nobody pays for the transfer.

use crate::world::World;
use crate::{finish, market, order, sealed};
use gridbay_core::buy::End;
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::key::OrderKey;

/// The buyer's node.
const BUYER: usize = 4;

fn agent(world: &World) -> &OrderAgent {
    let buyer = world.nodes[BUYER].core.buyer();
    buyer.order(&OrderKey(7)).expect("it was ordered")
}

/// Three tasks of three seconds, whose output does not come for a while after they ended.
fn slow(slots: u32, away_ms: u64) -> World {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 3);
    want.slots = slots;
    world.slow_until = world.now + away_ms;
    world.order(BUYER, want);
    let ended = |w: &World| agent(w).tasks.collecting() == 3;
    assert!(world.run_until(1, |w| !w.nodes[BUYER].replies.is_empty()));
    assert!(world.run_until(30_000, ended), "the end of all is known");
    world
}

/// Whether the ledger has nothing of the order any more.
fn given_up(world: &World) -> bool {
    let state = world.nodes[BUYER].core.state();
    agent(world).id.is_some_and(|id| state.order(&id).is_none())
}

#[test]
fn an_order_whose_tasks_ended_gives_its_units_up_and_is_done_when_the_output_is_here() {
    let mut paid = Vec::new();
    for away_ms in [0, 60_000] {
        let mut world = market();
        world.slow_until = world.now + away_ms;
        let want = order(&world, 7, sealed(3, 400), 3, 3);
        world.order(BUYER, want);
        let done = |w: &World| finish(w, BUYER, 7).is_some() && given_up(w);
        assert!(world.run_until(90_000, done), "{away_ms}");
        assert_eq!(finish(&world, BUYER, 7), Some(Finish::Done));
        for rank in 0..3u32 {
            let output = &world.nodes[BUYER].output[&(OrderKey(7), rank)];
            assert_eq!(output, rank.to_string().as_bytes());
        }
        paid.push(agent(&world).paid().micros());
    }
    assert!(
        paid[1] <= 2 * paid[0],
        "a minute of transfer is not paid for: {paid:?}"
    );
}

#[test]
fn a_lease_that_ends_before_the_output_is_here_takes_nothing_away() {
    // The first slot is half over when the lease begins.
    let mut world = slow(2, 60_000);
    assert!(world.run_until(20_000, given_up), "its slots are over");
    assert_eq!(finish(&world, BUYER, 7), None, "it waits for the output");
    // Its node is started anew meanwhile, and knows that nothing is to be run again.
    world.kill(BUYER);
    world.run(2_000);
    world.restart(BUYER);
    world.run(5_000);
    assert_eq!(finish(&world, BUYER, 7), None);
    assert_eq!(agent(&world).tasks.collecting(), 3);
    assert_eq!(world.starts.len(), 3, "nothing is started again");
    let done = |w: &World| finish(w, BUYER, 7).is_some();
    assert!(world.run_until(60_000, done));
    assert_eq!(finish(&world, BUYER, 7), Some(Finish::Done));
    let records = &agent(&world).tasks.records;
    assert!(records.iter().all(|t| t.ended.is_none() && t.attempt == 1));
}

#[test]
fn a_seller_that_goes_with_the_output_ends_an_order_without_units() {
    let mut world = slow(100, 600_000);
    assert!(world.run_until(20_000, given_up));
    let sellers: Vec<usize> = world.starts.iter().map(|(seller, _)| *seller).collect();
    let one = sellers[0];
    world.suspend(one);
    assert!(world.run_until(200_000, |w| agent(w).tasks.collecting() < 3));
    assert_eq!(finish(&world, BUYER, 7), None, "the others' may still come");
    for other in sellers {
        world.suspend(other);
    }
    // Without them no block is made, and without blocks nothing ends.
    world.run(100_000);
    for seller in [0, 1] {
        world.nodes[seller].jobs.clear();
        world.resume(seller);
    }
    assert!(world.run_until(60_000, |w| finish(w, BUYER, 7).is_some()));
    assert_eq!(
        finish(&world, BUYER, 7),
        Some(Finish::Ended(End::Lost)),
        "and not cancelled, which nobody did"
    );
}

#[test]
fn a_user_who_cancels_waits_for_no_output() {
    let mut world = slow(100, 600_000);
    let cancel = gridbay_core::input::Command::Cancel(OrderKey(7));
    world.command(BUYER, cancel);
    let over = |w: &World| agent(w).is_settled();
    assert!(world.run_until(60_000, over));
    assert_eq!(finish(&world, BUYER, 7), Some(Finish::Cancelled));
    assert!(agent(&world).tasks.runs.is_empty());
}
