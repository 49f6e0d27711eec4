//! The pace of a chain that has work: the policy's interval, within a tenth, over many blocks.

use gridbay_sim::check;
use gridbay_sim::plan::{Pace, Plan};
use gridbay_sim::trace::Trace;
use gridbay_sim::world::World;

/// Blocks over which the pace is taken.
const BLOCKS: u64 = 160;

/// The policy's interval, and what a block took, in milliseconds.
fn pace(seed: u64, validators: usize, pace: Pace) -> (u64, u64) {
    let mut plan = Plan::calm(seed, validators);
    plan.pace = pace;
    let interval = match pace {
        Pace::Local => 250,
        Pace::WideArea => 1_000,
    };
    // The market is open after a few rounds; from then on orders live all the time.
    let from = 24 * interval;
    plan.active_ms = from + BLOCKS * interval;
    let mut world = World::new(plan, check::all(), Trace::default());
    assert_eq!(world.genesis.policy.block_interval_ms, interval);
    let mut height = |at: u64| {
        world.run_until(at).unwrap_or_else(|e| panic!("{e}"));
        world.core(0).expect("it runs").state().height()
    };
    let before = height(from);
    let blocks = height(from + BLOCKS * interval) - before;
    (interval, BLOCKS * interval / blocks)
}

#[test]
fn a_chain_with_work_keeps_the_interval_of_its_policy() {
    for (seed, validators, preset) in [
        (1, 4, Pace::Local),
        (2, 7, Pace::Local),
        (3, 10, Pace::Local),
        (4, 4, Pace::WideArea),
    ] {
        let (due, took) = pace(seed, validators, preset);
        assert!(
            due * 9 / 10 <= took && took <= due * 11 / 10,
            "{validators} validators, {preset:?}: a block took {took} ms of {due}"
        );
    }
}
