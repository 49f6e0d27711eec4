//! A private market as its own node sees it: everything goes when the command is gone that holds
//! the other end of standard input, also if that was killed.

use super::end;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::ui::quoted;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};
use tokio::signal::unix::{SignalKind, signal};

/// Between two signals: a node that still begins does not hear the first.
const AGAIN: Duration = Duration::from_millis(500);

/// Runs the node by `up`. If it ends because standard input did, its jobs are ended and its folder
/// is removed; else that is the command's work.
pub(in crate::cli) fn with_command(
    at: &Context,
    up: impl FnOnce() -> Result<(), CliError>,
) -> Result<(), CliError> {
    let failed =
        |what: &str, why: String, next: String| CliError::new(Exit::FAILED, what, why, next);
    // From here on the signal ends nothing by itself, also before the node listens to it.
    at.wait(async {
        let heard = signal(SignalKind::terminate()).map(drop);
        heard.map_err(|error| failed("the node was not started", error.to_string(), String::new()))
    })?;
    let left = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&left);
    thread::spawn(move || end_with_stdin(&seen));
    let ended = up();
    if left.load(Ordering::SeqCst) {
        end::remove(&at.home).map_err(|error| {
            let next = format!("rm -r {}", quoted(&at.home.path().to_string_lossy()));
            failed(
                "the private market is left behind",
                format!("{error:#}"),
                next,
            )
        })?;
    }
    ended
}

/// Ends this process as the keyboard would, once nobody holds the other end of standard input.
fn end_with_stdin(left: &AtomicBool) {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    left.store(true, Ordering::SeqCst);
    loop {
        let _ = kill(Pid::this(), Signal::SIGTERM);
        thread::sleep(AGAIN);
    }
}
