//! `sim hunt`: which planted faults the simulator finds. Exists only in builds that hold them.
//!
//! For each fault, seeds run with it, `jobs` at a time, until
//!
//! 1. an invariant breaks, or a node panics, in a seed that passes without the fault: it is found;
//! 2. or its time is over: it is missed.
//!
//! The fault acts in all nodes of a world. Before the hunt some seeds run without any fault. An invariant that breaks then,
//! or later in a seed that is run without its fault, proves nothing: it is passed over in the whole hunt.

use super::{SimError, seeds};
use crate::check::Broken;
use crate::plan::Plan;
use crate::run::{Outcome, run};
use crate::trace::Trace;
use gridbay_protocol::planted::{self, Planted};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Hunt {
    /// Hunt these faults only
    #[arg(long, value_name = "NAME")]
    fault: Vec<Planted>,
    /// Give up on a fault after so many minutes
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Seeds to try, the first included, the last not
    #[arg(long, value_name = "A..B", value_parser = seeds, default_value = "0..100000")]
    seeds: Range<u64>,
    /// Seeds to run without a fault beforehand
    #[arg(long, value_name = "N", default_value_t = 50)]
    baseline: u64,
    /// Worlds at a time; one per processor if not given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// File for the results
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only list the faults
    #[arg(long)]
    list: bool,
}

/// What became of a fault.
#[derive(Debug, Serialize)]
struct Verdict {
    fault: &'static str,
    /// The invariant that broke, or `panic`; `None` if it was missed.
    by: Option<&'static str>,
    /// The seed that found it.
    seed: Option<u64>,
    /// What was seen.
    what: String,
    /// Seeds run with it.
    seeds: u64,
    seconds: f64,
}

/// What happens without a fault.
#[derive(Debug, Default)]
struct Baseline {
    /// Seeds, and whether they pass.
    passes: BTreeMap<u64, bool>,
    /// Invariants that broke.
    noise: BTreeSet<&'static str>,
}

impl Baseline {
    fn run(&mut self, seeds: &[u64]) {
        for outcome in worlds(seeds, None) {
            let passes = outcome.broken.is_none();
            self.passes.insert(outcome.plan.seed, passes);
            self.noise.extend(outcome.broken.map(|broken| broken.id));
        }
    }
    /// Whether a breach in a seed is due to the fault that acted.
    fn convicts(&mut self, seed: u64, broken: &Broken) -> bool {
        if self.noise.contains(broken.id) {
            return false;
        }
        if !self.passes.contains_key(&seed) {
            self.run(&[seed]);
        }
        self.passes.get(&seed) == Some(&true) && !self.noise.contains(broken.id)
    }
}

impl Hunt {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let all = match self.fault.as_slice() {
            [] => Planted::ALL,
            some => some,
        };
        if self.list {
            for fault in all {
                writeln!(out, "{:<26} {}", fault.name(), fault.what())?;
            }
            return Ok(true);
        }
        let (mut baseline, mut verdicts) = (Baseline::default(), Vec::new());
        let seeds: Vec<u64> = self.seeds.clone().take(self.baseline as usize).collect();
        for seeds in seeds.chunks(self.jobs()) {
            baseline.run(seeds);
        }
        writeln!(out, "broken without a fault: {:?}", baseline.noise)?;
        for fault in all {
            let verdict = self.hunt(*fault, &mut baseline);
            writeln!(out, "{}", line(&verdict))?;
            out.flush()?;
            verdicts.push(verdict);
            self.keep(&verdicts)?;
        }
        let missed = verdicts.iter().filter(|v| v.by.is_none()).count();
        writeln!(out, "{} found, {missed} missed", verdicts.len() - missed)?;
        Ok(missed == 0)
    }
    /// Worlds at a time.
    fn jobs(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(processors).max(1)
    }
    fn hunt(&self, fault: Planted, baseline: &mut Baseline) -> Verdict {
        let began = Instant::now();
        let limit = Duration::from_secs_f64(self.minutes.max(0.0) * 60.0);
        let mut left = self.seeds.clone();
        let mut verdict = Verdict {
            fault: fault.name(),
            by: None,
            seed: None,
            what: String::new(),
            seeds: 0,
            seconds: 0.0,
        };
        while verdict.by.is_none() && began.elapsed() < limit && !left.is_empty() {
            let seeds: Vec<u64> = left.by_ref().take(self.jobs()).collect();
            verdict.seeds += seeds.len() as u64;
            for outcome in worlds(&seeds, Some(fault)) {
                let seed = outcome.plan.seed;
                let broken = outcome.broken;
                let Some(broken) = broken.filter(|b| baseline.convicts(seed, b)) else {
                    continue;
                };
                (verdict.by, verdict.seed) = (Some(broken.id), Some(seed));
                verdict.what = broken.what;
                break;
            }
        }
        verdict.seconds = began.elapsed().as_secs_f64();
        verdict
    }
    fn keep(&self, verdicts: &[Verdict]) -> Result<(), SimError> {
        let Some(path) = &self.json else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(verdicts).map_err(std::io::Error::from)?;
        std::fs::write(path, text + "\n").map_err(|e| SimError::Make(path.clone(), e))
    }
}

/// Runs seeds side by side while a fault, or none, acts in all of them.
fn worlds(seeds: &[u64], fault: Option<Planted>) -> Vec<Outcome> {
    planted::choose(fault);
    let world = |seed: u64| run(&Plan::draw(seed), None, Trace::default());
    let outcomes = std::thread::scope(|scope| {
        let start = |seed: &u64| {
            let seed = *seed;
            (seed, scope.spawn(move || world(seed)))
        };
        let running: Vec<_> = seeds.iter().map(start).collect();
        let done = running.into_iter();
        done.map(|(seed, thread)| thread.join().unwrap_or_else(|_| stillborn(seed)))
            .collect()
    });
    planted::choose(None);
    outcomes
}

/// A world that did not even begin.
fn stillborn(seed: u64) -> Outcome {
    Outcome {
        plan: Plan::draw(seed),
        broken: Some(Broken::new("panic", 0, "the world does not begin".into())),
        trace: String::new(),
        cover: Default::default(),
        yields: Default::default(),
    }
}

fn line(verdict: &Verdict) -> String {
    let Verdict { fault, seconds, .. } = verdict;
    let (seeds, what) = (verdict.seeds, verdict.what.lines().next());
    match (verdict.by, verdict.seed) {
        (Some(by), Some(seed)) => {
            let what = what.unwrap_or_default();
            format!("{fault:<26} found by {by:<6} seed {seed:>5} {seconds:>7.1} s  {what}")
        }
        _ => format!("{fault:<26} missed in {seeds} seeds {seconds:>7.1} s"),
    }
}
