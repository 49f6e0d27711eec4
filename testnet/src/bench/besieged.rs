//! Measures a network of real nodes under each attack of a member ([`spender`](super::spender)) and
//! of the foreign client, one after the other.
//!
//! 1. One attacker against the first validator, while the members buy as in calm; then a newcomer
//!    is invited, starts, and looks for a seller.
//! 2. Of each of the network's nodes but the attacker's own are told: memory, the growth of its
//!    log, how long memory that an attack took is kept.
//! 3. The pace of blocks is that of the whole attack. The ledger's growth is measured over all
//!    attacks and, where none was left out by name, over an epoch at the least.

use super::choice::Choice;
use super::crowd::{mib, pid_of};
use super::growth::{Growth, Kept, bytes_of, epoch};
use super::hostile::{BUYERS, Times, turn};
use super::peaks::LookOut;
use super::spender::{self, Spender};
use crate::foreign::{Report, Siege, Target};
use crate::network::plan::Plan;
use crate::network::{Network, Node};
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::types::{FindReport, FindRequest, NodeStatus};
use gridbay_node::overlay::{self, Multiaddr};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Until a newcomer is ready, and until it has found a seller.
const NEWCOMER: Duration = Duration::from_secs(60);
/// How long an attack goes on at least.
const LEAST: Duration = Duration::from_secs(20);
/// Until memory that an attack took must be given back, and how often it is looked at.
const GIVE_BACK: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Bytes that a node may keep: caches that filled, heaps that grew. MiB.
const KEPT_MIB: f64 = 16.0;

/// Bars.
pub(super) const BAR_RATIO: f64 = 2.0;
pub(super) const BAR_MEMORY_MIB: f64 = 64.0;
const BAR_LOG_KB: f64 = 100.0;
/// Share of the policy's interval by which blocks may be off.
const BAR_PACE: f64 = 0.1;

/// The figures of one attack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Besieged {
    /// The attack's name.
    pub(crate) attack: String,
    /// Trades.
    pub(crate) trades: Times,
    /// 99th percentile over that of calm.
    pub(crate) ratio_p99: f64,
    /// Orders that did not end well, and why.
    pub(crate) failed: Vec<String>,
    /// Most that a node grew.
    pub(crate) memory_growth_mib: f64,
    /// Until no node held more than [`KEPT_MIB`] above what it had before; `None` if not within
    /// five minutes.
    pub(crate) given_back_s: Option<f64>,
    /// Growth of the log that grew most.
    pub(crate) log_kb_per_minute: f64,
    /// From the invitation until a newcomer had found a seller; `None` if it did not.
    pub(crate) newcomer_s: Option<f64>,
    /// Mean interval of blocks over the policy's.
    pub(crate) pace: f64,
    /// Identities, or connections, of the attacker.
    pub(crate) identities: u64,
    /// Of these, shut out.
    pub(crate) shut_out: u64,
    /// Attempts of the attacker.
    pub(crate) deeds: u64,
}

/// All attacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Why attacks from outside that were wanted are not among them.
    pub(crate) missing: Option<String>,
    /// One for each attack.
    pub(crate) attacks: Vec<Besieged>,
    /// Over all of them.
    pub(crate) growth: Growth,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&[
            "ATTACK",
            ">DEEDS",
            ">SHUT OUT",
            ">P50 MS",
            ">P99 MS",
            ">RATIO",
            ">MIB",
            ">BACK S",
            ">LOG KB/MIN",
            ">NEWCOMER S",
            ">PACE",
        ]);
        let seconds = |s: Option<f64>| s.map_or("never".to_owned(), |s| format!("{s:.1}"));
        for a in &self.attacks {
            table.row([
                a.attack.clone(),
                a.deeds.to_string(),
                format!("{} of {}", a.shut_out, a.identities),
                a.trades.p50_ms.to_string(),
                a.trades.p99_ms.to_string(),
                format!("{:.2}", a.ratio_p99),
                format!("{:.1}", a.memory_growth_mib),
                seconds(a.given_back_s),
                format!("{:.0}", a.log_kb_per_minute),
                seconds(a.newcomer_s),
                format!("{:.2}", a.pace),
            ]);
        }
        format!("{}{}\n", table.render(), self.growth)
    }

    /// The figures above their bars, and those that were not measured.
    pub(crate) fn problems(&self) -> Vec<String> {
        let told = |a: &Besieged| {
            let above = [
                ("ratio of p99", a.ratio_p99, BAR_RATIO),
                ("memory grown, MiB", a.memory_growth_mib, BAR_MEMORY_MIB),
                ("log, kB a minute", a.log_kb_per_minute, BAR_LOG_KB),
                ("off the blocks' interval", (a.pace - 1.0).abs(), BAR_PACE),
            ];
            let above = above.into_iter().filter(|(_, value, bar)| value > bar);
            let mut told: Vec<String> = above
                .map(|(what, value, bar)| format!("{what}: {value:.2}, not above {bar:.2}"))
                .collect();
            if a.given_back_s.is_none() {
                told.push("memory was not given back".to_owned());
            }
            if a.newcomer_s.is_none() {
                told.push("a newcomer found no seller".to_owned());
            }
            if a.identities == 0 {
                told.push("the attacker was never let in, so nothing was measured".to_owned());
            }
            told.extend(a.failed.iter().cloned());
            told.into_iter()
                .map(|t| format!("{}: {t}", a.attack))
                .collect::<Vec<_>>()
        };
        let missing = self.missing.iter();
        let missing = missing.map(|why| format!("not judged: attacks from outside ({why})"));
        let growth = self.growth.problems();
        let told = self.attacks.iter().flat_map(told);
        missing.chain(told).chain(growth).collect()
    }
}

