//! The `gridbay` program.

use std::process::ExitCode;

/// Messages, blocks and rows are many short pieces of memory that come and go on several threads.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gridbay_node::rank::run_if_asked();
    gridbay_node::executor::supervisor::run_if_asked();
    gridbay_node::executor::launcher::run_if_asked();
    gridbay_node::cli::main()
}
