//! Replays of every target: its corpus, its seeds, and a fixed number of mutations of both.
//!
//! 1. Every seed is accepted: a target that refuses everything would find nothing.
//! 2. Nothing breaks a promise. A failure prints the target and the input, which belongs into
//!    `corpus/<target>/crash-<what>` together with the fix.
//! 3. No run holds more memory than its target allows.
//! 4. Every folder of the corpus is a target's.
//!
//! With `GRIDBAY_FUZZ_TARGET` set, only that target is replayed.

mod decoders;
mod meter;

use gridbay_fuzz::mutate::{Rng, mutate};
use gridbay_fuzz::{PER_BYTE, TARGETS, Target, Verdict};
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Files of a target's corpus in order of their names.
fn corpus_of(target: &Target) -> Vec<Vec<u8>> {
    let Ok(folder) = fs::read_dir(corpus().join(target.name)) else {
        return vec![];
    };
    let mut paths: Vec<PathBuf> = folder
        .map(|file| file.expect("a corpus can be listed").path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| fs::read(path).expect("a corpus can be read");
    paths.iter().map(read).collect()
}

/// One input: the verdict, or a failure that names what to keep.
fn run(target: &Target, input: &[u8]) -> Verdict {
    let done = meter::peak(|| catch_unwind(AssertUnwindSafe(|| (target.run)(input))));
    let (verdict, peak) = done;
    let hex = || -> String { input.iter().map(|byte| format!("{byte:02x}")).collect() };
    let verdict = verdict.unwrap_or_else(|_| panic!("{} fails on {}", target.name, hex()));
    let allowed = target.memory + PER_BYTE * input.len();
    assert!(
        peak <= allowed,
        "{}: {peak} bytes held, {allowed} allowed, on {}",
        target.name,
        hex()
    );
    verdict
}

/// Replays one target; how many mutants it accepted.
fn replay(target: &Target) -> u32 {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has no seed", target.name);
    // Values made once and kept are not a run's memory.
    (target.run)(&seeds[0]);
    for seed in &seeds {
        assert_eq!(
            run(target, seed),
            Verdict::Accepted,
            "{}: a seed",
            target.name
        );
    }
    let kept = corpus_of(target);
    for input in &kept {
        run(target, input);
    }
    let inputs: Vec<&Vec<u8>> = seeds.iter().chain(&kept).collect();
    let mut rng = Rng::of(target.name.as_bytes());
    let mut accepted = 0;
    for _ in 0..target.mutations {
        let (input, donor) = (rng.below(inputs.len()), rng.below(inputs.len()));
        let mutant = mutate(inputs[input], inputs[donor], &mut rng);
        accepted += u32::from(run(target, &mutant) == Verdict::Accepted);
    }
    accepted
}

/// Every second target, so that two threads share the work. Says what each came to.
fn replay_every_second(from: usize) -> String {
    let wanted = std::env::var("GRIDBAY_FUZZ_TARGET").ok();
    let all = TARGETS.iter().skip(from).step_by(2);
    let chosen = all.filter(|t| wanted.as_ref().is_none_or(|name| t.name == name));
    let lines = chosen.map(|target| {
        let began = Instant::now();
        let accepted = replay(target);
        let (name, all, took) = (target.name, target.mutations, began.elapsed());
        format!("{name}: {accepted} of {all} mutants accepted, {took:.1?}\n")
    });
    lines.collect()
}

#[test]
fn even_targets_hold() {
    println!("{}", replay_every_second(0));
}

#[test]
fn odd_targets_hold() {
    println!("{}", replay_every_second(1));
}

#[test]
fn the_corpus_belongs_to_the_targets() {
    let names: BTreeSet<String> = TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(names.len(), TARGETS.len(), "names are unique");
    assert!(TARGETS.len() >= 24 && TARGETS.iter().all(|target| !target.doc.is_empty()));
    let mut bytes = 0;
    for folder in fs::read_dir(corpus()).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        assert!(
            names.contains(&name),
            "{name}: a corpus, but no such target"
        );
        for file in fs::read_dir(folder.path()).unwrap() {
            bytes += file.unwrap().metadata().unwrap().len();
        }
    }
    assert!(bytes < 300_000, "{bytes} bytes of corpus");
}
