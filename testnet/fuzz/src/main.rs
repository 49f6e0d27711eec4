//! One fuzz target under libFuzzer: the one that `GRIDBAY_FUZZ_TARGET` names. See
//! `docs/fuzzing.md`.
//!
//! At the start its seeds are written into the folder that `GRIDBAY_FUZZ_SEEDS` names, if it is
//! set, which `testnet/fuzz/run` gives to libFuzzer as a corpus.
#![no_main]

use gridbay_fuzz::{TARGETS, Target};
use std::path::PathBuf;
use std::sync::LazyLock;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let wanted = std::env::var("GRIDBAY_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|target| target.name == wanted);
    found.unwrap_or_else(|| panic!("GRIDBAY_FUZZ_TARGET={wanted:?} names no target"))
});

/// Writes the seeds of the target, before libFuzzer reads its corpus.
fn write_seeds() {
    let Some(folder) = std::env::var_os("GRIDBAY_FUZZ_SEEDS").map(PathBuf::from) else {
        return;
    };
    for (number, seed) in (TARGET.seeds)().iter().enumerate() {
        let file = folder.join(format!("seed-{number:03}"));
        std::fs::write(&file, seed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

libfuzzer_sys::fuzz_target!(
    init: write_seeds(),
    |bytes: &[u8]| {
        (TARGET.run)(bytes);
    }
);
