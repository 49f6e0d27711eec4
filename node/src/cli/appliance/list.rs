//! `appliance list`, `add` and `remove`: names of nodes.

use crate::api::types::{Appliance, Removed};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::ui::Table;
use clap::Args;

const UNCHANGED: &str = "no name was changed";

/// Give a node a name here; whether it obeys shows with the first order
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// The name
    name: String,
    /// The node's key, as its screen and its node status show it
    key: String,
}

impl AddArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let node = self.key.parse().map_err(|_| {
            let why = format!("{} is no node's key", self.key);
            let next = "the screen of the appliance shows it, and its gridbay node status";
            CliError::new(Exit::USAGE, UNCHANGED, why, next)
        })?;
        let appliance = Appliance {
            name: self.name,
            node,
        };
        at.wait(async {
            let added = at.client()?.post("/appliances/add", &appliance, None).await;
            let added: Appliance = added.during(UNCHANGED)?;
            at.tell(&added, |added| {
                format!(
                    "{} is {}; try: gridbay appliance status {}\n",
                    added.name, added.node, added.name
                )
            })
        })
    }
}

pub(super) fn list(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let all = at.client()?.get("/appliances").await;
        let all: Vec<Appliance> = all.during("no list of appliances")?;
        at.show(&all, |all| {
            Table::of(
                all,
                &[
                    ("NAME", &|one| one.name.clone()),
                    ("NODE", &|one| one.node.to_hex()),
                ],
            )
        })
    })
}

pub(super) fn remove(at: &Context, name: String) -> Result<(), CliError> {
    at.wait(async {
        let removed = Removed { name };
        let removed = at
            .client()?
            .post("/appliances/remove", &removed, None)
            .await;
        let removed: Removed = removed.during(UNCHANGED)?;
        at.tell(&removed, |removed| {
            format!("{} names no node any more\n", removed.name)
        })
    })
}