/// An attack that goes on.
enum Ongoing {
    Foreign(Siege),
    Member(Spender),
}

impl Ongoing {
    async fn end(self) -> anyhow::Result<Report> {
        match self {
            Ongoing::Foreign(siege) => siege.end().await,
            Ongoing::Member(spender) => Ok(spender.end().await),
        }
    }
}

/// Runs the chosen attacks in turn; `calm` is what trades took without any.
pub(super) async fn run(
    network: &mut Network,
    trades: usize,
    calm: Times,
    choice: Choice,
    progress: &Progress,
) -> anyhow::Result<Figures> {
    let (began, before) = (Instant::now(), Kept::of(network)?);
    let mut mempool_entries = 0;
    let mut figures = Figures {
        missing: choice.missing,
        ..Figures::default()
    };
    for (number, attack) in choice.names.iter().enumerate() {
        let target = target(network, network.node("v1")).await?;
        let ongoing = match &choice.foreign {
            Some(foreign) if attack != spender::NAME => {
                Ongoing::Foreign(foreign.attack(attack, &target)?)
            }
            _ => Ongoing::Member(Spender::begin(network, &Plan::buyer_name(BUYERS)).await?),
        };
        let (one, waiting) = besieged(network, ongoing, attack, number, trades, calm).await?;
        progress.tell(&format!("{attack} is over"));
        figures.attacks.push(one);
        mempool_entries = waiting.max(mempool_entries);
    }
    if choice.is_all {
        progress.tell("waiting for the end of an epoch");
        tokio::time::sleep(epoch(network).saturating_sub(began.elapsed())).await;
    }
    figures.growth = Kept::of(network)?.since(&before, epoch(network), mempool_entries);
    Ok(figures)
}

/// Steps 1 to 3 for one attack; also the most entries that the first validator's mempool held.
async fn besieged(
    network: &mut Network,
    attack: Ongoing,
    name: &str,
    number: usize,
    trades: usize,
    calm: Times,
) -> anyhow::Result<(Besieged, u64)> {
    let mut own: Vec<String> = network.plan().names();
    if matches!(attack, Ongoing::Member(_)) {
        // The attacker's own node keeps what its owner did.
        own.retain(|name| *name != Plan::buyer_name(BUYERS));
    }
    let (began, logs, memory) = (
        Instant::now(),
        log_bytes(network, &own),
        resident(network, &own)?,
    );
    let first = height(network).await?;
    let nodes: Vec<&Node> = own.iter().map(|name| network.node(name)).collect();
    let look_out = LookOut::begin(&nodes)?;
    let (times, failed) = turn(network, trades).await?;
    let newcomer_s = newcomer(network, &format!("n{}", number + 1)).await?;
    tokio::time::sleep(LEAST.saturating_sub(began.elapsed())).await;
    let last = height(network).await?;
    let attacked = began.elapsed();
    let peaks = look_out.end().await?;
    let grown = most(&peaks.memory_mib, &memory);
    let Report {
        identities,
        shut_out,
        done,
        ..
    } = attack.end().await?;
    let told = most(&log_bytes(network, &own), &logs) / 1e3;
    let policy = network.genesis().policy.block_interval_ms as f64 / 1e3;
    let blocks = last.saturating_sub(first).max(1) as f64;
    let trades = Times::of(times);
    let besieged = Besieged {
        attack: name.to_owned(),
        trades,
        ratio_p99: trades.p99_ms as f64 / calm.p99_ms.max(1) as f64,
        failed,
        memory_growth_mib: grown,
        given_back_s: given_back(network, &own, &memory).await?,
        log_kb_per_minute: told / (attacked.as_secs_f64() / 60.0),
        newcomer_s,
        pace: attacked.as_secs_f64() / blocks / policy,
        identities,
        shut_out,
        deeds: done,
    };
    Ok((besieged, peaks.mempool_entries))
}

