//! Many nodes on one machine.
//!
//! 1. Four validators, and as many members as are wanted besides, each a process with a data folder
//!    of its own, are founded, invited and started. They have *converged* when each is ready, has
//!    the height that the first had when the last was ready, and knows every advert.
//! 2. A member offers a unit: its first advert. Every node is asked until 95 of 100 know it.
//! 3. *Memory* is what each process takes after that: pages of its own, and its part of those that
//!    all share (the program). *Resident* counts the shared ones in full for each. *Idle CPU* is
//!    what all use together while nothing is ordered, over a window that begins once the network is
//!    quiet, as a share of one core.

use crate::network::plan::{Plan, credits, offer};
use crate::network::{Network, Node, Process, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, bail};
use futures::future::join_all;
use gridbay_node::api::types::{NodeStatus, Offer};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Validators among the nodes.
const VALIDATORS: usize = 4;
/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(300);
/// Until what is waited for afterwards is there.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often nodes are asked.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// Until a network in which nothing is ordered is quiet: connections that nobody needs are given up
/// half a minute after they were of use, and a few at a time.
const SETTLE: Duration = Duration::from_secs(60);

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Nodes, validators among them.
    pub(crate) nodes: usize,
    /// Window of idle CPU.
    pub(crate) window: Duration,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Nodes.
    pub(crate) nodes: usize,
    /// Founding, inviting, starting, until all have converged.
    pub(crate) converged_ms: u64,
    /// Until 95 of 100 nodes knew a new advert.
    pub(crate) advert_ms: u64,
    /// Own and shared in proportion, mean of all nodes.
    pub(crate) memory_mean_mib: f64,
    /// The same, the largest node.
    pub(crate) memory_max_mib: f64,
    /// Resident, mean of all nodes.
    pub(crate) resident_mean_mib: f64,
    /// CPU of all nodes together, per cent of one core.
    pub(crate) idle_cpu_percent: f64,
    /// Peers of a node, mean.
    pub(crate) peers_mean: f64,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["FIGURE", ">VALUE", ">BAR"]);
        for (name, value, bar) in [
            ("nodes", self.nodes.to_string(), String::new()),
            (
                "started and converged, s",
                format!("{:.1}", self.converged_ms as f64 / 1e3),
                "60".to_owned(),
            ),
            (
                "advert known to 95 %, s",
                format!("{:.2}", self.advert_ms as f64 / 1e3),
                "3".to_owned(),
            ),
            (
                "memory of a node, mean MiB",
                format!("{:.1}", self.memory_mean_mib),
                "40".to_owned(),
            ),
            (
                "memory of a node, most MiB",
                format!("{:.1}", self.memory_max_mib),
                String::new(),
            ),
            (
                "resident in a node, mean MiB",
                format!("{:.1}", self.resident_mean_mib),
                String::new(),
            ),
            (
                "idle CPU of all, % of a core",
                format!("{:.1}", self.idle_cpu_percent),
                "30".to_owned(),
            ),
            (
                "peers of a node, mean",
                format!("{:.1}", self.peers_mean),
                String::new(),
            ),
        ] {
            table.row([name.to_owned(), value, bar]);
        }
        table.render()
    }

    /// The figures above three times their bars: the machines are noisy.
    pub(crate) fn problems(&self) -> Vec<String> {
        let bars = [
            ("converging", self.converged_ms as f64, 60e3),
            ("an advert", self.advert_ms as f64, 3e3),
            ("memory", self.memory_mean_mib, 40.0),
            ("idle CPU", self.idle_cpu_percent, 30.0),
        ];
        let above = bars
            .into_iter()
            .filter(|(_, value, bar)| *value > 3.0 * bar);
        above
            .map(|(name, value, bar)| format!("{name}: {value:.1} where {bar} is the bar"))
            .collect()
    }
}

