//! `node status`, also once the node is at the head of its network's ledger.

use super::table;
use crate::api::client::Client;
use crate::api::types::{NodeState, NodeStatus};
use crate::api::{ApiError, ErrorCode};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::text;
use crate::config::parse;
use crate::ui;
use clap::Args;
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// Time that a node has to open its socket.
const STARTS: Duration = Duration::from_secs(20);

/// Show what the node is doing
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct StatusArgs {
    /// Wait until the node has joined and is at the head of the ledger
    #[arg(long)]
    wait: bool,
    /// Give up after this time; the node goes on
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = parse::duration)]
    timeout: Option<Duration>,
}

impl StatusArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            let status = match self.wait {
                false => client.get("/node").await.during("no status")?,
                true => joined(&client, self.timeout).await?,
            };
            at.tell(&status, table)
        })
    }
}

/// The status of a node that joins no more; on a terminal a line tells meanwhile how far it is.
async fn joined(client: &Client, patience: Option<Duration>) -> Result<NodeStatus, CliError> {
    let what = "the node is no longer waited for";
    let begun = Instant::now();
    loop {
        let status: Result<NodeStatus, ApiError> = client.get("/node").await;
        let told = match status {
            Ok(status) if status.state != NodeState::Joining => {
                // The line goes, whatever comes after it.
                ui::err(b"")?;
                return Ok(status);
            }
            Ok(status) => far(&status, text::now_ms()),
            Err(error) if is_to_come(&error) && begun.elapsed() < STARTS => {
                "the node does not run yet".to_owned()
            }
            Err(error) => return Err(error).during(what),
        };
        if patience.is_some_and(|patience| begun.elapsed() > patience) {
            let next = "see what keeps it: gridbay doctor";
            return Err(CliError::new(Exit::TIMEOUT, what, told, next));
        }
        if stderr().is_terminal() {
            ui::passing(&told);
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn is_to_come(error: &ApiError) -> bool {
    error.code == ErrorCode::Unreachable
}

/// How far a node is that joins.
fn far(status: &NodeStatus, now: u64) -> String {
    let height = status.height;
    let behind = text::span(now.saturating_sub(status.block_ms));
    let peers = match status.peers {
        1 => "1 peer".to_owned(),
        peers => format!("{peers} peers"),
    };
    let why = status.joining.as_deref();
    let why = why.map_or(String::new(), |why| format!("; {why}"));
    format!("joining: height {height}, its last block is of {behind} ago; {peers}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::Signed;
    use gridbay_protocol::ids::NetworkId;
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::units::Credits;

    #[test]
    fn a_node_that_joins_tells_how_far_it_is() {
        let status = NodeStatus {
            state: NodeState::Joining,
            name: "a".into(),
            version: "0".into(),
            pid: 1,
            started_ms: 0,
            network: NetworkId([1; 32]),
            network_name: None,
            node: SecretKey::from_seed(&[2; 32]).public(),
            account: None,
            joining: Some("its account is not open yet".into()),
            validator: None,
            listen: vec![],
            peers: 1,
            height: 120,
            block_ms: 0,
            round: 10,
            slot: 5,
            balance: Signed(0),
            held: Credits::ZERO,
            units_offered: 0,
            units_leased: 0,
            jobs_hosted: 0,
            jobs_open: 0,
            troubles: vec![],
            stall: None,
        };
        let told = "joining: height 120, its last block is of 1h05m ago; 1 peer; \
                    its account is not open yet";
        assert_eq!(far(&status, 3_900_000), told);
    }
}
