//! The gridbay laboratory: real local networks, the demo, kill tests, a small internet with NATs,
//! and benchmarks.
//!
//! Everything runs in one binary. Nodes are this program again, with a hidden first word in front
//! of the words of the node's own command line; so `cargo run -p gridbay-testnet` builds all that
//! is needed.

mod appliance;
mod bench;
mod cmd;
mod demo;
pub mod foreign;
mod kill;
pub mod lab;
mod market;
mod model;
pub mod network;
mod page;
pub mod parallel;
mod probe;
mod say;
mod top;

pub use network::word::NODE_WORD;
pub use say::Progress;

use std::ffi::OsString;
use std::process::ExitCode;

/// The whole program but for the supervisor of jobs, which `main` looks for first.
pub fn run() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == NODE_WORD => node_command(words),
        Some(word) if word == lab::delay::WORD => lab::delay::run(words),
        Some(word) if word == lab::program::WORD => part(words, lab::program::main),
        Some(word) if word == lab::leases::WORD => part(words, lab::leases::main),
        Some(word) if word == bench::network::WORD => bench::network::part(words),
        Some(word) if word == probe::WORD => probe::inside::run(words),
        _ => cmd::run(),
    }
}

/// A process of a lab, inside one of its hosts.
fn part(
    words: impl Iterator<Item = OsString>,
    main: fn(&[String]) -> anyhow::Result<()>,
) -> ExitCode {
    let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
    match main(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// The node's own command line.
fn node_command(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words = [OsString::from("gridbay")].into_iter().chain(words);
    gridbay_node::cli::run_with(words, gridbay_node::app::run_until_signal).into()
}
