//! Honest trades among hostile peers.
//!
//! 1. Four validators, three of which sell more than anybody asks for, two members that buy, and
//!    one that attacks as a member ([`spender`](super::spender)), each a process of its own.
//! 2. The members order in turns of [`Options::trades`] buys each: a turn in *calm*, then one under
//!    *attack*, [`ROUNDS`] times. The trade's time is from the order's acceptance to its job's
//!    first instruction, by the node's own stamps.
//! 3. Under attack are the first validator and the first member. Each has an attacker of each kind
//!    ([`attackers`]): a flooder, a spammer of gossip, one that sends requests above the cap, one
//!    that sends good ones without end, and one that sends well-signed entries of no use. They come
//!    back under a new name as often as they are shut out; the validator has [`SOCKETS`] silent
//!    sockets besides.
//! 4. Then the third member attacks, and the foreign client in each of its ways ([`besieged`]);
//!    where that client is not installed, the run fails for it.
//! 5. *Memory* is what a node has resident, before the first attack and after the last of step 3.

use super::attackers::{ALL, Attacker, Ended, Victim, silent_sockets};
use super::besieged::{self, BAR_MEMORY_MIB, BAR_RATIO};
use super::choice::Choice;
use super::crowd::{mib, pid_of};
use super::orders::{failed, one_after_another, round_ms, to_running_ms};
use super::spread::percentile;
use crate::network::plan::{Plan, credits, offer};
use crate::network::{Network, Node, RunFolder};
use crate::say::Progress;
use anyhow::Context as _;
use futures::future::{join_all, try_join_all};
use gridbay_node::api::types::NodeStatus;
use gridbay_node::overlay::{self, Multiaddr};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Members that buy. One more attacks.
pub(super) const BUYERS: usize = 2;
/// Calm, then attacked, so often.
const ROUNDS: usize = 3;
/// Silent sockets to the validator.
const SOCKETS: usize = 300;
/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(60);
/// Between the end of an attack and the next calm.
const SETTLE: Duration = Duration::from_secs(2);
/// Counters of the overlay that tell what was refused, and why.
const REASONS: &[&str] = &[
    "bans",
    "flood_penalties",
    "direct_limited",
    "requests_limited",
    "gossip_limited",
    "gossip_frames_limited",
    "gossip_oversized",
    "malformed_frames",
    "frames_without_room",
    "slow_frames",
    "inbound_pending",
    "inbound_crowded",
    "inbound_full",
];

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Buys of each member in each turn.
    pub(crate) trades: usize,
    /// Only these attacks of step 4, if any is named: then none of step 3 either.
    pub(crate) only: Vec<String>,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// Times of trades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Times {
    /// Trades.
    pub(crate) n: usize,
    /// Median.
    pub(crate) p50_ms: u64,
    /// 99th percentile.
    pub(crate) p99_ms: u64,
}

