//! Files that a node reads at its start: lists of the owner's, without which it does not run,
//! checkpoints, alerts, and traces.

use crate::alert::{Alerts, Sender};
use crate::config::{Config, Home};
use crate::store::checkpoints::CheckpointStore;
use crate::store::marks::MarkBook;
use crate::store::projects::ProjectBook;
use crate::store::tokens::TokenBook;
use crate::trace::Traces;
use anyhow::Context as _;
use gridbay_core::Parts;
use gridbay_protocol::keys::PublicKey;
use std::io;
use std::path::PathBuf;

/// Whom the owner blocks and trusts, the tokens of programs, and users with their projects.
pub(super) fn books(home: &Home) -> anyhow::Result<(MarkBook, TokenBook, ProjectBook)> {
    let marks = MarkBook::open(home.marks()).context("cannot read whom you block and trust")?;
    let tokens = TokenBook::open(home.tokens()).context("cannot read the tokens of programs")?;
    let projects = ProjectBook::open(home.projects());
    let projects = projects.context("cannot read users and projects")?;
    Ok((marks, tokens, projects))
}

/// The checkpoints of the orders' tasks, of which those that are over need none.
pub(super) fn checkpoints(folder: PathBuf, parts: &Parts) -> io::Result<CheckpointStore> {
    let needed = |order, task: u32| {
        let record = parts.orders.iter().find(|r| r.order.key == order);
        let record = record.filter(|r| r.finish.is_none());
        let task = record.and_then(|r| r.tasks.get(task as usize));
        task.is_some_and(|t| t.history.checkpoint.is_some())
    };
    CheckpointStore::open(folder, needed)
}

/// The alerts of the node of a key.
pub(super) fn alerts(config: &Config, node: PublicKey, network: &str) -> Alerts {
    let from = Sender {
        node: node.to_hex(),
        name: config.name.clone(),
        network: network.to_owned(),
    };
    Alerts::open(config.home.path(), config.alerts.clone(), from)
}

/// The traces of a node's orders.
pub(super) fn traces(config: &Config, network: &str) -> Traces {
    let (folder, collector) = (config.home.path(), config.traces.clone());
    Traces::new(folder, collector, &config.name, network)
}
