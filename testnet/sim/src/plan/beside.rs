//! Faults that came later, by a stream of their own: all else of a seed is as it was before. The
//! name leaves those seeds alone by which planted faults were found.

use super::Plan;
use crate::fault::{Fault, Timed};
use crate::rng::Rng;

/// The stream.
const STREAM: &str = "waiting";
/// Worlds with such faults, of a million.
const WORLDS: u64 = 200_000;
/// Of these, the worlds with a kind of them.
const EACH: u64 = 700_000;
/// The longest that one lasts, in milliseconds: many heights, and less than the calm.
const LONGEST_MS: u64 = 9_000;

type Kind = fn(&Plan, &mut Rng) -> Fault;

/// The faults of a plan, in no order.
pub(super) fn draw(plan: &Plan) -> Vec<Timed> {
    let mut rng = Rng::new(plan.seed, STREAM);
    let mut faults = Vec::new();
    if !rng.chance(WORLDS) {
        return faults;
    }
    let kinds: [Kind; 3] = [stall, reader, overtake];
    for kind in kinds {
        if !rng.chance(EACH) {
            continue;
        }
        for _ in 0..rng.range(1, 6) {
            let at = rng.range(2_000, plan.active_ms.max(2_001) - 1);
            let fault = kind(plan, &mut rng);
            faults.push(Timed { at, fault });
        }
    }
    faults
}

/// Two different nodes.
fn pair(plan: &Plan, rng: &mut Rng) -> [usize; 2] {
    let nodes = plan.nodes();
    let one = rng.index(nodes);
    let step = 1 + rng.index(nodes.saturating_sub(1));
    [one, (one + step) % nodes]
}

fn stall(plan: &Plan, rng: &mut Rng) -> Fault {
    let [from, to] = pair(plan, rng);
    let ms = rng.range(100, LONGEST_MS);
    Fault::Stall { from, to, ms }
}

/// From less than a height's messages a second to about what a small federation sends.
fn reader(plan: &Plan, rng: &mut Rng) -> Fault {
    let node = rng.index(plan.nodes());
    let per_s = rng.pick(&[2, 10, 40, 200]).copied().unwrap_or(10);
    let ms = rng.range(500, LONGEST_MS);
    Fault::Reader { node, per_s, ms }
}

/// Some classes wait, others do not: less than a block's time, or many.
fn overtake(plan: &Plan, rng: &mut Rng) -> Fault {
    let between = pair(plan, rng);
    let mut late = [0; 4];
    for ms in &mut late {
        *ms = match rng.chance(500_000) {
            true => rng.range(20, 1_500),
            false => 0,
        };
    }
    let ms = rng.range(500, LONGEST_MS);
    Fault::Overtake { between, late, ms }
}