/// Most that one of `after` is above its place in `before`.
fn most(after: &[f64], before: &[f64]) -> f64 {
    let grown = after.iter().zip(before).map(|(a, b)| a - b);
    grown.fold(0.0, f64::max)
}

fn resident(network: &Network, names: &[String]) -> anyhow::Result<Vec<f64>> {
    let resident = |name: &String| mib(pid_of(network.node(name))?, "status", "VmRSS:");
    names.iter().map(resident).collect()
}

fn log_bytes(network: &Network, names: &[String]) -> Vec<f64> {
    let bytes = |name: &String| bytes_of(&network.folder().log(name)) as f64;
    names.iter().map(bytes).collect()
}

async fn height(network: &Network) -> anyhow::Result<u64> {
    let status: NodeStatus = network.node("v2").client().get("/node").await?;
    Ok(status.height)
}

/// Seconds until a node that is invited now has found a seller. The node ends then.
async fn newcomer(network: &mut Network, name: &str) -> anyhow::Result<Option<f64>> {
    let began = Instant::now();
    let joined = network.join("v2", name, NEWCOMER).await;
    let any = FindRequest {
        query: "cpu >= 1".to_owned(),
        limit: Some(1),
        explain: false,
    };
    let mut found = None;
    while joined.is_ok() && found.is_none() && began.elapsed() < 2 * NEWCOMER {
        let client = network.node(name).client();
        let report: Result<FindReport, _> = client.post("/find", &any, None).await;
        if report.is_ok_and(|report| !report.nodes.is_empty()) {
            found = Some(began.elapsed().as_secs_f64());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    if network.nodes().iter().any(|node| node.name == name) {
        network.kill(name)?;
    }
    Ok(found)
}

/// Seconds until what an attack took is given back.
async fn given_back(
    network: &Network,
    names: &[String],
    before: &[f64],
) -> anyhow::Result<Option<f64>> {
    let began = Instant::now();
    loop {
        if most(&resident(network, names)?, before) <= KEPT_MIB {
            return Ok(Some(began.elapsed().as_secs_f64()));
        }
        if began.elapsed() > GIVE_BACK {
            return Ok(None);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A node as the foreign client sees it.
pub(super) async fn target(network: &Network, node: &Node) -> anyhow::Result<Target> {
    let status: NodeStatus = node.client().get("/node").await?;
    let mut listen = status.listen.iter().filter_map(|a| a.parse().ok());
    let address: Multiaddr = listen
        .find(|a| !overlay::is_quic(a))
        .context("it listens")?;
    let address = overlay::split_peer(&address).map_or(address, |(_, direct)| direct);
    let peer = overlay::peer_id_of_key(status.node.as_bytes()).context("its key is one")?;
    Ok(Target {
        network: network.genesis().network().to_hex(),
        address: format!("{address}/p2p/{peer}"),
        api: node.home.socket(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Besieged {
        Besieged {
            attack: "junk".to_owned(),
            trades: Times::default(),
            ratio_p99: 1.5,
            failed: Vec::new(),
            memory_growth_mib: 3.0,
            given_back_s: Some(0.0),
            log_kb_per_minute: 20.0,
            newcomer_s: Some(2.0),
            pace: 1.02,
            identities: 2,
            shut_out: 2,
            deeds: 9,
        }
    }

    #[test]
    fn every_bar_is_looked_at() {
        let figures = |attack| Figures {
            attacks: vec![attack],
            ..Figures::default()
        };
        assert_eq!(figures(one()).problems(), Vec::<String>::new());
        assert!(figures(one()).table().contains("2 of 2"));
        let bad = Besieged {
            ratio_p99: 2.1,
            failed: vec!["order lost".to_owned()],
            memory_growth_mib: 64.1,
            given_back_s: None,
            log_kb_per_minute: 101.0,
            newcomer_s: None,
            pace: 0.89,
            identities: 0,
            ..one()
        };
        assert_eq!(figures(bad).problems().len(), 8);
    }

    #[test]
    fn attacks_that_could_not_be_run_are_not_judged_well() {
        let figures = Figures {
            missing: Some("Node.js is not installed".to_owned()),
            attacks: vec![one()],
            ..Figures::default()
        };
        let told = "not judged: attacks from outside (Node.js is not installed)";
        assert_eq!(figures.problems(), [told]);
    }
}
