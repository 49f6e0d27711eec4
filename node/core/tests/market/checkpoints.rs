//! Progress survives the loss of a unit and of a seller, and only the last whole checkpoint counts.

use crate::world::World;
use crate::{finish, market, order, sealed};
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::buy::{BuyTerms, End, NewOrder, Terms};
use gridbay_core::buyer::{Attempt, AttemptEnd, Finish, TaskRecord};
use gridbay_core::effect::Effect;
use gridbay_core::input::{Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_protocol::checkpoint::{Checkpoint, Snapshot};
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::order::BuyPart;

/// The buyer's node.
pub(crate) const BUYER: usize = 4;
pub(crate) const EVERY_MS: u64 = 2_000;
/// Polls, answers and ticks that a checkpoint may be late by.
pub(crate) const LATE_MS: u64 = 500;

pub(crate) fn keeping(mut order: NewOrder) -> NewOrder {
    order.spec.checkpoint = Some(Checkpoint {
        folder: "ckpt".into(),
        grace_seconds: 5,
        every_seconds: 2,
    });
    order
}

pub(crate) fn task(world: &World, key: u64, task: usize) -> TaskRecord {
    let agent = world.nodes[BUYER].core.buyer().order(&OrderKey(key));
    agent.expect("it is there").tasks.records[task].clone()
}

/// Whether all four tasks have a checkpoint at the buyer.
fn all_kept(world: &World) -> bool {
    let agent = world.nodes[BUYER].core.buyer().order(&OrderKey(1));
    let records = agent.map(|agent| agent.tasks.records.as_slice());
    records.is_some_and(|r| r.iter().all(|t| t.history.checkpoint.is_some()))
}

pub(crate) fn runs(world: &World, n: usize, key: u64) -> usize {
    let order = world.nodes[n].core.buyer().order(&OrderKey(key));
    let runs = order.map(|o| o.tasks.runs.values().filter(|r| r.accepted).count());
    runs.unwrap_or(0)
}

/// A buy of all units, which takes them for a slot.
fn rival(world: &World, key: u64) -> NewOrder {
    let terms = Terms::Buy(BuyTerms {
        parts: vec![BuyPart::anywhere(world.class(), 4)],
        limit: crate::credits(1),
        patience: 0,
        surcharge: Default::default(),
    });
    let mut now = order(world, key, terms, 4, 1);
    now.slots = 1;
    now
}

/// The checkpoints that starts of a task named, by attempt.
pub(crate) fn resumed(world: &World, key: u64, task: u32) -> Vec<(u32, Option<Snapshot>)> {
    let salt = world.nodes[BUYER].core.buyer().order(&OrderKey(key));
    let salt = salt.expect("it is there").order().task_salt(task);
    let theirs = world.starts.iter().map(|(_, signed)| &signed.start);
    let theirs = theirs.filter(|s| s.job.task == task && s.salt == salt);
    let mut starts: Vec<_> = theirs.map(|s| (s.job.attempt, s.resume)).collect();
    starts.dedup();
    starts
}

#[test]
fn a_job_that_is_preempted_again_and_again_loses_nothing() {
    let mut world = market();
    let low = keeping(order(&world, 1, sealed(4, 300), 4, 12));
    world.order(BUYER, low);
    assert!(
        world.run_until(10_000, |w| runs(w, BUYER, 1) == 4),
        "it runs"
    );
    for times in 0..3 {
        world.run(1_200);
        let now = rival(&world, 10 + times);
        world.order(5, now);
        let taken = |w: &World| runs(w, 5, 10 + times) > 0;
        assert!(world.run_until(6_000, taken), "the buy runs");
        let back = |w: &World| runs(w, BUYER, 1) == 4;
        assert!(world.run_until(60_000, back), "and the bid again");
    }
    assert!(world.run_until(60_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
    for rank in 0..4 {
        let task = task(&world, 1, rank);
        let ends: Vec<_> = task.history.attempts.iter().map(|a| a.end).collect();
        let lost = Some(AttemptEnd::UnitLost);
        assert_eq!(ends[..3], [lost, lost, lost], "{task:?}");
        assert_eq!(ends.last(), Some(&Some(AttemptEnd::Done)));
        for pair in task.history.attempts.windows(2) {
            assert_eq!(pair[0].market, Some(End::Preempted));
            let from = pair[1].resumed.expect("it went on");
            assert_eq!(from.from, pair[0].number);
        }
        assert!(task.history.lost_ms < 4 * LATE_MS, "{task:?}");
        let slept = |a: &Attempt| a.ended_ms - a.started_ms;
        let all: u64 = task.history.attempts.iter().map(slept).sum();
        assert!(all < 12_000 + 4 * LATE_MS, "{all} ms were worked for 12 s");
        // A later attempt is given what the earlier ones had slept, and no less than the last.
        let starts = resumed(&world, 1, rank as u32);
        assert_eq!(starts[0], (0, None));
        let slept: Vec<u64> = starts[1..]
            .iter()
            .map(|(_, from)| world.snapshots[&from.expect("it goes on").manifest])
            .collect();
        assert!(slept.is_sorted() && slept[0] >= 1_200, "{slept:?}");
        assert_eq!(task.history.checkpoint, None, "it is forgotten at the end");
    }
}

#[test]
fn a_dead_seller_costs_at_most_the_time_between_two_checkpoints() {
    let mut world = market();
    let want = keeping(order(&world, 1, sealed(2, 400), 2, 9));
    world.order(BUYER, want);
    assert!(world.run_until(10_000, |w| runs(w, BUYER, 1) == 2));
    let node = |rank| task(&world, 1, rank).history.attempts[0].node;
    assert_eq!(
        [node(0), node(1)],
        [crate::node_key(0); 2],
        "the cheaper one"
    );
    let slept = |w: &World, rank| {
        let kept = task(w, 1, rank).history.checkpoint;
        kept.map_or(0, |k| w.snapshots[&k.snapshot.manifest])
    };
    let twice = |w: &World| (0..2).all(|rank| slept(w, rank) > 2_500);
    assert!(world.run_until(8_000, twice), "they come while it runs");
    world.run(1_000);
    world.kill(0);
    assert!(world.run_until(200_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
    for rank in 0..2 {
        let history = task(&world, 1, rank).history;
        let last = &history.attempts[history.attempts.len() - 1];
        assert_eq!(last.node, crate::node_key(1));
        assert!(
            last.resumed.is_some_and(|from| from.from == 0),
            "{history:?}"
        );
        // It counts until the seller was last heard of, half a second before at the most.
        assert!(history.lost_ms >= 400, "{history:?}");
        assert!(history.lost_ms <= EVERY_MS + LATE_MS, "{history:?}");
    }
}

#[test]
fn a_buyer_that_is_killed_remembers_the_checkpoint() {
    let mut world = market();
    let want = keeping(order(&world, 1, sealed(4, 300), 4, 12));
    world.order(BUYER, want);
    assert!(world.run_until(20_000, all_kept));
    let before = task(&world, 1, 2).history;
    world.kill(BUYER);
    world.run(500);
    world.restart(BUYER);
    assert_eq!(task(&world, 1, 2).history.checkpoint, before.checkpoint);
    let now = rival(&world, 2);
    world.order(5, now);
    assert!(world.run_until(120_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
    let after = task(&world, 1, 2).history;
    let last = &after.attempts[after.attempts.len() - 1];
    assert!(last.resumed.is_some(), "{after:?}");
    assert!(after.lost_ms < 4 * LATE_MS, "{after:?}");
}

#[test]
fn what_a_run_left_while_its_buyer_was_away_is_fetched_when_it_is_back() {
    let mut world = market();
    let want = keeping(order(&world, 1, sealed(4, 300), 4, 12));
    world.order(BUYER, want);
    assert!(world.run_until(20_000, all_kept));
    world.kill(BUYER);
    // Nobody asks for checkpoints any more, and the jobs lose their units later.
    world.run(2 * EVERY_MS);
    let now = rival(&world, 2);
    world.order(5, now);
    assert!(
        world.run_until(20_000, |w| runs(w, 5, 2) > 0),
        "the buy runs"
    );
    world.run(1_000);
    world.restart(BUYER);
    assert!(world.run_until(120_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
    for rank in 0..4 {
        let history = task(&world, 1, rank).history;
        let numbers: Vec<u32> = history.attempts.iter().map(|a| a.number).collect();
        assert!(numbers.is_sorted() && numbers[..2] == [0, 1], "{history:?}");
        assert_eq!(history.attempts[0].end, Some(AttemptEnd::UnitLost));
        let from = history.attempts[1].resumed.expect("it went on");
        assert_eq!(from.from, 0, "{history:?}");
        // More than the checkpoint that had come before.
        let starts = resumed(&world, 1, rank as u32);
        let second = starts.iter().find(|(attempt, _)| *attempt == 1);
        let given = second.and_then(|(_, from)| *from);
        let slept = world.snapshots[&given.expect("it goes on").manifest];
        assert!(slept >= 2 * EVERY_MS + 2_000, "{slept}");
    }
}

#[test]
fn of_a_fetch_that_failed_nothing_stays_but_the_last_whole_checkpoint() {
    let mut world = market();
    let want = keeping(order(&world, 1, sealed(4, 300), 4, 12));
    world.order(BUYER, want);
    for whole in [false, true] {
        let asked = |w: &World| all_kept(w) == whole && !w.fetching.is_empty();
        assert!(world.run_until(20_000, asked));
        let (n, key, job) = *world.fetching.values().next().expect("it is asked");
        let last = task(&world, 1, job.task as usize).history.checkpoint;
        let clocks = Now {
            mono_ms: world.now,
            wall_ms: world.now,
        };
        let failed = Input::Checkpointed {
            order: key,
            job,
            kept: None,
            copy: false,
        };
        let effects = world.nodes[n].core.step(clocks, failed).expect("no fault");
        let last = last.map(|kept| kept.snapshot);
        let only = |e: &Effect| {
            matches!(e, Effect::KeepCheckpoint { order, task, keep }
                if (*order, *task, *keep) == (key, job.task, last))
        };
        assert!(effects.iter().any(only), "{effects:?}");
        assert_eq!(last.is_some(), whole);
    }
}

#[test]
fn only_the_run_that_counts_may_tell_of_progress_and_only_to_its_buyer() {
    let mut world = market();
    let want = keeping(order(&world, 1, sealed(4, 300), 4, 12));
    world.order(BUYER, want);
    assert!(world.run_until(20_000, all_kept));
    let (seller, right) = world.starts[0].clone();
    let clocks = Now {
        mono_ms: world.now,
        wall_ms: world.now,
    };
    // Another attempt's, and one that nobody asked for.
    let before = task(&world, 1, right.start.job.task as usize).history;
    let forged = Snapshot {
        manifest: ContentId([9; 32]),
        ..before.checkpoint.expect("kept").snapshot
    };
    let mut other = right.start.job;
    other.attempt += 1;
    for job in [other, right.start.job] {
        let told = Input::Checkpointed {
            order: OrderKey(1),
            job,
            kept: Some((forged, 0)),
            copy: false,
        };
        let effects = world.nodes[BUYER]
            .core
            .step(clocks, told)
            .expect("no fault");
        let keeps = |e: &Effect| matches!(e, Effect::KeepCheckpoint { .. });
        assert!(!effects.iter().any(keeps), "{job}");
    }
    assert_eq!(
        task(&world, 1, right.start.job.task as usize).history,
        before
    );
    // A stranger learns nothing.
    for (from, shown) in [(BUYER, true), (5, false)] {
        let asked = Input::Asked {
            token: u64::MAX,
            from: crate::node_key(from),
            request: AgentRequest::Checkpoint(right.start.job),
        };
        let core = &mut world.nodes[seller].core;
        let effects = core.step(clocks, asked).expect("no fault");
        let shows = |e: &Effect| matches!(e, Effect::ShowCheckpoint { .. });
        assert_eq!(effects.iter().any(shows), shown);
        let none = |e: &Effect| {
            matches!(
                e,
                Effect::Answer {
                    reply: AgentReply::NotFound,
                    ..
                }
            )
        };
        assert_eq!(effects.iter().any(none), !shown);
    }
}
