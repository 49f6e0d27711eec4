//! Cuts: a network in which more than two thirds of the power hear one another goes on, one without
//! such a part connected both ways stands still, nothing forks, and after healing all nodes are
//! equal within two rounds.

use gridbay_sim::check;
use gridbay_sim::fault::{Cut, Fault, Timed};
use gridbay_sim::plan::Plan;
use gridbay_sim::trace::Trace;
use gridbay_sim::world::World;

const CUT_MS: u64 = 8_000;
const HEAL_MS: u64 = 20_000;
/// Messages under way, and the height that they may still decide.
const SETTLE_MS: u64 = 1_000;

/// The power that a cut leaves.
#[derive(Debug, PartialEq, Eq)]
enum Leaves {
    /// More than two thirds, all of whom hear one another.
    Quorum,
    /// No more than two thirds are connected both ways, by whatever detours.
    Nothing,
    /// A quorum is connected, but only by detours.
    Detours,
}

fn hear(cut: &Cut, a: usize, b: usize, nodes: usize) -> bool {
    !cut.stops(a, b, nodes) && !cut.stops(b, a, nodes)
}

/// By looking at all sets of validators.
fn leaves(cut: &Cut, validators: usize, nodes: usize) -> Leaves {
    let members = |set: u32| (0..validators).filter(move |v| set & (1 << v) != 0);
    let is_quorum = |set: u32| set.count_ones() as usize * 3 > 2 * validators;
    let all_hear =
        |set: u32| members(set).all(|a| members(set).all(|b| a == b || hear(cut, a, b, nodes)));
    let sets = 1_u32..1 << validators;
    if sets.filter(|set| is_quorum(*set)).any(all_hear) {
        return Leaves::Quorum;
    }
    let connected = |start: usize| {
        let mut part = 1_u32 << start;
        for _ in 0..validators {
            let joins = |v: &usize| members(part).any(|m| m == *v || hear(cut, m, *v, nodes));
            part = (0..validators)
                .filter(joins)
                .fold(part, |set, v| set | 1 << v);
        }
        part
    };
    if (0..validators).map(connected).any(is_quorum) {
        Leaves::Detours
    } else {
        Leaves::Nothing
    }
}

fn heights(world: &World) -> Vec<u64> {
    let nodes = 0..world.machines.len();
    nodes
        .filter_map(|n| world.core(n))
        .map(|c| c.state().height())
        .collect()
}
fn highest(world: &World) -> u64 {
    heights(world).into_iter().max().unwrap_or(0)
}

fn survives(validators: usize, cut: Cut) {
    let mut plan = Plan::calm(7, validators);
    plan.guests = 0;
    plan.others = 1;
    let nodes = plan.nodes();
    let expected = leaves(&cut, validators, nodes);
    let name = format!("{validators} validators, {cut:?}, leaves {expected:?}");
    let at = |at, fault| Timed { at, fault };
    plan.faults = vec![at(CUT_MS, Fault::Cut(cut)), at(HEAL_MS, Fault::Heal)];
    let rounds = u64::from(
        gridbay_sim::found::genesis(&plan)
            .policy
            .calendar
            .round_heights,
    );
    let mut world = World::new(plan, check::all(), Trace::default());
    let run = |world: &mut World, end| {
        if let Err(broken) = world.run_until(end) {
            panic!("{name}: {broken}");
        }
        highest(world)
    };
    let settled = run(&mut world, CUT_MS + SETTLE_MS);
    let cut_end = run(&mut world, HEAL_MS - 1);
    match expected {
        Leaves::Quorum => assert!(cut_end >= settled + 5, "{name}: {settled} to {cut_end}"),
        Leaves::Nothing => assert_eq!(cut_end, settled, "{name}"),
        Leaves::Detours => {}
    }
    // Two rounds after the first block that the healed network decides.
    let mut end = HEAL_MS;
    while highest(&world) < cut_end + 1 + 2 * rounds {
        end += 100;
        assert!(end < HEAL_MS + 20_000, "{name}: stands still after healing");
        run(&mut world, end);
    }
    let lowest = heights(&world).into_iter().min().unwrap_or(0);
    assert!(lowest > cut_end, "{name}: {:?}", heights(&world));
    assert!(
        highest(&world) - lowest <= 1,
        "{name}: {:?}",
        heights(&world)
    );
}

#[test]
fn the_oracle_knows_the_shapes() {
    assert_eq!(leaves(&Cut::Halves(vec![0, 1]), 4, 5), Leaves::Nothing);
    assert_eq!(leaves(&Cut::Halves(vec![0]), 4, 5), Leaves::Quorum);
    assert_eq!(leaves(&Cut::Star(0), 4, 5), Leaves::Detours);
    assert_eq!(leaves(&Cut::Mute(0), 4, 5), Leaves::Quorum);
    assert_eq!(
        leaves(&Cut::Bridge(vec![0, 1, 2], 6), 7, 8),
        Leaves::Detours
    );
}

#[test]
fn four_validators() {
    for cut in [
        Cut::Halves(vec![0, 1]),
        Cut::Halves(vec![0]),
        Cut::Halves(vec![0, 1, 2, 3]),
        Cut::Bridge(vec![0, 1], 0),
        Cut::Star(1),
        Cut::Ring,
        Cut::Mute(2),
        Cut::Deaf(3),
        Cut::OneWay(0, 1),
    ] {
        survives(4, cut);
    }
}

#[test]
fn seven_validators() {
    for cut in [
        Cut::Halves(vec![0, 1, 2]),
        Cut::Halves(vec![0, 1]),
        Cut::Bridge(vec![0, 1, 2], 6),
        Cut::Star(0),
        Cut::Mute(4),
    ] {
        survives(7, cut);
    }
}
