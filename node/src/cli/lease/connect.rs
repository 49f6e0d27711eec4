//! `lease connect`: this machine as a member of a lease's network, and its programs' connections
//! into it.
//!
//! 1. The node joins, and stays until `lease disconnect` or the end of the lease.
//! 2. With `--forward` or `--socks` the command listens on loopback ([`super::forward`]) until it
//!    is interrupted or the lease is over.

use super::forward::{Doors, Forward, check_ranks, forward};
use crate::api::client::Client;
use crate::api::types::{JobRecord, LeaseNet, LeaseView};
use crate::api::{ApiError, ErrorCode};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::ui;
use clap::Args;
use gridbay_core::cluster::OWNER;
use std::time::{Duration, Instant};

/// What does not happen.
const NOT_JOINED: &str = "nothing was joined";
/// How long members may take to be reached.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Between two looks whether there is the lease.
const LEASE_LOOK: Duration = Duration::from_secs(3);

/// Join the private network of a lease that this node has bought
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ConnectArgs {
    /// The beginning of its id, or of its job's
    id: String,
    /// Take connections at a port of this machine's loopback for a port of a member, as in
    /// 8786:rank0:8786; can be repeated
    #[arg(long, value_name = "PORT:MEMBER:PORT", value_parser = forward)]
    forward: Vec<Forward>,
    /// Take connections for all members at this port of loopback, by SOCKS 5
    #[arg(long, value_name = "PORT")]
    socks: Option<u16>,
}

impl ConnectArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        // What cannot be listened at is told before anything is joined.
        let doors = Doors::open(NOT_JOINED, &self.forward, self.socks)?;
        let client = at.client()?;
        if !self.forward.is_empty() {
            at.wait(self.check(&client))?;
        }
        let lease = at.wait(join(&client, &self.id))?;
        at.tell(&lease, |l| format!("connected to lease {}\n", l.lease))?;
        let lease = lease.lease.to_hex();
        match doors.serve(&client, &lease) {
            0 => Ok(()),
            _ => at.wait(until_over(&client, &lease)),
        }
    }

    /// Refuses what leads to ranks that the lease's job does not have.
    async fn check(&self, client: &Client) -> Result<(), CliError> {
        let lease = client.get(&format!("/leases/{}", self.id)).await;
        let lease: LeaseView = lease.during(NOT_JOINED)?;
        // Only the buyer's node joins, and only it knows the job: joining tells what is wrong.
        let Some(job) = lease.job else {
            return Ok(());
        };
        let job = client.get(&format!("/jobs/{job}")).await;
        let job: JobRecord = job.during(NOT_JOINED)?;
        check_ranks(NOT_JOINED, &self.forward, job.nodes)
    }
}

/// Waits until the lease is over: its forwards lead nowhere then.
async fn until_over(client: &Client, lease: &str) -> Result<(), CliError> {
    loop {
        tokio::time::sleep(LEASE_LOOK).await;
        let path = format!("/leases/{}", lease);
        let found: Result<LeaseView, ApiError> = client.get(&path).await;
        if let Err(error) = found
            && error.code == ErrorCode::NotFound
        {
            return Err(error).during("its ports lead nowhere any more");
        }
    }
}

/// Joins, and waits until all members are reached. One that is not is told of.
pub(in crate::cli) async fn join(client: &Client, id: &str) -> Result<LeaseView, CliError> {
    let path = format!("/leases/{id}/connect");
    let lease: LeaseView = client.post(&path, &(), None).await.during(NOT_JOINED)?;
    let path = format!("/leases/{}/net", lease.lease.to_hex());
    let begun = Instant::now();
    loop {
        let net: Result<LeaseNet, ApiError> = client.get(&path).await;
        let own = net.as_ref().ok().and_then(|net| {
            net.members
                .iter()
                .find(|member| member.ranks.contains(&OWNER))
        });
        let cut = own.map(|own| own.pairs.iter().filter(|pair| pair.path.is_none()).count());
        match cut {
            Some(0) if own.is_some_and(|own| !own.pairs.is_empty()) => return Ok(lease),
            _ if begun.elapsed() < PATIENCE => tokio::time::sleep(LOOK).await,
            Some(cut) => {
                ui::note(&format!(
                    "{cut} members are not reached yet: gridbay lease net {}, gridbay doctor",
                    lease.lease
                ));
                return Ok(lease);
            }
            None => {
                net.during("the network is not seen")?;
                let why = "no member has told of this node yet";
                let next = "see gridbay lease net, and try again";
                return Err(CliError::new(Exit::FAILED, "not connected yet", why, next));
            }
        }
    }
}
