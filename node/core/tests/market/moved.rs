//! A job that loses its unit five times, to buys, to its seller's owner and to a seller's death,
//! goes on at another seller each time, and falls back by one interval at the most.

use crate::checkpoints::{BUYER, EVERY_MS, LATE_MS, keeping, resumed, runs, task};
use crate::genesis::node_key;
use crate::world::World;
use crate::{credits, finish, offer, order, sealed};
use gridbay_core::buy::{BuyTerms, Terms};
use gridbay_core::buyer::{AttemptEnd, Finish};
use gridbay_core::input::Command;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::order::BuyPart;
use std::collections::BTreeMap;

/// Validators that sell a unit each, at the same prices.
const SELLERS: usize = 4;
/// Seconds of work of the job.
const WORK: u64 = 24;

/// What takes the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// Somebody buys just this one.
    Bought,
    /// Its owner withdraws the offer.
    Withdrawn,
    /// The seller's node dies.
    Killed,
}

/// Four sellers of a unit each.
fn four_sellers() -> World {
    let mut world = World::new(SELLERS, 2);
    for n in 0..SELLERS {
        world.run(300);
        let sold = offer(&world, n, 1, 50, 200);
        world.command(n, sold);
    }
    assert!(world.run_until(20_000, |w| sellers(w) == SELLERS));
    world
}

fn sellers(world: &World) -> usize {
    let state = world.nodes[5].core.state();
    state.offers().filter(|(_, offer)| offer.active).count()
}

/// The node where the task runs by its buyer's word, and since which attempt.
fn place(world: &World) -> (usize, u32) {
    let history = task(world, 1, 0).history;
    let last = history.attempts.last().expect("it was started");
    let here = (0..SELLERS).find(|n| node_key(*n) == last.node);
    (here.expect("a seller"), last.number)
}

fn buy(world: &World, key: u64, from: OfferId) -> gridbay_core::buy::NewOrder {
    let mut part = BuyPart::anywhere(world.class(), 1);
    part.offers = vec![from];
    let terms = Terms::Buy(BuyTerms {
        parts: vec![part],
        limit: credits(1),
        patience: 0,
        surcharge: Default::default(),
    });
    let mut now = order(world, key, terms, 1, 1);
    now.slots = 1;
    now
}

fn offer_of(world: &World, seller: usize) -> OfferId {
    let mut offers = world.nodes[5].core.state().offers();
    let theirs = offers.find(|(_, offer)| offer.terms.node == node_key(seller));
    *theirs.expect("it sells").0
}

fn take(world: &mut World, seller: usize, loss: Loss, key: u64) {
    match loss {
        Loss::Bought => {
            let from = offer_of(world, seller);
            let now = buy(world, key, from);
            world.order(5, now);
        }
        Loss::Withdrawn => world.command(seller, Command::WithdrawOffer(0)),
        Loss::Killed => world.kill(seller),
    }
}

#[test]
fn a_job_that_loses_its_unit_five_times_goes_on_elsewhere_each_time() {
    let mut world = four_sellers();
    let low = keeping(order(&world, 1, sealed(1, 100), 1, WORK));
    world.order(BUYER, low);
    let losses = [
        Loss::Bought,
        Loss::Withdrawn,
        Loss::Bought,
        Loss::Killed,
        Loss::Bought,
    ];
    let mut taken = BTreeMap::new();
    for (key, loss) in (10..).zip(losses) {
        // Beyond an interval, so that there is something to lose. The market may move the job
        // meanwhile as well, to a unit that has become free.
        world.run(EVERY_MS + 1_200);
        assert!(
            world.run_until(20_000, |w| runs(w, BUYER, 1) == 1),
            "{loss:?}"
        );
        let (seller, attempt) = place(&world);
        taken.insert(attempt, loss);
        take(&mut world, seller, loss, key);
        let moved = |w: &World| place(w).1 > attempt && runs(w, BUYER, 1) == 1;
        assert!(world.run_until(200_000, moved), "{loss:?}");
        match loss {
            Loss::Bought => {}
            Loss::Withdrawn => {
                let again = offer(&world, seller, 1, 50, 200);
                world.command(seller, again);
            }
            Loss::Killed => world.restart(seller),
        }
    }
    assert!(world.run_until(200_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
    let attempts = task(&world, 1, 0).history.attempts;
    assert!(attempts.len() > losses.len(), "{attempts:?}");
    for pair in attempts.windows(2) {
        assert_eq!(pair[0].end, Some(AttemptEnd::UnitLost), "{attempts:?}");
        assert_ne!(pair[0].node, pair[1].node, "{attempts:?}");
        let from = pair[1].resumed.expect("it went on");
        assert!(from.from <= pair[0].number, "{attempts:?}");
        // Only a death costs anything, and at most an interval: all others leave the grace.
        let killed = taken.get(&pair[0].number) == Some(&Loss::Killed);
        assert_eq!(pair[0].lost_ms > LATE_MS, killed, "{attempts:?}");
        assert!(pair[0].lost_ms <= EVERY_MS + LATE_MS, "{attempts:?}");
    }
    let last = attempts.last().map(|attempt| attempt.end);
    assert_eq!(last, Some(Some(AttemptEnd::Done)));
    // By the count: what each attempt is given is what the last had reached, but for an interval.
    let mut reached = 0;
    let starts = resumed(&world, 1, 0);
    assert_eq!(starts.len(), attempts.len());
    for ((number, from), attempt) in starts.iter().zip(&attempts) {
        assert_eq!(*number, attempt.number);
        let given = from.map_or(0, |from| world.snapshots[&from.manifest]);
        assert!(
            given + EVERY_MS + LATE_MS >= reached,
            "{given} of {reached}"
        );
        reached = given + attempt.ended_ms - attempt.started_ms;
    }
    assert!(reached >= WORK * 1_000, "{reached}");
    assert!(reached <= WORK * 1_000 + LATE_MS, "{reached}");
}
