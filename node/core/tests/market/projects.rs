//! Orders of projects: a budget holds whatever comes at once, and over a kill.

use crate::genesis::credits;
use crate::world::World;
use crate::{finish, order, sealed};
use gridbay_core::buyer::ProjectUse;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::project::{ProjectBounds, ProjectMark};
use gridbay_core::reply::{Refused, RefusedKind, Reply};
use gridbay_protocol::units::Credits;

/// The buyer among the nodes of the market.
const BUYER: usize = 5;

fn bounds(budget: Option<Credits>) -> ProjectBounds {
    ProjectBounds {
        budget,
        jobs: None,
        nodes: None,
        time_ms: 0..u64::MAX,
    }
}

fn send(world: &mut World, key: u64, most: Credits, bounds: ProjectBounds) {
    let mark = ProjectMark {
        project: "bio".to_owned(),
        user: Some("ann".to_owned()),
        most,
    };
    let order = Box::new(order(world, key, sealed(1, 100), 1, 1));
    world.command(BUYER, Command::ProjectOrder(order, mark, bounds));
}

fn used(world: &World) -> ProjectUse {
    let orders = world.nodes[BUYER].core.buyer().orders();
    ProjectUse::of(orders.map(|(_, agent)| agent), "bio", &(0..u64::MAX))
}

fn refusals(world: &World) -> Vec<&Refused> {
    let replies = world.nodes[BUYER].replies.iter();
    let refused = replies.filter_map(|reply| match reply {
        Reply::Refused(refused) => Some(refused),
        _ => None,
    });
    refused.collect()
}

#[test]
fn fifty_orders_at_once_never_pass_the_budget() {
    let mut world = crate::market();
    for key in 1..=50 {
        send(&mut world, key, credits(3), bounds(Some(credits(100))));
    }
    world.run(100);
    let used = used(&world);
    assert_eq!((used.jobs, used.nodes, used.taken()), (33, 33, credits(99)));
    let refused = refusals(&world);
    assert_eq!(refused.len(), 17);
    for refusal in refused {
        assert_eq!(
            (refusal.kind, refusal.word),
            (RefusedKind::Unfunded, "project")
        );
        assert!(
            refusal.reason.contains("has 1 left of 100"),
            "{}",
            refusal.reason
        );
    }
    // Without a project there is no such bound.
    let free = order(&world, 99, sealed(1, 100), 1, 1);
    world.order(BUYER, free);
    world.run(100);
    assert!(matches!(
        world.nodes[BUYER].replies.last(),
        Some(Reply::Ordered(_))
    ));
}

#[test]
fn jobs_and_nodes_at_once_are_bounded_too() {
    let mut world = crate::market();
    let few = |jobs, nodes| ProjectBounds {
        jobs,
        nodes,
        ..bounds(None)
    };
    for (key, bounds) in (1..).zip([
        few(Some(2), None),
        few(Some(2), None),
        few(Some(2), None),
        few(None, Some(2)),
        few(None, Some(3)),
    ]) {
        send(&mut world, key, credits(1), bounds);
    }
    world.run(100);
    let said: Vec<bool> = world.nodes[BUYER]
        .replies
        .iter()
        .map(|reply| matches!(reply, Reply::Ordered(_)))
        .collect();
    assert_eq!(said, [true, true, false, false, true]);
}

#[test]
fn a_kill_between_check_and_send_loses_no_reservation_and_counts_none_twice() {
    let mut world = crate::market();
    let budget = Some(credits(5));
    send(&mut world, 1, credits(3), bounds(budget));
    // The step has ended, and what it sent is still on its way.
    let ordered = |w: &World| !w.nodes[BUYER].replies.is_empty();
    assert!(world.run_until(1_000, ordered));
    world.kill(BUYER);
    world.restart(BUYER);
    assert_eq!(used(&world).taken(), credits(3));
    // The same order again, as a client does that had no answer; and one that does not fit.
    send(&mut world, 1, credits(3), bounds(budget));
    send(&mut world, 2, credits(3), bounds(budget));
    let joined = |w: &World| w.nodes[BUYER].core.account().is_some();
    assert!(world.run_until(20_000, joined));
    world.run(1_000);
    let (after, refused) = (used(&world), refusals(&world));
    assert_eq!((after.jobs, after.taken()), (1, credits(3)));
    assert_eq!(refused.len(), 1);
    // It is sent after all, runs, and then counts with what it cost.
    assert!(world.run_until(200_000, |w| finish(w, BUYER, 1).is_some()));
    assert!(world.run_until(200_000, |w| used(w).reserved == Credits::ZERO));
    let agent = world.nodes[BUYER].core.buyer().order(&OrderKey(1));
    let paid = agent.expect("it is kept").paid();
    let after = used(&world);
    assert!(paid > Credits::ZERO && paid < credits(3), "{paid}");
    assert_eq!(
        (after.jobs, after.spent, after.reserved),
        (0, paid, Credits::ZERO)
    );
}

#[test]
fn an_amendment_does_not_pass_what_the_project_counts_on() {
    let mut world = crate::market();
    send(&mut world, 1, credits(50), bounds(Some(credits(50))));
    let opened = |w: &World| {
        let agent = w.nodes[BUYER].core.buyer().order(&OrderKey(1));
        agent.is_some_and(|agent| agent.milestones().opened > 0)
    };
    assert!(world.run_until(20_000, opened));
    let gridbay_core::buy::Terms::Sealed(terms) = sealed(1, 200) else {
        panic!("a bid")
    };
    world.command(
        BUYER,
        Command::Amend {
            order: OrderKey(1),
            steps: terms.steps,
            budget: Some(credits(51)),
        },
    );
    world.run(100);
    let refused = refusals(&world);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].word, "project");
}
