//! The plan of a seed, by chance: every kind of draw has a stream of its own.

use super::{Bank, Lying, Plan, Weather, beside};
use crate::fault::{Cut, Fault, Leaves, Timed};
use crate::liar::LIES;
use crate::rng::Rng;
use gridbay_protocol::mechanism::ausubel::Rule;

/// How long a second of trouble is: a fault's length is drawn up to a few of these.
const TROUBLE_MS: u64 = 3_000;
/// The stream of liars that came later. The name leaves those seeds alone by which planted faults
/// were found.
const BESIDE: &str = "liars beside";
/// The stream of floods.
const CROWD: &str = "waves";

impl Plan {
    /// The plan of a seed: swarm testing, every seed switches each kind of fault on or off.
    pub fn draw(seed: u64) -> Plan {
        let mut rng = Rng::new(seed, "plan");
        let sizes = [4, 4, 4, 5, 5, 6, 7, 7, 8, 10, 13];
        let validators = rng.pick(&sizes).copied().unwrap_or(4);
        let mut plan = Plan {
            weather: draw_weather(&mut rng),
            ..Plan::calm(seed, validators)
        };
        let banks = [Bank::Owners, Bank::Owners, Bank::Mirage, Bank::Bellagio];
        let bank = Rng::new(seed, "bank").pick(&banks).copied();
        plan.bank = bank.unwrap_or_default();
        let mut auction = Rng::new(seed, "auction");
        let rules = [Rule::Exact, Rule::Exact, Rule::Floor, Rule::Paper];
        plan.rule = auction.pick(&rules).copied().unwrap_or_default();
        plan.switch_cost = auction.pick(&[0, 0, 5, 40]).copied().unwrap_or(0);
        plan.surcharge_ppm = auction.pick(&[0, 200_000]).copied().unwrap_or(0);
        // One seed of some five, by a stream of its own: the others are as they were before hires,
        // and the name leaves those alone by which planted faults were found.
        plan.hires = Rng::new(seed, "hirers").chance(200_000);
        // Likewise.
        plan.progress = Rng::new(seed, "progress").chance(200_000);
        // Likewise, in one of some seven.
        plan.crowd = Rng::new(seed, CROWD).chance(150_000);
        plan.liars = draw_liars(&plan, &mut Rng::new(seed, "liars"));
        plan.liars.extend(draw_beside(&plan));
        plan.faults = draw_faults(&plan, &mut Rng::new(seed, "faults"));
        plan.faults.extend(beside::draw(&plan));
        plan.faults.sort_by_key(|timed| timed.at);
        plan
    }
}

fn draw_weather(rng: &mut Rng) -> Weather {
    let most = [5, 20, 60, 150];
    Weather {
        least_ms: 1,
        most_ms: rng.pick(&most).copied().unwrap_or(5),
        loss_ppm: if rng.chance(500_000) {
            rng.range(1_000, 300_000)
        } else {
            0
        },
        twice_ppm: if rng.chance(500_000) {
            rng.range(1_000, 300_000)
        } else {
            0
        },
    }
}

/// Up to f validators lie, and sometimes a member that does not vote.
fn draw_liars(plan: &Plan, rng: &mut Rng) -> Vec<Lying> {
    let drawn: Vec<_> = LIES.iter().filter(|l| !l.beside).collect();
    let mut liars = Vec::new();
    let mut nodes: Vec<usize> = (0..plan.validators).collect();
    for _ in 0..rng.range(0, plan.tolerated() as u64) {
        let node = nodes.swap_remove(rng.index(nodes.len()));
        if let Some(lie) = rng.pick(&drawn) {
            liars.push(Lying {
                node,
                lie: lie.name.to_owned(),
            });
        }
    }
    let commoners: Vec<_> = drawn.iter().filter(|l| !l.votes).collect();
    if let Some(lie) = rng.pick(&commoners).filter(|_| rng.chance(300_000)) {
        liars.push(Lying {
            node: plan.validators,
            lie: lie.name.to_owned(),
        });
    }
    liars
}

/// In one seed of some ten a liar that came later, on a node that no other one lies on.
fn draw_beside(plan: &Plan) -> Option<Lying> {
    let kinds: Vec<_> = LIES.iter().filter(|l| l.beside).collect();
    let mut rng = Rng::new(plan.seed, BESIDE);
    let kind = rng.pick(&kinds).filter(|_| rng.chance(100_000))?;
    Some(Lying {
        node: plan.validators + 1,
        lie: kind.name.to_owned(),
    })
}