/// Measures.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    let members = options.nodes.checked_sub(VALIDATORS).filter(|n| *n > 0);
    let members = members.with_context(|| format!("want more than {VALIDATORS} nodes"))?;
    let began = Instant::now();
    let mut plan = Plan::local("crowd", VALIDATORS, members);
    plan.log = "warn".to_owned();
    let purses = plan.purse.checked_mul(members as u64);
    plan.endowment = plan.endowment.max(purses.context("too many nodes")?);
    let folder = RunFolder::create("crowd")?;
    let mut network = Network::start(options.program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    converge(&network).await?;
    let converged_ms = millis(began);
    progress.tell(&format!("all {} nodes have converged", options.nodes));
    let advert_ms = spread_advert(&network).await?;
    progress.tell("a new advert has spread");
    tokio::time::sleep(SETTLE).await;
    let before = used(network.nodes())?;
    let window = Instant::now();
    tokio::time::sleep(options.window).await;
    let cpu = used(network.nodes())?.saturating_sub(before);
    let idle_cpu_percent = 100.0 * cpu.as_secs_f64() / window.elapsed().as_secs_f64();
    let memory = each(&network, |node| mib(pid_of(node)?, "smaps_rollup", "Pss:"))?;
    let resident = each(&network, |node| mib(pid_of(node)?, "status", "VmRSS:"))?;
    let statuses: Vec<NodeStatus> = ask_all(&network, "/node").await?;
    let peers: u32 = statuses.iter().map(|s| s.peers).sum();
    network.stop()?;
    let n = options.nodes as f64;
    Ok(Figures {
        nodes: options.nodes,
        converged_ms,
        advert_ms,
        memory_mean_mib: memory.iter().sum::<f64>() / n,
        memory_max_mib: memory.iter().copied().fold(0.0, f64::max),
        resident_mean_mib: resident.iter().sum::<f64>() / n,
        idle_cpu_percent,
        peers_mean: f64::from(peers) / n,
    })
}

/// Step 1, its last part.
async fn converge(network: &Network) -> anyhow::Result<()> {
    let first: NodeStatus = network.node("v1").client().get("/node").await?;
    until("all nodes converge", || async {
        let statuses: Vec<NodeStatus> = ask_all(network, "/node").await?;
        let adverts = known_adverts(network).await;
        let behind = statuses.iter().filter(|s| s.height < first.height).count();
        // A node's own advert does not count.
        let ignorant = adverts
            .iter()
            .filter(|known| **known + 1 < VALIDATORS)
            .count();
        Ok(behind + ignorant == 0)
    })
    .await
}

/// Step 2. Returns how long it took, in milliseconds, once the seller's offer is on the ledger.
async fn spread_advert(network: &Network) -> anyhow::Result<u64> {
    let before = known_adverts(network).await;
    let seller = network.nodes().last().context("there are nodes")?;
    let request = offer("small", 1, credits(9), None);
    let _: Offer = seller.client().put("/offers", &request).await?;
    let began = Instant::now();
    until("95 of 100 nodes know an advert", || async {
        let now = known_adverts(network).await;
        let informed = now
            .iter()
            .zip(&before)
            .filter(|(now, before)| now > before)
            .count();
        Ok(informed * 100 >= (network.nodes().len() - 1) * 95)
    })
    .await?;
    Ok(millis(began))
}

/// Asks until something is so.
pub(super) async fn until<F, T>(what: &str, done: F) -> anyhow::Result<()>
where
    F: Fn() -> T,
    T: Future<Output = anyhow::Result<bool>>,
{
    let end = Instant::now() + PATIENCE;
    while !done().await? {
        if Instant::now() > end {
            bail!("not within {PATIENCE:?}: {what}");
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    Ok(())
}

async fn ask_all<T: serde::de::DeserializeOwned>(
    network: &Network,
    path: &str,
) -> anyhow::Result<Vec<T>> {
    let all = network.nodes().iter().map(|node| node.client().get(path));
    let all: Vec<Result<T, _>> = join_all(all).await;
    Ok(all.into_iter().collect::<Result<_, _>>()?)
}

async fn known_adverts(network: &Network) -> Vec<usize> {
    join_all(network.nodes().iter().map(known)).await
}

/// Adverts that a node knows; 0 while it does not answer.
async fn known(node: &Node) -> usize {
    let metrics = node.client().metrics().await.unwrap_or_default();
    let line = metrics
        .lines()
        .find_map(|l| l.strip_prefix("gridbay_adverts_known "));
    line.and_then(|value| value.trim().parse().ok())
        .unwrap_or(0)
}

/// CPU that these nodes together have used since they began.
pub(super) fn used<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> anyhow::Result<Duration> {
    let used = nodes.into_iter().map(|node| {
        let used = node.process().and_then(Process::used);
        used.with_context(|| format!("{} is gone", node.name))
    });
    used.sum()
}

fn each(
    network: &Network,
    measure: impl Fn(&Node) -> anyhow::Result<f64>,
) -> anyhow::Result<Vec<f64>> {
    network.nodes().iter().map(measure).collect()
}

/// The process of a node.
pub(super) fn pid_of(node: &Node) -> anyhow::Result<i32> {
    let process = node.process();
    let process = process.with_context(|| format!("{} is gone", node.name))?;
    Ok(process.pid)
}

/// The value on a line of a process's file in `/proc`, in MiB.
pub(super) fn mib(pid: i32, file: &str, line: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/{file}"))
        .with_context(|| format!("process {pid} is gone"))?;
    let line = status.lines().find_map(|l| l.strip_prefix(line));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kib.context("a process has memory")? / 1024.0)
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
