//! Real processes: laboratory networks from end to end, and hostile jobs in the sandbox.
//!
//! One program, because each further one links the whole laboratory again. The tests mostly wait
//! for real time, so two networks stand at a time; more would starve on two cores.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail like the test")]

mod checkpoints;
mod cluster;
mod contract;
mod copies;
mod disk;
mod find;
mod held;
mod lab;
mod leads;
mod moved;
mod outbound;
mod probe;
mod solver;
mod spark;

use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

static TURNS: Semaphore = Semaphore::const_new(2);

/// Waits until fewer than two other tests of this program run; a turn ends with its guard.
async fn turn() -> SemaphorePermit<'static> {
    TURNS.acquire().await.expect("it is never closed")
}

/// The laboratory.
fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_gridbay-testnet"))
}

/// How long a network of these tests may take for one step.
const PATIENCE: Duration = Duration::from_secs(180);

/// Looks until there is what is looked for.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "{what} took too long");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
