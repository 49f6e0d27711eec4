//! `status`: the nodes of a network and their activity.

use super::runtime::DEFAULT_RUN;
use crate::network::{NodeRecord, RunFolder, RunRecord};
use crate::say;
use clap::Args;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::NodeStatus;
use gridbay_node::ui::Table;
use std::process::ExitCode;

/// Shows the nodes of a local network
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Name of the run
    #[arg(long, default_value = DEFAULT_RUN)]
    name: String,
}

impl StatusArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let Ok(folder) = RunFolder::open(&self.name) else {
            let names = RunFolder::names();
            let there = match names.as_slice() {
                [] => "no network is up".to_owned(),
                names => format!("there are: {}", names.join(", ")),
            };
            anyhow::bail!("there is no run `{}`; {there}", self.name);
        };
        let record = RunRecord::read(&folder)?;
        let mut table = Table::new(&[
            "NAME", "ROLE", ">PID", "STATE", ">HEIGHT", ">PEERS", ">LEASED", ">OFFERED", ">BALANCE",
        ]);
        let mut all_up = true;
        for node in &record.nodes {
            let status = Client::new(&node.socket).get::<NodeStatus>("/node").await;
            all_up &= status.is_ok();
            table.row(row(node, status.ok()));
        }
        say::line(table.render().trim_end());
        Ok(ExitCode::from(u8::from(!all_up)))
    }
}

fn row(node: &NodeRecord, status: Option<NodeStatus>) -> Vec<String> {
    let mut cells = vec![node.name.clone(), node.role.clone()];
    match status {
        Some(s) => cells.extend([
            s.pid.to_string(),
            s.state.name().to_owned(),
            s.height.to_string(),
            s.peers.to_string(),
            s.units_leased.to_string(),
            s.units_offered.to_string(),
            s.balance.to_string(),
        ]),
        None => cells.extend(["-".to_owned(), "down".to_owned()]),
    }
    cells
}
