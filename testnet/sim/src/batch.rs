//! Many seeds on a few threads, and their results together.
//!
//! A batch is red if an invariant broke, if too many seeds do not count, or, from [`JUDGED`] seeds
//! on, if something that must occur never did. Every [`TWICE`]th seed runs twice: equal traces are
//! invariant I14.

use crate::check;
use crate::cover::Cover;
use crate::plan::Plan;
use crate::run::{Outcome, run};
use crate::trace::Trace;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seeds from which on a batch is judged by what never occurred in it.
pub const JUDGED: u64 = 200;
/// One seed of so many runs twice.
pub const TWICE: u64 = 50;
/// Seeds that may not count, of a thousand.
const VOID_PER_MILLE: u64 = 50;

/// The result of a batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// Seeds without a breach that count.
    pub passed: u64,
    /// Seeds with a breach.
    pub failed: Vec<Outcome>,
    /// Seeds in which too little happened.
    pub void: Vec<u64>,
    /// The occurrences in all worlds.
    pub cover: Cover,
    /// Milliseconds of the worlds.
    pub world_ms: u64,
    /// Time taken.
    pub took: Duration,
}

impl Batch {
    /// Seeds run.
    pub fn seeds(&self) -> u64 {
        self.passed + self.failed.len() as u64 + self.void.len() as u64
    }
    /// Whether too many seeds prove nothing.
    pub fn is_void(&self) -> bool {
        self.void.len() as u64 * 1_000 > self.seeds() * VOID_PER_MILLE
    }
    /// Things that never occurred, or were believed never to and did, if the batch is large enough
    /// to be judged by it.
    pub fn missing(&self) -> Vec<String> {
        if self.seeds() < JUDGED {
            return Vec::new();
        }
        let mut missing = self.cover.missing();
        missing.extend(self.cover.unexpected());
        missing
    }
    /// Whether all is well.
    pub fn is_green(&self) -> bool {
        self.failed.is_empty() && !self.is_void() && self.missing().is_empty()
    }
    fn add(&mut self, mut outcome: Outcome) {
        self.cover.add(&outcome.cover);
        self.world_ms += outcome.plan.active_ms + outcome.plan.calm_ms;
        if outcome.broken.is_some() {
            outcome.cover = Cover::default();
            self.failed.push(outcome);
        } else if outcome.yields.count() {
            self.passed += 1;
        } else {
            self.void.push(outcome.plan.seed);
        }
    }
}

/// Runs a plan, one of so many twice.
fn run_seed(seed: u64) -> Outcome {
    let plan = Plan::draw(seed);
    let mut outcome = run(&plan, None, Trace::default());
    if seed.is_multiple_of(TWICE) && outcome.broken.is_none() {
        let again = run(&plan, None, Trace::default());
        outcome.broken = check::same(&outcome, &again).err();
    }
    outcome
}

/// Runs seeds on `jobs` threads and tells `said` of each as it ends, which says whether to go on.
pub fn batch(seeds: Range<u64>, jobs: usize, said: impl FnMut(&Outcome) -> bool + Send) -> Batch {
    let began = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let whole = Mutex::new((Batch::default(), said));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (next, whole) = (&next, &whole);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let outcome = run_seed(seed);
                    let mut whole = whole.lock().unwrap_or_else(|e| e.into_inner());
                    if !(whole.1)(&outcome) {
                        next.store(seeds.end, Ordering::Relaxed);
                    }
                    whole.0.add(outcome);
                }
            });
        }
    });
    let (mut batch, _) = whole.into_inner().unwrap_or_else(|e| e.into_inner());
    batch.failed.sort_by_key(|outcome| outcome.plan.seed);
    batch.void.sort_unstable();
    batch.took = began.elapsed();
    batch
}
