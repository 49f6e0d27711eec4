//! What runs jobs on this machine, and what it can keep them from.

use crate::body::jobs::Jobs;
use crate::body::room::Room;
use crate::config::Config;
use crate::executor::{
    Config as ExecutorConfig, Executor, Isolation, Outbound, ProcessExecutor, Selling, Support,
    runtimes,
};
use anyhow::Context as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The executor of this node, the isolation that it lets the node sell, and the room for jobs.
pub(super) struct Machine {
    executor: Arc<dyn Executor>,
    pub(super) selling: Arc<Selling>,
    pub(super) room: Room,
}

impl Drop for Machine {
    /// Tasks that hold the executor may end after the process has, so it does not wait for them.
    fn drop(&mut self) {
        self.executor.leave();
    }
}

impl Machine {
    pub(super) async fn of(config: &Config) -> anyhow::Result<Machine> {
        let home = &config.home;
        let room = Room::of(home.path()).context("cannot see how much room the disk has")?;
        let executor = ExecutorConfig {
            floor: room.floor(),
            link: config.link,
            launcher: config.launcher.clone(),
            quotas: Some(home.path().join("quotas")),
            ..ExecutorConfig::new(home.path().join("jobs"))
        };
        let (unisolated, outbound) = (config.unisolated, config.outbound);
        let open = move || open_executor(executor, unisolated, outbound);
        let (executor, selling) = tokio::task::spawn_blocking(open).await??;
        Ok(Machine {
            executor,
            selling: Arc::new(selling),
            room,
        })
    }

    pub(super) fn jobs(&self, memos: PathBuf, longest_grace: Duration) -> io::Result<Jobs> {
        let (executor, selling) = (Arc::clone(&self.executor), Arc::clone(&self.selling));
        Jobs::open(executor, selling, memos, longest_grace)
    }
}

/// The executor, and what it has shown that it can keep jobs from. Where it cannot isolate them, no
/// job is started unless the owner says so: a stranger's job would run beside the node, as the same
/// user.
fn open_executor(
    mut config: ExecutorConfig,
    unisolated: bool,
    outbound: Outbound,
) -> anyhow::Result<(Arc<dyn Executor>, Selling)> {
    if unisolated {
        config.isolation = Isolation::Preferred;
    }
    let executor = ProcessExecutor::new(config)?;
    let found = executor
        .probe()
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)));
    // Nor anywhere where they could read the node's keys, whatever its owner says.
    let found = found.and_then(|found| match found.filesystem {
        Support::Absent => Err("this kernel has no Landlock".to_owned()),
        _ => Ok(found),
    });
    let selling = Selling::new(found, unisolated)
        .with(runtimes())
        .letting_out(outbound);
    selling.report();
    Ok((Arc::new(executor), selling))
}
