//! Reservations by whole cores: booked ahead, begun on time, told their channel; refused before
//! they are sent.

use crate::genesis::{credits, node_key};
use crate::world::World;
use crate::{equal_states, finish, order};
use gridbay_core::buy::{NewOrder, ReserveTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::Seen;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::Group;
use gridbay_protocol::units::{Credits, Price};

/// Four validators of which two sell two units each under reservation, one buyer. The posted price
/// is 100.
fn market() -> World {
    let mut world = World::new(4, 2);
    for n in [0, 1] {
        let command = Command::SetOffer(OfferTerms {
            label: 0,
            class: world.class(),
            units: 2,
            reserve: Price(60),
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Reservation,
            node: node_key(n),
        });
        world.input(n, 500, Input::Command { token: 1, command });
    }
    let on_sale = |w: &World| {
        (4..6).all(|n| {
            let offers = w.nodes[n].core.state().offers();
            offers.filter(|(_, o)| o.active).count() == 2
        })
    };
    assert!(world.run_until(20_000, on_sale));
    world
}

fn next_slot(world: &World) -> u64 {
    let state = world.nodes[4].core.state();
    state.calendar().slot(state.height()) + 1
}

/// Three units for `slots` slots, from `ahead` slots after the next one on.
fn reserve(world: &World, ahead: u64, slots: u32, value: u64, seconds: u64) -> NewOrder {
    let earliest = next_slot(world) + ahead;
    let terms = Terms::Reserve(ReserveTerms {
        groups: vec![Group {
            units: 3,
            offers: vec![],
        }],
        earliest,
        latest: earliest + 20,
        value: Credits::from_micros(value).expect("small"),
        channels: Some(Channels { low: 7, high: 9 }),
    });
    NewOrder {
        slots,
        ..order(world, 7, terms, 3, seconds)
    }
}

#[test]
fn a_reservation_ends_as_a_settled_lease() {
    let mut world = market();
    let want = reserve(&world, 5, 4, 1_301, 5);
    let Terms::Reserve(terms) = want.terms.clone() else {
        unreachable!("it reserves");
    };
    world.order(4, want);
    let booked = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(7)).unwrap();
        match order.seen {
            Seen::Booked(start) => Some(start),
            _ => None,
        }
    };
    assert!(world.run_until(1_000, |w| !w.nodes[4].replies.is_empty()));
    assert_eq!(world.nodes[4].replies, [Reply::Ordered(OrderKey(7))]);
    assert!(world.run_until(30_000, |w| booked(w).is_some()));
    assert_eq!(booked(&world), Some(terms.earliest));
    assert!(next_slot(&world) < terms.earliest, "ahead of time");
    assert!(world.run_until(60_000, |w| finish(w, 4, 7).is_some()));
    assert_eq!(finish(&world, 4, 7), Some(Finish::Done));
    let settled = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(7)).unwrap();
        order.is_settled()
    };
    assert!(world.run_until(10_000, settled));
    for job in &world.starts {
        assert!(job.1.start.tasks == 3);
    }
    let channels = world.played_env("GRIDBAY_CHANNEL");
    assert_eq!(channels, ["7", "7", "7"], "every task knows the channel");

    let state = world.nodes[4].core.state();
    let free = |n: usize| crate::has(&world, state, n) - credits(100).micros() as i64;
    // 1,301 over 4 slots is 325 and 1 over. The job ends in the third slot, and the lease with it.
    assert_eq!(free(4), -(326 + 325 + 325));
    assert_eq!(free(0) + free(1), 326 + 325 + 325);
    let order = world.nodes[4].core.buyer().order(&OrderKey(7)).unwrap();
    assert_eq!(order.paid().micros() as i64, -free(4));
    equal_states(&world);
}

#[test]
fn a_booking_survives_a_restart_and_can_be_given_up() {
    let mut world = market();
    let want = reserve(&world, 8, 4, 1_301, 5);
    world.order(4, want);
    let booked = |w: &World| {
        let order = w.nodes[4].core.buyer().order(&OrderKey(7));
        order.is_some_and(|o| matches!(o.seen, Seen::Booked(_)))
    };
    assert!(world.run_until(30_000, booked));
    world.kill(4);
    world.run(500);
    world.restart(4);
    assert!(world.run_until(10_000, booked));
    world.command(4, Command::Cancel(OrderKey(7)));
    assert!(world.run_until(20_000, |w| finish(w, 4, 7) == Some(Finish::Cancelled)));
    let state = world.nodes[4].core.state();
    let account = world.nodes[4].core.account().unwrap();
    assert_eq!(
        state.balance(&account).free,
        credits(100).micros() as i64 - 326,
        "the first slot is paid"
    );
    let order = world.nodes[4].core.buyer().order(&OrderKey(7)).unwrap();
    assert_eq!(order.paid().micros(), 326);
}

#[test]
fn what_cannot_be_booked_is_refused_before_it_is_sent() {
    let mut world = market();
    let cheap = reserve(&world, 5, 4, 1_199, 5);
    let mut past = reserve(&world, 0, 1, 1_000, 5);
    let mut beyond = reserve(&world, 60, 1, 1_000, 5);
    let mut dear = reserve(&world, 5, 1, 1_000, 5);
    for order in [&mut past, &mut beyond, &mut dear] {
        let now = next_slot(&world) - 1;
        if let Terms::Reserve(terms) = &mut order.terms {
            terms.latest = terms.latest.min(now + 90);
        }
    }
    let mut inverted = reserve(&world, 5, 4, 1_301, 5);
    if let Terms::Reserve(terms) = &mut inverted.terms {
        terms.latest = terms.earliest - 1;
    }
    if let Terms::Reserve(terms) = &mut past.terms {
        (terms.earliest, terms.latest) = (0, terms.earliest - 1);
    }
    if let Terms::Reserve(terms) = &mut dear.terms {
        terms.value = credits(101);
    }
    for (order, word, words) in [
        (inverted, "starts", "not before the first"),
        (cheap, "below_posted", "posted price"),
        (past, "start_past", "the next slot is"),
        (beyond, "start_beyond", "starts are sold up to"),
        (dear, "funds", "100 credits available"),
    ] {
        world.nodes[4].replies.clear();
        world.order(4, order);
        assert!(world.run_until(1_000, |w| !w.nodes[4].replies.is_empty()));
        let Reply::Refused(why) = &world.nodes[4].replies[0] else {
            panic!("{:?}", world.nodes[4].replies);
        };
        assert_eq!(why.word, word);
        assert!(why.reason.contains(words), "{words}: {}", why.reason);
    }
    assert!(world.nodes[4].records.is_empty());
}
