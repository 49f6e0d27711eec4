//! The `gridbay` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridbay_node::rank::run_if_asked();
    gridbay_node::executor::supervisor::run_if_asked();
    gridbay_node::executor::launcher::run_if_asked();
    gridbay_node::cli::main()
}