impl Times {
    pub(super) fn of(mut values: Vec<u64>) -> Times {
        values.sort_unstable();
        Times {
            n: values.len(),
            p50_ms: percentile(&values, 50),
            p99_ms: percentile(&values, 99),
        }
    }
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Without an attack.
    pub(crate) calm: Times,
    /// Under attack.
    pub(crate) attacked: Times,
    /// 99th percentile under attack over that without.
    pub(crate) ratio_p99: f64,
    /// Orders that did not end well, and why.
    pub(crate) failed: Vec<String>,
    /// Identities of attackers that were connected.
    pub(crate) identities: usize,
    /// Of these, shut out.
    pub(crate) shut_out: usize,
    /// Most that a node grew from before the first attack to after the last.
    pub(crate) memory_growth_mib: f64,
    /// The refusals of all nodes together, by reason.
    pub(crate) refused: BTreeMap<String, u64>,
    /// Attacks of step 4.
    pub(crate) foreign: besieged::Figures,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["FIGURE", ">VALUE", ">BAR"]);
        let mut row = |name: &str, value: String, bar: &str| {
            table.row([name.to_owned(), value, bar.to_owned()]);
        };
        for (state, times) in [("calm", self.calm), ("attacked", self.attacked)] {
            row(&format!("trades, {state}"), times.n.to_string(), "");
            row(&format!("p50 ms, {state}"), times.p50_ms.to_string(), "");
            row(&format!("p99 ms, {state}"), times.p99_ms.to_string(), "");
        }
        row("ratio of p99", format!("{:.2}", self.ratio_p99), "2");
        row("orders that failed", self.failed.len().to_string(), "0");
        let shut_out = format!("{} of {}", self.shut_out, self.identities);
        row("attackers shut out", shut_out, "all");
        let grown = format!("{:.1}", self.memory_growth_mib);
        row("memory grown, most MiB", grown, "64");
        for (reason, n) in self.refused.iter().filter(|(_, n)| **n > 0) {
            row(&format!("counted: {reason}"), n.to_string(), "");
        }
        table.render() + &self.foreign.table()
    }

    /// The figures above their bars, or that must be zero.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        problems.extend(self.failed.iter().cloned());
        problems.extend(self.foreign.problems());
        if self.shut_out < self.identities || (self.identities == 0 && self.attacked.n > 0) {
            let (out, all) = (self.shut_out, self.identities);
            problems.push(format!("{out} of {all} attackers were shut out"));
        }
        for (what, value, bar) in [
            ("ratio of p99", self.ratio_p99, BAR_RATIO),
            ("memory grown, MiB", self.memory_growth_mib, BAR_MEMORY_MIB),
        ] {
            if value > bar {
                problems.push(format!("{what}: {value:.1} where {bar} is the bar"));
            }
        }
        problems
    }
}

/// Measures on a network of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    let choice = Choice::of(&options.only).await?;
    let name = format!("hostile-{}", std::process::id());
    let folder = RunFolder::create(&name)?;
    let program = options.program.clone();
    let mut network = Network::start(program, folder, plan(&name), START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    // The first measurement is slower than the rest.
    let mut failed = turn(&network, options.trades.div_ceil(4)).await?.1;
    let before = memory(&network)?;
    let (mut calm, mut attacked) = (Vec::new(), Vec::new());
    let mut ended = Ended::default();
    let rounds = if choice.is_all { ROUNDS } else { 0 };
    for round in 1..=rounds {
        let (times, lost) = turn(&network, options.trades).await?;
        calm.extend(times);
        let attack = Attack::begin(&network, round as u8).await?;
        let (times, more) = turn(&network, options.trades).await?;
        attacked.extend(times);
        failed.extend(lost.into_iter().chain(more));
        let of = attack.end().await?;
        ended.identities += of.identities;
        ended.shut_out += of.shut_out;
        progress.tell(&format!("{round} of {rounds} attacks are over"));
        tokio::time::sleep(SETTLE).await;
    }
    let after = memory(&network)?;
    let grown = after.iter().zip(&before).map(|(a, b)| a - b);
    let refused = refused(&network).await?;
    if calm.is_empty() {
        calm = turn(&network, options.trades).await?.0;
    }
    let (calm, attacked) = (Times::of(calm), Times::of(attacked));
    let foreign = besieged::run(&mut network, options.trades, calm, choice, progress).await?;
    let figures = Figures {
        calm,
        attacked,
        ratio_p99: attacked.p99_ms as f64 / calm.p99_ms.max(1) as f64,
        failed,
        identities: ended.identities,
        shut_out: ended.shut_out,
        memory_growth_mib: grown.fold(0.0, f64::max),
        refused,
        foreign,
    };
    network.stop()?;
    Ok(figures)
}

fn plan(name: &str) -> Plan {
    let seller = vec![offer("small", 64, credits(1), Some(credits(2)))];
    Plan {
        validators: vec![Vec::new(), seller.clone(), seller.clone(), seller],
        ..Plan::local(name, 0, BUYERS + 1)
    }
}

