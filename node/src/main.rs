//! The `gridbay` program.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    gridbay_node::executor::supervisor::run_if_asked();
    let _ = writeln!(io::stderr(), "usage: gridbay <command>");
    ExitCode::from(2)
}
