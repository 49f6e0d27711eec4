//! Claims on a pool: tasks run in the slots that are drawn, progress is remembered, money adds up.

use crate::genesis::{credits, node_key};
use crate::world::World;
use crate::{finish, order};
use gridbay_core::buy::{ShareTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{OfferTerms, PoolTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::units::{Credits, Price};

/// Four validators of which the first sells a pool of three units, two buyers.
fn pool() -> (World, OfferId) {
    let mut world = World::new(4, 2);
    let terms = OfferTerms {
        label: 0,
        class: world.class(),
        units: 3,
        reserve: Price(48),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Share(PoolTerms {
            cap_ppm: 1_000_000,
            sixteenths: 8,
        }),
        node: node_key(0),
    };
    let command = Command::SetOffer(terms);
    world.input(0, 500, Input::Command { token: 1, command });
    let on_sale = |w: &World| {
        (4..6).all(|n| {
            let mut offers = w.nodes[n].core.state().offers();
            offers.any(|(_, o)| o.pool().is_some())
        })
    };
    assert!(world.run_until(20_000, on_sale));
    let seller = world.nodes[0].core.account().expect("a member");
    (world, offer_id(&seller, 0))
}

fn claim(offer: OfferId, rate: u64) -> Terms {
    Terms::Share(ShareTerms {
        offer,
        rate: Credits::from_micros(rate).expect("small"),
        utility: Utility::Linear,
        weights: vec![1, 1, 1],
        budget: credits(50),
        patience: 1_000,
    })
}

fn agent(world: &World, n: usize, key: u64) -> &OrderAgent {
    let order = world.nodes[n].core.buyer().order(&OrderKey(key));
    order.expect("it was placed")
}

#[test]
fn two_claims_share_three_units_and_finish_their_tasks() {
    let (mut world, offer) = pool();
    for (n, key) in [(4, 1), (5, 2)] {
        let want = order(&world, key, claim(offer, 6_000), 8, 1);
        world.order(n, want);
    }
    let done = |w: &World| {
        [(4, 1), (5, 2)]
            .iter()
            .all(|(n, key)| finish(w, *n, *key).is_some())
    };
    assert!(world.run_until(120_000, done), "both end");
    for (n, key) in [(4, 1), (5, 2)] {
        assert_eq!(finish(&world, n, key), Some(Finish::Done));
        for rank in 0..8u32 {
            let output = &world.nodes[n].output[&(OrderKey(key), rank)];
            assert_eq!(output, rank.to_string().as_bytes());
        }
        assert_eq!(
            agent(&world, n, key).milestones().lost,
            0,
            "a pause loses nothing"
        );
    }
    let settled = |w: &World| {
        [(4, 1), (5, 2)]
            .iter()
            .all(|(n, key)| agent(w, *n, *key).is_settled())
    };
    assert!(world.run_until(10_000, settled));
    let state = world.nodes[0].core.state();
    let free = |n: usize| crate::has(&world, state, n);
    let start = credits(100).micros() as i64;
    for (n, key) in [(4, 1), (5, 2)] {
        let paid = agent(&world, n, key).paid();
        assert!(paid > Credits::ZERO);
        assert_eq!(paid.micros() as i64, start - free(n));
    }
    assert_eq!(free(0) - start, 2 * start - free(4) - free(5));
    // Both have held one or two of the three units in each slot, and seen their tasks end.
    let past = &agent(&world, 4, 1).experience().past;
    assert!(!past.is_empty());
    let third = (1u64 << 32) / 3;
    for slot in past {
        assert!(slot.shares.len() == 3 && slot.tasks <= 2 * 2, "{slot:?}");
        assert!(
            [third, 2 * third, 2 * third + 1].contains(&slot.shares[0]),
            "{slot:?}"
        );
    }
    let ran: u32 = past.iter().map(|s| s.tasks).sum();
    assert!(ran > 0 && ran <= 8, "{past:?}");
}

#[test]
fn a_claim_that_the_ledger_would_refuse_is_not_sent() {
    let (mut world, offer) = pool();
    let stranger = order(&world, 1, claim(OfferId([7; 32]), 6_000), 2, 1);
    let dear = order(&world, 2, claim(offer, 200_000_000), 2, 1);
    let first = order(&world, 3, claim(offer, 6_000), 2, 60);
    for want in [stranger, dear, first] {
        world.order(4, want);
    }
    assert!(world.run_until(1_000, |w| w.nodes[4].replies.len() == 3));
    let refused = |n: usize, why: &str| matches!(&world.nodes[4].replies[n], Reply::Refused(r) if r.reason.contains(why));
    assert!(refused(0, "no pool"), "{:?}", world.nodes[4].replies);
    assert!(refused(1, "below one slot"), "{:?}", world.nodes[4].replies);
    assert_eq!(world.nodes[4].replies[2], Reply::Ordered(OrderKey(3)));
    // A second one beside it is refused as well, and cancelling frees the place.
    let stands = |w: &World| w.nodes[4].core.state().orders().count() == 1;
    assert!(world.run_until(5_000, stands));
    let second = order(&world, 4, claim(offer, 6_000), 2, 1);
    world.order(4, second);
    assert!(world.run_until(1_000, |w| w.nodes[4].replies.len() == 4));
    let twice = &world.nodes[4].replies[3];
    assert!(
        matches!(twice, Reply::Refused(r) if r.reason.contains("claims a share")),
        "{twice:?}"
    );
    world.command(4, Command::Cancel(OrderKey(3)));
    assert!(world.run_until(20_000, |w| finish(w, 4, 3) == Some(Finish::Cancelled)));
}

#[test]
fn weights_are_learnt_from_past_slots() {
    let (mut world, offer) = pool();
    let rates = [6_000, 24_000];
    for (n, key) in [(4, 1), (5, 2)] {
        let want = order(&world, key, claim(offer, rates[key as usize - 1]), 40, 1);
        world.order(n, want);
    }
    let seen = |w: &World| {
        let order = w.nodes[5].core.buyer().order(&OrderKey(2));
        order.is_some_and(|o| o.experience().past.len() >= 6)
    };
    assert!(world.run_until(120_000, seen));
    let core = &world.nodes[5].core;
    let (class, state) = (world.class(), core.state());
    let types = state.class(&class).unwrap().key.resources().count();
    let learnt = |program| core.buyer().learnt(&class, program, Utility::Linear, types);
    // The estimate gives processors a weight, whatever it is; another program has taught nothing.
    if let Some(weights) = learnt("sleep") {
        assert!(weights.len() == 3 && weights[0] > 0, "{weights:?}");
    }
    assert_eq!(learnt("true"), None);
    // The lessons outlive the node.
    world.kill(5);
    world.run(500);
    world.restart(5);
    assert!(seen(&world));
}
