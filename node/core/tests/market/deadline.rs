//! Jobs by deadlines through whole cores: on the units that the seller's plan gives, paid for when
//! they are done.

use crate::genesis::{credits, node_key};
use crate::world::World;
use crate::{equal_states, finish, order};
use gridbay_core::buy::{DeadlineWish, End, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Price;

/// Node 0 plans two units.
fn market() -> World {
    let mut world = World::new(4, 2);
    let command = Command::SetOffer(OfferTerms {
        label: 0,
        class: world.class(),
        units: 2,
        reserve: Price(50),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Deadline(DeadlineTerms {
            min_gain_ppm: 0,
            bond_ppm: 250_000,
        }),
        node: node_key(0),
    });
    world.input(0, 500, Input::Command { token: 1, command });
    let knows = |w: &World, n: usize| w.nodes[n].core.state().offers().any(|(_, o)| o.active);
    let on_sale = |w: &World| knows(w, 4) && knows(w, 5);
    assert!(world.run_until(20_000, on_sale));
    world
}

fn terms(world: &World, unit_slots: u64, soft: u32, hard: u32) -> Terms {
    let seller = world.nodes[0].core.account().expect("it trades");
    Terms::Deadline(DeadlineWish {
        offer: offer_id(&seller, 0),
        unit_slots,
        soft,
        hard,
        pmax: credits(2),
        pmin: credits(1),
        shape: Shape::Linear,
    })
}

#[test]
fn a_bag_of_tasks_runs_on_what_the_plan_gives_and_pays_when_it_is_done() {
    let mut world = market();
    let want = order(&world, 7, terms(&world, 6, 1, 9), 6, 1);
    world.order(4, want);
    assert!(
        world.run_until(30_000, |w| finish(w, 4, 7).is_some()),
        "the job ends"
    );
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    for rank in 0..6u32 {
        let output = &world.nodes[4].output[&(OrderKey(7), rank)];
        assert_eq!(output, rank.to_string().as_bytes());
    }
    let agent = |w: &World| w.nodes[4].core.buyer().order(&OrderKey(7)).cloned();
    let settled = |w: &World| agent(w).is_some_and(|order| order.is_settled());
    assert!(world.run_until(10_000, settled), "the ledger has closed it");
    let paid = agent(&world).unwrap().paid();
    let state = world.nodes[4].core.state();
    let free = |n: usize| state.balance(&world.nodes[n].core.account().unwrap()).free;
    let start = credits(100).micros() as i64;
    assert_eq!(start - free(4), paid.micros() as i64, "what left the purse");
    assert_eq!(free(0) - start, paid.micros() as i64, "what the seller has");
    // Six tasks on two units take more than the soft deadline of one slot, and less than the hard
    // one.
    assert!(credits(1) < paid && paid < credits(2), "{paid}");
    let id = agent(&world).unwrap().id.unwrap();
    assert_eq!(state.purse(&Purse::Bond(id)), 0);
    equal_states(&world);
}

#[test]
fn an_urgent_job_pauses_a_patient_one_which_goes_on() {
    let mut world = market();
    let patient = order(&world, 1, terms(&world, 12, 10, 20), 8, 1);
    world.order(4, patient);
    let runs = |w: &World, n: usize, key| {
        let order = w.nodes[n].core.buyer().order(&OrderKey(key));
        order.is_some_and(|o| !o.tasks.runs.is_empty())
    };
    assert!(world.run_until(10_000, |w| runs(w, 4, 1)));
    let urgent = order(&world, 2, terms(&world, 4, 2, 3), 2, 1);
    world.order(5, urgent);
    let paused = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(1));
        order.is_some_and(|o| o.last_end == Some(End::Paused))
    };
    assert!(world.run_until(10_000, paused), "the patient one is paused");
    let done = |w: &World, n, key| finish(w, n, key) == Some(Finish::Done);
    assert!(world.run_until(30_000, |w| done(w, 5, 2)));
    assert!(world.run_until(60_000, |w| done(w, 4, 1)), "and resumed");
    equal_states(&world);
}

#[test]
fn what_the_seller_could_never_do_is_not_sent() {
    let mut world = market();
    let want = order(&world, 3, terms(&world, 19, 1, 9), 6, 1);
    world.order(4, want);
    assert!(world.run_until(1_000, |w| !w.nodes[4].replies.is_empty()));
    let [Reply::Refused(refused)] = &world.nodes[4].replies[..] else {
        panic!("{:?}", world.nodes[4].replies);
    };
    assert!(
        refused.reason.contains("19 unit-slots"),
        "{}",
        refused.reason
    );
    assert!(refused.hint.contains("later hard deadline"));
    assert!(world.nodes[4].records.is_empty());
}
