//! The reader notes what the nodes show while they are killed, and gathers all that they hold at
//! the end.
//!
//! 1. Every node's head, several times a second.
//! 2. Every account's statement, a piece after the other: a statement's lines up to a block are the
//!    same on every node, so any node that answers will do.
//! 3. At the end: every node's chain from the first block on, once all have reached the same
//!    height; every account's balance; the complaints of the nodes in their logs.

use super::history::{History, Party};
use super::judge::{Chain, Statement};
use crate::network::{Network, Node};
use anyhow::{Context as _, bail};
use futures::future::try_join_all;
use gridbay_node::api::ApiError;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{Balance, BlockInfo, Movement, SignedHeader};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often a head is looked at.
const HEAD_EVERY: Duration = Duration::from_millis(200);
/// How often the statements are read.
const STATEMENTS_EVERY: Duration = Duration::from_secs(3);
/// Lines of a list that the API gives at the most.
const LIST: usize = 1_000;
/// Headers in one answer.
const HEADERS: u64 = 256;
/// Until all nodes have the same head, once nobody is killed.
const CONVERGE_TIME: Duration = Duration::from_secs(60);
/// Words that no node may write to its log.
const COMPLAINTS: [&str; 4] = [
    "contradicted itself",
    "panicked",
    "stopped by itself",
    "the node halts",
];

/// The running reader.
pub(super) struct Reading {
    history: Arc<History>,
    tasks: JoinSet<()>,
}

/// The parties of a network: its nodes and their accounts.
pub(super) async fn accounts(network: &Network) -> anyhow::Result<Vec<Party>> {
    let genesis = network.genesis();
    let mut parties = Vec::new();
    for node in network.nodes() {
        let balance: Balance = node.client().get("/ledger/balance").await?;
        let member = genesis.members.iter().find(|m| m.name == node.name);
        let start = member.map_or(0, |member| member.endowment.micros());
        parties.push(Party {
            name: node.name.clone(),
            account: balance.account,
            start: i64::try_from(start)?,
        });
    }
    Ok(parties)
}

/// Starts to read.
pub(super) fn start(network: &Network, history: &Arc<History>) -> Reading {
    let mut tasks = JoinSet::new();
    for node in network.nodes() {
        let (history, name) = (Arc::clone(history), node.name.clone());
        tasks.spawn(heads(history, name, node.client().clone()));
    }
    tasks.spawn(collect(Arc::clone(history), clients(network)));
    Reading {
        history: Arc::clone(history),
        tasks,
    }
}

impl Reading {
    /// Stops, and reads what the nodes hold at the end: their chains, their balances, and the rest
    /// of all statements.
    pub(super) async fn end(
        mut self,
        network: &Network,
    ) -> anyhow::Result<(Vec<Chain>, Vec<Statement>)> {
        // No head is noted that the chains read next could be too short for.
        self.tasks.shutdown().await;
        let chains = chains(network).await?;
        let statements = statements(network).await?;
        for party in 0..self.history.parties.len() {
            read_statement(&self.history, network.node("v1").client(), party).await?;
        }
        Ok((chains, statements))
    }
}

fn clients(network: &Network) -> Vec<Client> {
    network.nodes().iter().map(|n| n.client().clone()).collect()
}

async fn heads(history: Arc<History>, name: String, client: Client) {
    loop {
        // A node that is down shows nothing.
        if let Ok(info) = client.get::<BlockInfo>("/ledger/head").await {
            history.show_head(&name, &info);
        }
        tokio::time::sleep(HEAD_EVERY).await;
    }
}

async fn collect(history: Arc<History>, clients: Vec<Client>) {
    for turn in 0.. {
        tokio::time::sleep(STATEMENTS_EVERY).await;
        for party in 0..history.parties.len() {
            // The first node that answers; if none does, the next time.
            for again in 0..clients.len() {
                let client = &clients[(turn + party + again) % clients.len()];
                if read_statement(&history, client, party).await.is_ok() {
                    break;
                }
            }
        }
    }
}

async fn read_statement(history: &History, client: &Client, party: usize) -> Result<(), ApiError> {
    // The lines are read after the height, so up to it they are whole.
    let head: BlockInfo = client.get("/ledger/head").await?;
    let account = history.parties[party].account.to_hex();
    let path = format!("/ledger/history?account={account}&limit={LIST}");
    let lines: Vec<Movement> = client.get(&path).await?;
    let full = lines.len() >= LIST;
    history.add_movements(party, head.height, lines, full);
    Ok(())
}

/// All nodes' chains up to the same height.
async fn chains(network: &Network) -> anyhow::Result<Vec<Chain>> {
    let mut goal = 0;
    for node in network.nodes() {
        let head: BlockInfo = node.client().get("/ledger/head").await?;
        goal = goal.max(head.height);
    }
    try_join_all(network.nodes().iter().map(|node| chain(node, goal))).await
}

async fn chain(node: &Node, goal: u64) -> anyhow::Result<Chain> {
    let (client, name) = (node.client(), node.name.clone());
    let until = Instant::now() + CONVERGE_TIME;
    loop {
        let head: BlockInfo = client.get("/ledger/head").await?;
        if head.height >= goal {
            break;
        }
        if Instant::now() > until {
            bail!("{name} stays at height {} of {goal}", head.height);
        }
        tokio::time::sleep(HEAD_EVERY).await;
    }
    let mut headers: Vec<Vec<u8>> = Vec::new();
    while (headers.len() as u64) < goal {
        let from = headers.len() as u64 + 1;
        let limit = HEADERS.min(goal - headers.len() as u64);
        let path = format!("/ledger/headers?from={from}&limit={limit}");
        let more: Vec<SignedHeader> = client.get(&path).await?;
        if more.is_empty() {
            bail!("{name} shows no header from {from} on");
        }
        headers.extend(more.into_iter().map(|signed| signed.header.0));
    }
    Ok(Chain {
        node: name,
        headers,
    })
}

/// Every account's balance, from its own node.
async fn statements(network: &Network) -> anyhow::Result<Vec<Statement>> {
    let mut statements = Vec::new();
    for node in network.nodes() {
        let balance: Balance = node.client().get("/ledger/balance").await?;
        statements.push(Statement {
            balance: balance.balance.0,
            height: balance.height,
        });
    }
    Ok(statements)
}

/// Lines of the nodes' logs that must not be there.
pub(super) fn problems_in_logs(network: &Network) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for node in network.nodes() {
        let path = network.folder().log(&node.name);
        let text = std::fs::read(&path).with_context(|| format!("no log {}", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        let bad = |line: &&str| COMPLAINTS.iter().any(|complaint| line.contains(complaint));
        problems.extend(
            text.lines()
                .filter(bad)
                .map(|l| format!("{}: {l}", node.name)),
        );
    }
    Ok(problems)
}
