//! The ground of all commands: the thread on which they run, and the networks that they start.
//!
//! Every command runs on one thread, so that dropping its work, when it is interrupted, runs the
//! clean-up of its possessions before the process ends.

use crate::network::Plan;
use crate::say;
use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Exit code after an interrupt.
const INTERRUPTED: u8 = 130;

/// Runs to the end or to the first interrupt, whichever comes first.
pub(super) fn with_runtime(
    work: impl Future<Output = anyhow::Result<ExitCode>>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tokio::select! {
            done = work => done,
            name = interrupt() => {
                say::note(&format!("{}: ending what was started", name?));
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    })
}

/// Waits for a signal that asks to end; returns what happened.
async fn interrupt() -> anyhow::Result<&'static str> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupted.recv() => "interrupted",
        _ = terminated.recv() => "asked to end",
        _ = hung_up.recv() => "the terminal is gone",
    })
}

/// This very program: what nodes are started from.
pub(super) fn program() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?)
}

/// Name of the run that `up`, `down` and `status` mean unless told otherwise.
pub(super) const DEFAULT_RUN: &str = "local";

/// A plan with a log filter of the user's.
pub(super) fn plan(name: &str, validators: usize, buyers: usize, log: &str) -> Plan {
    let mut plan = Plan::local(name, validators, buyers);
    plan.log = log.to_owned();
    plan
}
