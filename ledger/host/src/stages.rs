//! Where the host's processor time goes, for whoever has a clock: this crate has none. Without one
//! nothing is counted.
//!
//! A clock is read twice for a message, a block or a signature, never for less.

use std::fmt;
use std::sync::Arc;

/// A part of the work for the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Signatures of entries, and what else of a block needs no state.
    Verify,
    /// What blocks change: tried, made and applied.
    Execute,
    /// Messages from bytes and to bytes.
    Encode,
    /// Writing and syncing files. Whoever gives the host its disk counts it.
    Disk,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 4] = [Stage::Verify, Stage::Execute, Stage::Encode, Stage::Disk];

    /// Its name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Verify => "verify",
            Stage::Execute => "execute",
            Stage::Encode => "encode",
            Stage::Disk => "disk",
        }
    }
}

/// A clock with a count for each stage.
pub trait Stopwatch: Send + Sync {
    /// Processor time of the calling thread until now, in nanoseconds.
    fn used(&self) -> u64;
    /// A stage took so many nanoseconds.
    fn spent(&self, stage: Stage, nanos: u64);
}

/// Times stages by a stopwatch, if there is one.
#[derive(Clone, Default)]
pub struct Stages(Option<Arc<dyn Stopwatch>>);

impl Stages {
    /// By this stopwatch.
    pub fn by(stopwatch: Arc<dyn Stopwatch>) -> Stages {
        Stages(Some(stopwatch))
    }
    /// Does some work of a stage. Work of another stage within it would count for both.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let Some(stopwatch) = &self.0 else {
            return work();
        };
        let before = stopwatch.used();
        let done = work();
        stopwatch.spent(stage, stopwatch.used().saturating_sub(before));
        done
    }
}

impl fmt::Debug for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stages").field(&self.0.is_some()).finish()
    }
}
