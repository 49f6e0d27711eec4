//! `up`: a local network, in the foreground or left running.

use super::runtime::{DEFAULT_RUN, plan, program};
use crate::network::{History, Network, RunFolder, RunRecord};
use crate::say::{self, Progress};
use clap::Args;
use gridbay_node::ui::Table;
use std::fs;
use std::future;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Starts a local network
#[derive(Debug, Args)]
pub(super) struct UpArgs {
    /// Validators that also sell
    #[arg(short = 'n', long, default_value_t = 4)]
    nodes: usize,
    /// Nodes that join by invitation
    #[arg(long, default_value_t = 0)]
    buyers: usize,
    /// Name of the run
    #[arg(long, default_value = DEFAULT_RUN)]
    name: String,
    /// Write names, addresses, sockets and folders to this file as JSON
    #[arg(long, value_name = "FILE")]
    config_out: Option<PathBuf>,
    /// Leave the network running; end it with `down`
    #[arg(long)]
    detach: bool,
    /// Seconds within which all nodes must be ready
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    timeout: u64,
    /// Payments that the ledger holds before its only node starts
    #[arg(long, default_value_t = 0)]
    payments: usize,
    /// Bids that stand before its only node starts
    #[arg(long, default_value_t = 0)]
    bids: usize,
    /// Serve the API and the web pages of each node on a loopback port too
    #[arg(long)]
    web: bool,
    /// Log filter of the nodes
    #[arg(long, default_value = "info", value_name = "FILTER")]
    log: String,
}

impl UpArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let progress = Progress::new();
        let mut plan = plan(&self.name, self.nodes, self.buyers, &self.log);
        plan.history = History {
            payments: self.payments,
            bids: self.bids,
        };
        if self.web {
            for name in plan.names() {
                let listen = "api.listen = \"127.0.0.1:0\"\n".to_owned();
                plan.more.insert(name, listen);
            }
        }
        plan.check()?;
        let folder = RunFolder::create(&self.name)?;
        progress.tell(&format!("run folder {}", folder.path().display()));
        let patience = Duration::from_secs(self.timeout);
        let network = Network::start(program()?, folder, plan, patience, &progress).await?;
        let record = network.run_record()?;
        if let Some(path) = &self.config_out {
            fs::write(
                path,
                format!("{}\n", serde_json::to_string_pretty(&record)?),
            )?;
        }
        say::line(listing(&record).trim_end());
        if self.detach {
            network.detach()?;
            say::note(&format!(
                "running; end it with: gridbay-testnet down --name {}",
                self.name
            ));
            return Ok(ExitCode::SUCCESS);
        }
        say::note("running until interrupted (Ctrl-C)");
        // The caller waits for the interrupt and drops this future, and with it the network.
        future::pending::<()>().await;
        Ok(ExitCode::SUCCESS)
    }
}

/// One line per node: name, transport key, addresses, socket, folder.
fn listing(record: &RunRecord) -> String {
    let mut table = Table::new(&[
        "NAME",
        "ROLE",
        "TRANSPORT KEY",
        "LISTENS ON",
        "API SOCKET",
        "DATA",
    ]);
    for node in &record.nodes {
        table.row([
            node.name.clone(),
            node.role.clone(),
            node.node.clone(),
            node.listen.join(" "),
            node.socket.display().to_string(),
            node.data.display().to_string(),
        ]);
    }
    table.render()
}
