//! The node as a program: runtime, log and signals around [`super::run`].

use super::sparing::Sparing;
use super::{Ready, run};
use crate::config::Config;
use crate::owner::recent::Recent;
use crate::ui;
use anyhow::Context as _;
use std::io::{IsTerminal as _, stderr};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::MakeWriterExt as _;

/// Threads for everything around the core thread. With several, each task that one of them wakes
/// would wake another to share the work. A node without work only wakes for a packet now and then,
/// and a second thread makes that cost half as much again.
const WORKERS: usize = 1;

/// Runs a node in the foreground until SIGINT or SIGTERM, or until it is stopped through its API.
///
/// # Errors
/// The failure that kept the node from starting, or made it stop by itself.
pub fn run_until_signal(config: Config) -> anyhow::Result<()> {
    start_log(&config.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // With a handler, a write beyond the limit of a file's size fails like one on a full disk;
        // without one, it would end the node.
        let _too_large = signal(SignalKind::from_raw(libc::SIGXFSZ))?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        run(config, stop, say_ready).await
    });
    // Tasks that wait for answers of other nodes have nobody left to tell.
    runtime.shutdown_background();
    result
}

fn say_ready(ready: &Ready) {
    let addresses: Vec<String> = ready.addresses.iter().map(ToString::to_string).collect();
    ui::note(&format!(
        "gridbay node ready: {} on network {}, listening on {}",
        ready.node,
        ready.network,
        addresses.join(" ")
    ));
}

/// Crates of others, of which only errors are logged unless the filter names them: their warnings
/// are mostly about peers' doings.
const CHATTER: [&str; 8] = [
    "libp2p",
    "quinn",
    "hickory",
    "yamux",
    "multistream_select",
    "netlink",
    "if_watch",
    "igd",
];

/// The filter of the log: the levels that were asked for, and little of others' code. The consensus
/// core logs every vote, which nobody wants to read.
pub(super) fn filter(wanted: &str) -> anyhow::Result<EnvFilter> {
    let chatter = CHATTER.map(|name| format!("{name}=error")).join(",");
    // Where both name the same target, the later one counts.
    let all = EnvFilter::try_new(format!("{chatter},{wanted}"));
    let all = all.context("the log filter makes no sense")?;
    Ok(all.add_directive("arc_malachitebft_core_consensus=warn".parse()?))
}

/// The log goes to standard error, spared as `Sparing` says; its last lines are remembered.
///
/// # Errors
/// A filter that cannot be read, or a log that was started before.
pub fn start_log(filter: &str) -> anyhow::Result<()> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(self::filter(filter)?)
        .with_ansi(stderr().is_terminal())
        .with_writer(Sparing::new(stderr.and(Recent::default)))
        // A log that cannot be written, as on a full disk, must not end the node.
        .log_internal_errors(false);
    log.try_init()
        .map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
