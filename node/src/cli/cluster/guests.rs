//! `cluster admit`, `cluster dismiss` and `cluster key`: who else may run programs.

use super::show::describe;
use super::way::cluster_id;
use crate::api::types::{ClusterKey, ClusterRecord, Guest};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use clap::Args;
use gridbay_protocol::keys::PublicKey;

const UNCHANGED: &str = "who may run programs on the cluster was not changed";

/// Let another user's node run programs on a cluster; it names the cluster by its lease
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct AdmitArgs {
    /// The cluster's id, or how it begins
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
        at.show(&changed, describe)
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
