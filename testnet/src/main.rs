//! The gridbay laboratory: `gridbay-testnet`.

use std::process::ExitCode;

/// As in `gridbay`: this program is its nodes too.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First of all, and before any thread exists: this process may have been started as the
    // supervisor of a job.
    gridbay_node::rank::run_if_asked();
    gridbay_node::executor::supervisor::run_if_asked();
    gridbay_testnet::run()
}
