//! `run --forward`: ports of this machine that lead to the tasks of a job while it is followed.
//!
//! 1. The ports are listened at before anything is sent.
//! 2. Once the job has a lease, this node joins its network, and connections are taken. A job that
//!    goes on under another lease keeps its ports.
//! 3. They go with the command.

use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::LeaseView;
use crate::buy::flags::NOT_SENT;
use crate::cli::error::CliError;
use crate::cli::lease::connect::join;
use crate::cli::lease::forward::{Doors, Forward, check_ranks, forward};
use clap::Args;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Between two looks whether the job has a lease.
const LOOK: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct Leads {
    /// Let connections to a port of this machine lead to a port of a task while the command runs,
    /// as in 8080:rank0:8000; port 0 is any that is free; can be repeated
    #[arg(long, value_name = "PORT:RANK:PORT", value_parser = forward, conflicts_with = "detach")]
    forward: Vec<Forward>,
}

impl Leads {
    /// Whether the tasks need a network.
    pub(super) fn is_asked(&self) -> bool {
        !self.forward.is_empty()
    }

    /// Listens, also for what is to lead to `more`, for a job of so many ranks.
    pub(super) fn open(&self, ranks: u32, more: Option<String>) -> Result<Doors, CliError> {
        check_ranks(NOT_SENT, &self.forward, ranks)?;
        let mut all = self.forward.clone();
        if let Some(to) = more.filter(|more| all.iter().all(|asked| asked.to != *more)) {
            all.push(Forward { port: 0, to });
        }
        Doors::open(NOT_SENT, &all, None)
    }
}

/// Joins the network of a job's lease as soon as there is one, and takes connections.
pub(super) fn lead(doors: Doors, client: Client, job: String) -> JoinHandle<()> {
    tokio::spawn(async move {
        if doors.is_none() {
            return;
        }
        let path = format!("/leases/{job}");
        loop {
            let lease: Result<LeaseView, ApiError> = client.get(&path).await;
            if lease.is_ok() && join(&client, &job).await.is_ok() {
                doors.serve(&client, &job);
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}
