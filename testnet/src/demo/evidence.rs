//! The evidence for the checks, gathered from the nodes before they are stopped.

use super::order::Order;
use super::stage::{Crash, Stage};
use crate::network::{Network, Part, cli, find_processes};
use anyhow::Context as _;
use futures::future::try_join_all;
use gridbay_node::api::types::{
    AuctionProof, AuctionRecord, AuctionSummary, Balance, BankReport, BlockInfo, Movement,
    NodeStatus, Signed, SignedHeader,
};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, BlockId, Hash32, OrderId};
use std::time::Duration;

/// Auctions whose proofs are checked by the command line at the most.
const VERIFIED: usize = 120;
/// Lines of a list that the API gives at the most.
const LIST: usize = 1_000;
/// Headers in one answer.
const HEADERS: u64 = 256;

/// The evidence.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// Orders with their outputs.
    pub(crate) orders: Vec<Order>,
    /// Accounts of all nodes.
    pub(crate) accounts: Vec<Account>,
    /// Micro-credits minted by the genesis.
    pub(crate) minted: u64,
    /// The bank's money: revenue that is nobody else's, such as the part of a refund above the cost
    /// of its units.
    pub(crate) bank: Signed,
    /// Auctions, newest first.
    pub(crate) auctions: Vec<Auction>,
    /// The effects of the blocks, in order.
    pub(crate) records: Vec<Record>,
    /// The network's rules.
    pub(crate) policy: Policy,
    /// Chains of all nodes up to the height that all of them have.
    pub(crate) chains: Vec<Chain>,
    /// The result of the crash.
    pub(crate) crash: Crash,
    /// The result of `auction verify`.
    pub(crate) verified: Verified,
    /// `ledger verify` by node: its complaint, if any.
    pub(crate) ledgers: Vec<(String, Option<String>)>,
    /// Processes of jobs that were alive after all orders had ended.
    pub(crate) leftovers: Vec<String>,
}

impl Evidence {
    /// The cost of an order to its buyer, by the account's statement, in micro-credits.
    pub(crate) fn spent(&self, order: &Order, id: OrderId) -> i64 {
        let accounts = self.accounts.iter();
        let own = accounts.filter(|account| account.name == order.wish.buyer);
        let movements = own.flat_map(|account| &account.movements);
        let amounts = movements
            .filter(|m| m.order == Some(id))
            .map(|m| m.amount.0);
        -amounts.sum::<i64>()
    }
}

/// An account's statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// Name of its node.
    pub(crate) name: String,
    /// Its id.
    pub(crate) id: AccountId,
    /// Minted to it at the start.
    pub(crate) start: Signed,
    /// Balance at the end.
    pub(crate) end: Signed,
    /// Locked at the end.
    pub(crate) held: Signed,
    /// Movements, newest first.
    pub(crate) movements: Vec<Movement>,
}

/// An auction's public record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Auction {
    /// Id.
    pub(crate) id: String,
    /// Name of the class.
    pub(crate) class: String,
    /// Record.
    pub(crate) record: AuctionRecord,
}

/// An effect of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Height of the block.
    pub(crate) height: u64,
    /// The effect.
    pub(crate) effect: Effect,
}

/// A node's view of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Name of the node.
    pub(crate) node: String,
    /// Last height that all nodes have; the node's block and state root there follow.
    pub(crate) height: u64,
    /// Block id there.
    pub(crate) block: BlockId,
    /// State root there.
    pub(crate) state_root: Hash32,
    /// All headers up to it, from height 1.
    pub(crate) headers: Vec<Vec<u8>>,
}

/// The result of `auction verify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Auctions that sold something.
    pub(crate) with_sales: usize,
    /// Auctions verified.
    pub(crate) verified: usize,
    /// Its complaint.
    pub(crate) complaint: Option<String>,
}

/// Gathers everything.
pub(super) async fn gather(stage: &mut Stage<'_>) -> anyhow::Result<Evidence> {
    let crash = stage.crash.clone().context("no validator was killed")?;
    let leftovers = leftovers(&stage.network).await?;
    let network = &stage.network;
    let accounts = accounts(network).await?;
    let auctions = auctions(network).await?;
    let endowments = network
        .genesis()
        .members
        .iter()
        .map(|m| m.endowment.micros());
    stage
        .progress
        .tell("verifying ledgers and auctions from the genesis on");
    let chains = chains(network).await?;
    let common = chains.first().map_or(0, |chain| chain.height);
    Ok(Evidence {
        orders: stage.orders.clone(),
        minted: endowments.sum(),
        bank: bank(network).await?,
        records: records(network, common).await?,
        policy: network.genesis().policy.clone(),
        chains,
        crash,
        verified: verify_auctions(network, &auctions).await,
        ledgers: verify_ledgers(network).await,
        accounts,
        auctions,
        leftovers,
    })
}

