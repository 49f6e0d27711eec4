//! `node up|status|drain|resume|stop`.

mod status;

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::run::private::with_command;
use super::{NodeUp, text};
use crate::api::BindError;
use crate::api::types::{NodeState, NodeStatus};
use crate::config::{Origin, RawConfig, Taken, schema};
use crate::overlay::StartError;
use clap::Subcommand;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for a node to end.
const STOP: Duration = Duration::from_secs(60);
/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(50);

/// The node of this data folder.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum NodeCommand {
    /// Run the node in the foreground until it is stopped
    Up {
        /// Of a private market: when standard input ends, stop, end the jobs, remove the folder
        #[arg(long, hide = true)]
        private: bool,
    },
    Status(status::StatusArgs),
    /// Take no new leases and hold the offers back; bids that run on them end at the next slot
    Drain,
    /// Take leases again after a drain, and offer again what was held back
    Resume,
    /// Stop the node; running jobs go on and are adopted at the next start
    Stop,
}

impl NodeCommand {
    pub(super) fn run(self, at: &Context, node_up: NodeUp) -> Result<(), CliError> {
        match self {
            NodeCommand::Up { private: false } => up(at, node_up),
            NodeCommand::Up { private: true } => with_command(at, || up(at, node_up)),
            NodeCommand::Status(args) => args.run(at),
            NodeCommand::Drain => at.wait(async {
                let status: NodeStatus = at
                    .client()?
                    .post("/node/drain", &(), None)
                    .await
                    .during("the node does not drain")?;
                at.tell(&status, table)
            }),
            NodeCommand::Resume => at.wait(async {
                let resumed = at.client()?.post("/node/resume", &(), None).await;
                let status: NodeStatus = resumed.during("the node does not resume")?;
                at.tell(&status, table)
            }),
            NodeCommand::Stop => at.wait(async {
                let client = at.client()?;
                let told = client.tell("/node/stop").await;
                told.during("the node does not stop")?;
                gone(&at.home.lock()).await
            }),
        }
    }
}

/// Waits until the node has let go of its folder, so that another one can start there.
async fn gone(lock: &Path) -> Result<(), CliError> {
    let began = Instant::now();
    // One that may not be read belongs to another user's node: nothing tells when it has ended.
    while let Ok(file) = File::open(lock)
        && file.try_lock_shared().is_err()
    {
        if began.elapsed() > STOP {
            return Err(CliError::new(
                Exit::FAILED,
                "the node was told to stop",
                format!("it has not ended within {} s", STOP.as_secs()),
                "look for the reason in its log",
            ));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
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
        let next = remedy(&error, at).unwrap_or_else(|| "see the lines above".to_owned());
        CliError::new(Exit::FAILED, "the node stopped", why, next)
    })
}

/// Advice where the node cannot have its folder, an address or a socket.
fn remedy(error: &anyhow::Error, at: &Context) -> Option<String> {
    if error.downcast_ref::<Taken>().is_some() {
        return Some("gridbay node status shows it, gridbay node stop ends it".to_owned());
    }
    let of_network = |cause: &StartError| match cause {
        StartError::Listen { .. } => Some("listen"),
        _ => None,
    };
    let of_api = |cause: &BindError| match cause {
        BindError::Tcp { .. } => Some("api.listen"),
        BindError::Socket { .. } => Some("api.socket"),
        BindError::Running(_) | BindError::Token(_) => None,
    };
    let key = error.chain().find_map(|cause| {
        let network = cause.downcast_ref().and_then(of_network);
        network.or_else(|| cause.downcast_ref().and_then(of_api))
    })?;
    let origin = RawConfig::read(&at.home, &at.sources)
        .map_or(Origin::Default, |settings| settings.get(key).1);
    let place = match origin {
        Origin::Default | Origin::File => {
            format!("`{key}` in {}", at.home.config_file().display())
        }
        Origin::Env => format!("the variable {}", schema::find(key)?.variable()),
        Origin::Flag => format!("--set {key}=..."),
    };
    let next = match key {
        "api.socket" => format!("give the socket another place: {place}"),
        _ => format!("end what has the address (ss -lntup shows it), or change {place}"),
    };
    Some(next)
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
        ("key", status.node.to_hex()),
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
        ("block time", text::moment(status.block_ms)),
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
    lines.extend(
        status
            .stall
            .iter()
            .map(|stall| ("blocks", stall.in_words())),
    );
    for trouble in &status.troubles {
        let since = text::moment(trouble.since_ms);
        lines.push(("trouble", format!("{}, since {since}", trouble.what)));
        lines.push(("try", trouble.hint.clone()));
    }
    text::fields(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::context::{Format, Global};
    use std::io;

    fn context(data: &std::path::Path, set: &[&str]) -> Context {
        let global = Global {
            data: Some(data.to_owned()),
            format: Format::Table,
            quiet: false,
            set: set.iter().map(ToString::to_string).collect(),
        };
        Context::new(global).unwrap()
    }

    #[test]
    fn an_address_that_is_taken_names_its_setting() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gridbay.toml");
        std::fs::write(&file, "name = \"a\"\n").unwrap();
        let taken = || io::Error::from(io::ErrorKind::AddrInUse);
        let network = || {
            anyhow::Error::from(StartError::Listen {
                address: "/ip4/127.0.0.1/tcp/7411".parse().unwrap(),
                source: Box::new(taken()),
            })
            .context("cannot start the overlay")
        };
        let api = anyhow::Error::from(BindError::Tcp {
            address: "127.0.0.1:7412".parse().unwrap(),
            source: taken(),
        });
        let flag = "listen=[\"/ip4/127.0.0.1/tcp/7411\"]";
        let in_file = |key: &str| format!("`{key}` in {}", file.display());
        for (error, set, says) in [
            (network(), &[][..], in_file("listen")),
            (network(), &[flag], "--set listen=...".to_owned()),
            (api, &[], in_file("api.listen")),
        ] {
            let next = remedy(&error, &context(dir.path(), set)).unwrap();
            assert!(next.ends_with(&says), "{next}");
            assert!(format!("{error:#}").contains("741"), "{error:#}");
        }
        let other = anyhow::anyhow!("no genesis");
        assert_eq!(remedy(&other, &context(dir.path(), &[])), None);
    }
}
