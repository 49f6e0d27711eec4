//! `cluster admit`, `dismiss`, `key`, `enter` and `leave`: who else may run programs, and how.

use super::show::describe;
use super::way::cluster_id;
use crate::api::types::{ClusterKey, ClusterRecord, Enter, Guest, VisitRecord};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use clap::Args;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;

const OUTSIDE: &str = "this node is not in the cluster's network";
const UNCHANGED: &str = "who may run programs on the cluster was not changed";

/// Let another user's node run programs on a cluster; it names the cluster by its lease
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct AdmitArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// The node's key, as gridbay cluster key prints it there
    key: String,
    /// Name under which its programs are listed
    #[arg(long)]
    name: Option<String>,
}

impl AdmitArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let guest = Guest {
            key: key_of(&self.key)?,
            name: self.name,
        };
        change(at, &self.id, "admit", &guest)
    }
}

pub(super) fn dismiss(at: &Context, id: &str, key: &str) -> Result<(), CliError> {
    let guest = Guest {
        key: key_of(key)?,
        name: None,
    };
    change(at, id, "dismiss", &guest)
}

fn change(at: &Context, id: &str, how: &str, guest: &Guest) -> Result<(), CliError> {
    let id = cluster_id(id)?;
    at.wait(async {
        let path = format!("/clusters/{id}/{how}");
        let changed = at.client()?.post(&path, guest, None).await;
        let changed: ClusterRecord = changed.during(UNCHANGED)?;
        at.tell(&changed, describe)
    })
}

/// Bring this node into the network of another user's cluster, whose owner has admitted it
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct EnterArgs {
    /// The cluster's lease, as the owner's cluster show prints it
    lease: String,
    /// The key of the owner's node, as printed there
    owner: String,
}

impl EnterArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let owner = self.owner.parse().map_err(|_| {
            let why = format!("{} is no node's key", self.owner);
            let next = "the owner finds it with gridbay cluster show";
            CliError::new(Exit::USAGE, OUTSIDE, why, next)
        })?;
        at.wait(async {
            let path = format!("/clusters/{}/enter", word(&self.lease)?.to_hex());
            let entered = at.client()?.post(&path, &Enter { owner }, None).await;
            let entered: VisitRecord = entered.during(OUTSIDE)?;
            at.tell(&entered, |visit| {
                let lease = visit.lease.to_hex();
                format!("in the network of {lease}: gridbay cluster exec {lease} --rank 0 -- ...\n")
            })
        })
    }
}

pub(super) fn leave(at: &Context, lease: &str) -> Result<(), CliError> {
    at.wait(async {
        let path = format!("/clusters/{}/leave", word(lease)?.to_hex());
        at.client()?
            .post::<()>(&path, &(), None)
            .await
            .during("this node has not left")
    })
}

/// A lease's id as it may stand in an address.
fn word(lease: &str) -> Result<LeaseId, CliError> {
    lease.parse().map_err(|_| {
        let why = format!("{lease} is no lease's id of 64 digits");
        CliError::new(
            Exit::USAGE,
            "no such lease",
            why,
            "the owner finds it with gridbay cluster show",
        )
    })
}

pub(super) fn key(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let own: ClusterKey = at.client()?.get("/clusters/key").await.during("no key")?;
        at.show(&own, |own| format!("{}\n", own.key.to_hex()))
    })
}

fn key_of(text: &str) -> Result<PublicKey, CliError> {
    text.parse().map_err(|_| {
        let why = format!("{text} is no key");
        let next = "the other user finds it with gridbay cluster key";
        CliError::new(Exit::USAGE, UNCHANGED, why, next)
    })
}
