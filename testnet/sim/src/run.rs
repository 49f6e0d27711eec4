//! One seed from its plan to its verdict.

use crate::check::{self, Broken};
use crate::cover::Cover;
use crate::plan::Plan;
use crate::trace::Trace;
use crate::world::World;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::payment::Reason;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The end of a world.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// The first breach.
    pub broken: Option<Broken>,
    /// Hash of all that happened.
    pub trace: String,
    /// The occurrences.
    pub cover: Cover,
    /// The yields, which decide whether the seed counts.
    pub yields: Yields,
}

/// The yields of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yields {
    /// Blocks of the longest chain.
    pub blocks: u64,
    /// Clearings that sold something or tried to.
    pub clearings: u64,
    /// Payments to sellers for leases that ran.
    pub settled: u64,
}

impl Yields {
    /// Whether enough happened for the seed to prove anything.
    pub fn count(&self) -> bool {
        self.blocks >= 50 && self.clearings >= 10 && self.settled >= 1
    }
    fn of(world: &World, cover: &mut Cover) -> Yields {
        let mut yields = Yields::default();
        let cores = world.honest().filter_map(|n| world.core(n));
        let Some(longest) = cores.max_by_key(|core| core.state().height()) else {
            return yields;
        };
        yields.blocks = longest.state().height();
        for height in 1..=yields.blocks {
            if let Ok(Some(decided)) = longest.host().block(height) {
                cover.block(&decided.block);
            }
            for bytes in longest.host().effect_bytes(height) {
                let Ok(effect) = codec::decode(&bytes, bytes.len()) else {
                    continue;
                };
                cover.posted(&effect);
                match effect {
                    Effect::Clearing(_) => yields.clearings += 1,
                    Effect::Posting(p) if matches!(p.reason, Reason::Earning | Reason::Revenue) => {
                        yields.settled += 1;
                    }
                    _ => {}
                }
            }
        }
        yields
    }
}

/// Runs a plan to its end, or to the first breach.
pub fn run(plan: &Plan, until: Option<u64>, trace: Trace) -> Outcome {
    let mut world = World::new(plan.clone(), check::all(), trace);
    let done = catch_unwind(AssertUnwindSafe(|| match until {
        Some(end) => world.run_until(end),
        None => world.run(),
    }));
    let broken = match done {
        Ok(done) => done.err(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            let what = format!("a panic: {}", text.unwrap_or_default());
            Some(Broken::new("panic", world.now, what))
        }
    };
    let mut cover = std::mem::take(&mut world.cover);
    for liar in &plan.liars {
        let lie = world.machines[liar.node].lie.as_ref();
        cover.lied(&liar.lie, lie.map_or(0, |lie| lie.deeds()));
    }
    Outcome {
        plan: plan.clone(),
        trace: world.trace.hash(),
        yields: if broken.is_none() {
            Yields::of(&world, &mut cover)
        } else {
            Yields::default()
        },
        cover,
        broken,
    }
}