/// One turn: every member buys `trades` times. The times, and those that did not end well.
pub(super) async fn turn(
    network: &Network,
    trades: usize,
) -> anyhow::Result<(Vec<u64>, Vec<String>)> {
    let round = round_ms(network);
    let buyers = (0..BUYERS).map(|i| {
        let client = network.node(&Plan::buyer_name(i)).client();
        one_after_another(client, i, trades, true, round)
    });
    let records = try_join_all(buyers).await?.concat();
    let times = records.iter().filter_map(to_running_ms).collect();
    Ok((times, failed(&records)))
}

fn memory(network: &Network) -> anyhow::Result<Vec<f64>> {
    let resident = |node| mib(pid_of(node)?, "status", "VmRSS:");
    network.nodes().iter().map(resident).collect()
}

/// Step 3.
struct Attack {
    attackers: Vec<Attacker>,
    sockets: tokio::task::JoinHandle<()>,
}

impl Attack {
    async fn begin(network: &Network, round: u8) -> anyhow::Result<Attack> {
        let mut attackers = Vec::new();
        for (i, name) in ["v1", "b1"].into_iter().enumerate() {
            let victim = victim(network, network.node(name)).await?;
            for (kind, malice) in ALL.into_iter().enumerate() {
                let number = round * 16 + (i * ALL.len() + kind) as u8;
                attackers.push(Attacker::start(malice, victim.clone(), number));
            }
        }
        let silent = victim(network, network.node("v1")).await?;
        let port = overlay::port(&silent.address).context("an address has a port")?;
        let sockets = tokio::spawn(async move {
            let _held = silent_sockets(port, SOCKETS).await;
            std::future::pending().await
        });
        Ok(Attack { attackers, sockets })
    }

    async fn end(self) -> anyhow::Result<Ended> {
        self.sockets.abort();
        let mut sum = Ended::default();
        for ended in join_all(self.attackers.into_iter().map(Attacker::end)).await {
            let ended = ended?;
            sum.identities += ended.identities;
            sum.shut_out += ended.shut_out;
        }
        Ok(sum)
    }
}

/// A node as an attacker sees it.
async fn victim(network: &Network, node: &Node) -> anyhow::Result<Victim> {
    let status: NodeStatus = node.client().get("/node").await?;
    let mut listen = status.listen.iter().filter_map(|a| a.parse().ok());
    let address: Multiaddr = listen.find(overlay::is_quic).context("it listens")?;
    let address = overlay::split_peer(&address).map_or(address, |(_, direct)| direct);
    Ok(Victim {
        network: *network.genesis().network().as_bytes(),
        peer: overlay::peer_id_of_key(status.node.as_bytes()).context("its key is one")?,
        address,
    })
}

/// Sums of [`REASONS`] over all nodes.
async fn refused(network: &Network) -> anyhow::Result<BTreeMap<String, u64>> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for node in network.nodes() {
        let metrics = node.client().metrics().await?;
        for reason in REASONS {
            let name = format!("gridbay_net_events_total{{kind=\"{reason}\"}} ");
            let line = metrics.lines().find_map(|l| l.strip_prefix(&name));
            let n = line.and_then(|value| value.trim().parse().ok());
            *sums.entry((*reason).to_owned()).or_default() += n.unwrap_or(0);
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        Figures {
            calm: Times::of(vec![300, 400]),
            attacked: Times::of(vec![350, 500]),
            ratio_p99: 1.25,
            failed: Vec::new(),
            identities: 3,
            shut_out: 3,
            memory_growth_mib: 2.0,
            refused: [("bans".to_owned(), 3)].into(),
            foreign: besieged::Figures::default(),
        }
    }

    #[test]
    fn figures_count_only_if_all_were_shut_out_and_no_order_failed() {
        assert!(figures().problems().is_empty());
        assert!(figures().table().contains("3 of 3"));
        let left = Figures {
            shut_out: 2,
            failed: vec!["order bench-7 of job 1: failed, lost".to_owned()],
            ratio_p99: 2.1,
            memory_growth_mib: 64.5,
            ..figures()
        };
        assert_eq!(left.problems().len(), 4);
    }

    #[test]
    fn the_plan_can_be_founded() {
        assert!(plan("hostile").check().is_ok());
    }
}