async fn accounts(network: &Network) -> anyhow::Result<Vec<Account>> {
    let genesis = network.genesis();
    let one = |node: &'_ crate::network::Node| {
        let client = node.client().clone();
        let name = node.name.clone();
        let member = genesis.members.iter().find(|m| m.name == name);
        let start = member.map_or(Signed(0), |m| Signed::from(m.endowment));
        async move {
            let history = format!("/ledger/history?limit={LIST}");
            let movements: Vec<Movement> = client.get(&history).await?;
            let balance: Balance = client.get("/ledger/balance").await?;
            anyhow::Ok(Account {
                name,
                id: balance.account,
                start,
                end: balance.balance,
                held: Signed::from(balance.held),
                movements,
            })
        }
    };
    try_join_all(network.nodes().iter().map(one))
        .await
        .context("statements")
}

async fn bank(network: &Network) -> anyhow::Result<Signed> {
    let client = network.node("v1").client();
    let report: BankReport = client.get("/ledger/bank").await.context("the bank")?;
    Ok(Signed::from(report.supply.treasury))
}

async fn auctions(network: &Network) -> anyhow::Result<Vec<Auction>> {
    let client = network.node("v1").client();
    let list: Vec<AuctionSummary> = client.get(&format!("/auctions?limit={LIST}")).await?;
    let mut auctions = Vec::new();
    for summary in list {
        let proof: AuctionProof = client.get(&format!("/auctions/{}", summary.id)).await?;
        auctions.push(Auction {
            id: proof.id,
            class: proof.class,
            record: proof.record,
        });
    }
    Ok(auctions)
}

/// Up to a height, as a buyer's node has them.
async fn records(network: &Network, up_to: u64) -> anyhow::Result<Vec<Record>> {
    let client = network.node("b1").client();
    let mut records = Vec::new();
    for height in 1..=up_to {
        let path = format!("/ledger/blocks/{height}/effects");
        let effects: Vec<Effect> = client.get(&path).await.context("effects of a block")?;
        let effects = effects.into_iter();
        records.extend(effects.map(|effect| Record { height, effect }));
    }
    Ok(records)
}

async fn chains(network: &Network) -> anyhow::Result<Vec<Chain>> {
    let mut common = u64::MAX;
    for node in network.nodes() {
        let status: NodeStatus = node.client().get("/node").await?;
        common = common.min(status.height);
    }
    let one = |node: &'_ crate::network::Node| {
        let (client, name) = (node.client().clone(), node.name.clone());
        async move {
            let block: BlockInfo = client.get(&format!("/ledger/blocks/{common}")).await?;
            let mut headers: Vec<Vec<u8>> = Vec::new();
            while (headers.len() as u64) < common {
                let from = headers.len() as u64 + 1;
                let limit = HEADERS.min(common - headers.len() as u64);
                let path = format!("/ledger/headers?from={from}&limit={limit}");
                let more: Vec<SignedHeader> = client.get(&path).await?;
                if more.is_empty() {
                    break;
                }
                headers.extend(more.into_iter().map(|signed| signed.header.0));
            }
            anyhow::Ok(Chain {
                node: name,
                height: block.height,
                block: block.block,
                state_root: block.state_root,
                headers,
            })
        }
    };
    try_join_all(network.nodes().iter().map(one))
        .await
        .context("chains")
}

/// `auction verify` for auctions that sold something, by a buyer's node that takes nobody's word.
async fn verify_auctions(network: &Network, auctions: &[Auction]) -> Verified {
    let sold = |auction: &&Auction| !auction.record.auction().winners().is_empty();
    let sales: Vec<&Auction> = auctions.iter().filter(sold).collect();
    let checked = &sales[..sales.len().min(VERIFIED)];
    let mut words = vec!["auction".to_owned(), "verify".to_owned()];
    words.extend(checked.iter().map(|auction| auction.id.clone()));
    let complaint = if checked.is_empty() {
        Some("no auction sold anything".to_owned())
    } else {
        let buyer = network.node("b1").home.path();
        let done = cli::run(network.program(), buyer, &words).await;
        done.err().map(|error| format!("{error:#}"))
    };
    Verified {
        with_sales: sales.len(),
        verified: checked.len(),
        complaint,
    }
}

/// `ledger verify` on every node.
async fn verify_ledgers(network: &Network) -> Vec<(String, Option<String>)> {
    let mut verdicts = Vec::new();
    for node in network.nodes() {
        let words = ["ledger", "verify"];
        let done = cli::run(network.program(), node.home.path(), &words).await;
        verdicts.push((
            node.name.clone(),
            done.err().map(|error| format!("{error:#}")),
        ));
    }
    verdicts
}

/// Supervisors and processes of jobs that are still alive, a moment after the last order's end.
async fn leftovers(network: &Network) -> anyhow::Result<Vec<String>> {
    let mut left = Vec::new();
    for _ in 0..20 {
        let found = find_processes(network.folder().path())?;
        let jobs = found.into_iter().filter(|(_, part)| *part != Part::Node);
        left = jobs
            .map(|(process, _)| format!("{} {}", process.pid, process.command.join(" ")))
            .collect();
        if left.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(left)
}