/// Adds faults of one kind from a time on.
type Kind = fn(&Plan, &mut Rng, u64, &mut Vec<Timed>);

fn draw_faults(plan: &Plan, rng: &mut Rng) -> Vec<Timed> {
    let mut faults = Vec::new();
    let kinds: [Kind; 6] = [crashes, cuts, skews, pauses, slowness, disks];
    for kind in kinds {
        if !rng.chance(500_000) {
            continue;
        }
        for _ in 0..rng.range(1, 6) {
            let at = rng.range(2_000, plan.active_ms.max(2_001) - 1);
            kind(plan, rng, at, &mut faults);
        }
    }
    faults.sort_by_key(|timed| timed.at);
    faults
}

fn push(faults: &mut Vec<Timed>, at: u64, fault: Fault) {
    faults.push(Timed { at, fault });
}

fn crashes(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    // One crash of ten takes everybody down at once.
    let nodes: Vec<usize> = if rng.chance(100_000) {
        (0..plan.nodes()).collect()
    } else {
        vec![rng.index(plan.nodes())]
    };
    let kinds = [Leaves::Nothing, Leaves::Some, Leaves::All];
    let leaves = rng.pick(&kinds).copied().unwrap_or(Leaves::All);
    for node in nodes {
        let after = rng.below(12);
        push(
            faults,
            at,
            Fault::Crash {
                node,
                after,
                leaves,
            },
        );
        let back = at + rng.range(50, 2 * TROUBLE_MS);
        let fresh = node >= plan.validators + plan.others && rng.chance(300_000);
        push(
            faults,
            back,
            if fresh {
                Fault::FreshDisk(node)
            } else {
                Fault::Restart(node)
            },
        );
    }
}

fn cuts(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    let nodes = plan.nodes();
    let one = rng.index(nodes);
    let two = rng.index(nodes);
    let group = (0..nodes).filter(|_| rng.chance(500_000)).collect();
    let shapes = [
        Cut::Halves(group),
        Cut::Star(one),
        Cut::Ring,
        Cut::Mute(one),
        Cut::Deaf(one),
        Cut::OneWay(one, two),
        Cut::Bridge((0..nodes / 2).collect(), one),
    ];
    let mut at = at;
    // Some cuts flap.
    for _ in 0..rng.range(1, 3) {
        let shape = shapes[rng.index(shapes.len())].clone();
        push(faults, at, Fault::Cut(shape));
        at += rng.range(200, 3 * TROUBLE_MS);
        push(faults, at, Fault::Heal);
        at += rng.range(50, 1_000);
    }
}

fn skews(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    const SECOND: i64 = 1_000;
    const YEAR: i64 = 365 * 24 * 3_600 * SECOND;
    let skews = [-YEAR, -60 * SECOND, -SECOND, 500, SECOND, 60 * SECOND, YEAR];
    let node = rng.index(plan.nodes());
    let skew = rng.pick(&skews).copied().unwrap_or(0);
    push(faults, at, Fault::Skew(node, skew));
    let back = at + rng.range(500, 3 * TROUBLE_MS);
    push(faults, back, Fault::Skew(node, 0));
}

fn pauses(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    let node = rng.index(plan.nodes());
    let lengths = [100, 1_000, 5_000, 15_000];
    let length = rng.pick(&lengths).copied().unwrap_or(100);
    push(faults, at, Fault::Pause(node, length));
}

fn slowness(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    let node = rng.index(plan.nodes());
    push(faults, at, Fault::Slow(node, rng.range(10, 500)));
    let back = at + rng.range(500, 3 * TROUBLE_MS);
    push(faults, back, Fault::Slow(node, 0));
}

fn disks(plan: &Plan, rng: &mut Rng, at: u64, faults: &mut Vec<Timed>) {
    let node = rng.index(plan.nodes());
    let fault = match rng.below(3) {
        0 => Fault::DiskFull(node),
        1 => Fault::DiskError(node, rng.below(20)),
        _ => Fault::SyncError(node, rng.below(20)),
    };
    push(faults, at, fault);
    let back = at + rng.range(500, 2 * TROUBLE_MS);
    push(faults, back, Fault::DiskCure(node));
}
