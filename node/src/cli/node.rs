//! `node up|status|drain|stop`.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::{NodeUp, text};
use crate::api::types::{NodeState, NodeStatus};
use clap::Subcommand;

/// The node of this data folder.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum NodeCommand {
    /// Run the node in the foreground until it is stopped
    Up,
    /// Show what the node is doing
    Status,
    /// Take no new leases; the node ends when those it has are over
    Drain,
    /// Stop the node; running jobs go on and are adopted at the next start
    Stop,
}

impl NodeCommand {
    pub(super) fn run(self, at: &Context, node_up: NodeUp) -> Result<(), CliError> {
        match self {
            NodeCommand::Up => up(at, node_up),
            NodeCommand::Status => at.wait(async {
                let client = at.client()?;
                let status: NodeStatus = client.get("/node").await.during("no status")?;
                at.show(&status, table)
            }),
            NodeCommand::Drain => at.wait(async {
                let status: NodeStatus = at
                    .client()?
                    .post("/node/drain", &(), None)
                    .await
                    .during("the node does not drain")?;
                at.show(&status, table)
            }),
            NodeCommand::Stop => at.wait(async {
                let client = at.client()?;
                client
                    .tell("/node/stop")
                    .await
                    .during("the node does not stop")
            }),
        }
    }
}

fn up(at: &Context, node_up: NodeUp) -> Result<(), CliError> {
    let config = at.config()?;
    if !at.home.genesis().exists() && !at.home.invitation().exists() {
        return Err(CliError::new(
            Exit::NOT_FOUND,
            "the node was not started",
            format!("{} belongs to no network yet", at.home.path().display()),
            "gridbay join --file <invitation>, or <genesis file> for a founding member",
        ));
    }
    node_up(config).map_err(|error| {
        let why = format!("{error:#}");
        CliError::new(Exit::FAILED, "the node stopped", why, "see the lines above")
    })
}

fn table(status: &NodeStatus) -> String {
    let network = status.network_name.as_deref().unwrap_or("?");
    let account = match (status.account, status.state) {
        (Some(id), _) => id.to_hex(),
        (None, NodeState::Closed) => "closed".to_owned(),
        (None, _) => "not open yet".to_owned(),
    };
    let validator = if status.validator.is_some() {
        "yes"
    } else {
        "no"
    };
    let mut lines = vec![
        ("node", format!("{} ({})", status.name, status.state.name())),
        ("network", format!("{network} {}", status.network.to_hex())),
        ("account", account),
        ("validator", validator.to_owned()),
        (
            "height",
            format!(
                "{}, round {}, slot {}",
                status.height, status.round, status.slot
            ),
        ),
        ("block time", text::time(status.block_ms)),
        ("peers", status.peers.to_string()),
        ("listening", status.listen.join(" ")),
        (
            "balance",
            format!("{} free, {} held", status.balance, status.held),
        ),
        (
            "units",
            format!(
                "{} offered, {} leased",
                status.units_offered, status.units_leased
            ),
        ),
        (
            "jobs",
            format!(
                "{} own open, {} hosted",
                status.jobs_open, status.jobs_hosted
            ),
        ),
    ];
    if let Some(why) = &status.joining {
        lines.push(("not joined", why.clone()));
    }
    for trouble in &status.troubles {
        let since = text::time(trouble.since_ms);
        lines.push(("trouble", format!("{} (since {since})", trouble.what)));
        lines.push(("try", trouble.hint.clone()));
    }
    text::fields(&lines)
}
