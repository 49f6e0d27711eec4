//! Many leases at once on one node: what an idle one takes, whether they keep to themselves, and
//! what is left of them.
//!
//! 1. Four validators that sell nothing, one seller of all units, and as many buyers as the leases
//!    need (an account has 16 live orders of a class). Each lease is a cluster of one rank that its
//!    buyer holds, so the seller and that buyer are the members of its network.
//! 2. *Memory* is what the seller's node takes more once all leases stand and are idle, by lease:
//!    pages of its own, and its part of those that are shared. *Rank* is what the processes of a
//!    lease's rank take besides. *Buyer* is what the buyers' nodes take more, by lease.
//! 3. Over its network each buyer leaves a word of each lease's own at its rank, and reads all of
//!    them once they are all there.
//! 4. Once all are ended, no process of a rank is left, and the seller knows no lease.

use super::crowd::{mib, pid_of, until, used};
use crate::network::plan::{Plan, credits, offer};
use crate::network::{Network, Node, Part, RunFolder, cli, find_processes};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use gridbay_node::api::types::{ClusterRecord, LeaseView, Offer};
use gridbay_node::cli::Pace;
use gridbay_node::ui::Table;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(120);
/// Leases of a buyer at the most: 16 orders of each of the two classes.
const OF_A_BUYER: u32 = 32;
/// Orders of a lease beyond the first at the most.
const AGAIN: u32 = 2;
/// Commands at a time; also orders, where a clearing is soon.
const AT_A_TIME: usize = 24;
/// Orders at a time where slots are a minute: those of one clearing are decided together.
const ORDERS_OF_A_CLEARING: usize = 100;
/// Until leases that stand are idle, and for how long CPU is counted then.
const SETTLE: Duration = Duration::from_secs(20);
/// MiB of an idle lease at the seller's node.
const BAR_MIB: f64 = 2.0;

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Leases, 1 or more.
    pub(crate) leases: u32,
    /// Of the network.
    pub(crate) pace: Pace,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Of the network.
    pub(crate) pace: Pace,
    /// Leases at once.
    pub(crate) leases: u32,
    /// Orders that were sent again, because they expired.
    pub(crate) again: u32,
    /// From the first order until all of them stood, in seconds.
    pub(crate) seconds: f64,
    /// MiB of the seller's node, by lease.
    pub(crate) memory_mib: f64,
    /// MiB of the processes of a rank.
    pub(crate) rank_mib: f64,
    /// MiB of the buyers' nodes, by lease.
    pub(crate) buyer_mib: f64,
    /// CPU of the seller's node while all are idle, per cent of one core.
    pub(crate) idle_cpu_percent: f64,
    /// MiB that the seller's node took more than before the first, after the last had ended.
    pub(crate) left_mib: f64,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["FIGURE", ">VALUE", ">BAR"]);
        let two = |value: f64| format!("{value:.2}");
        for (name, value, bar) in [
            ("leases at once", self.leases.to_string(), ""),
            ("orders sent again", self.again.to_string(), ""),
            ("until all stood, s", two(self.seconds), ""),
            ("seller's node, MiB a lease", two(self.memory_mib), "2"),
            ("a rank's processes, MiB", two(self.rank_mib), ""),
            ("buyer's node, MiB a lease", two(self.buyer_mib), ""),
            (
                "seller's node idle, % of a core",
                two(self.idle_cpu_percent),
                "",
            ),
            ("seller's node, MiB left after all", two(self.left_mib), ""),
        ] {
            table.row([name.to_owned(), value, bar.to_owned()]);
        }
        table.render()
    }

    /// Which figures miss their bar.
    pub(crate) fn problems(&self) -> Vec<String> {
        let large = self.memory_mib > BAR_MIB;
        let line = || {
            format!(
                "a lease takes {:.2} MiB of its seller's node",
                self.memory_mib
            )
        };
        large.then(line).into_iter().collect()
    }
}

/// A lease, by its number.
struct Held<'a> {
    number: u32,
    buyer: &'a Node,
    id: String,
    /// Orders that it took beyond the first.
    again: u32,
}

/// Measures.
pub(crate) async fn run(options: &Options, progress: &Progress) -> anyhow::Result<Figures> {
    let buyers = options.leases.div_ceil(OF_A_BUYER) as usize;
    let plan = Plan {
        pace: options.pace,
        log: "warn".to_owned(),
        validators: vec![vec![]; 4],
        disk_mib: 512,
        ..Plan::local("leases", 4, buyers + 1)
    };
    let folder = RunFolder::create("bench-leases")?;
    let program = options.program.clone();
    let mut network = Network::start(program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let seller = network.node(&Plan::buyer_name(0));
    for class in ["small", "large"] {
        let all = offer(class, options.leases.div_ceil(2), credits(1), None);
        let _: Offer = seller.client().put("/offers", &all).await?;
    }
    let buyers: Vec<&Node> = (1..=buyers)
        .map(|buyer| network.node(&Plan::buyer_name(buyer)))
        .collect();
    for buyer in &buyers {
        until("a buyer sees both offers", || async {
            let offers: Vec<Offer> = buyer.client().get("/offers").await?;
            Ok(offers.iter().filter(|offer| offer.on_sale).count() == 2)
        })
        .await?;
    }
    let figures = measure(options, &network, (seller, &buyers), progress).await?;
    network.stop()?;
    Ok(figures)
}

/// Steps 2 to 4.
async fn measure(
    options: &Options,
    network: &Network,
    (seller, buyers): (&Node, &[&Node]),
    progress: &Progress,
) -> anyhow::Result<Figures> {
    let n = f64::from(options.leases);
    let (before, buyers_before) = (memory(&[seller])?, memory(buyers)?);
    let begun = Instant::now();
    let orders = match options.pace {
        Pace::Local => AT_A_TIME,
        Pace::WideArea => ORDERS_OF_A_CLEARING,
    };
    let mut stand = 0;
    let held = stream::iter(0..options.leases)
        .map(|number| hold(options, buyers[(number / OF_A_BUYER) as usize], number))
        .buffer_unordered(orders)
        .inspect_ok(|_| {
            stand += 1;
            if stand % 20 == 0 {
                progress.tell(&format!("{stand} leases stand"));
            }
        });
    let held: Vec<Held<'_>> = held.try_collect().await?;
    let seconds = begun.elapsed().as_secs_f64();
    let line = |held: &Held<'_>| format!("echo {} > word", held.number);
    all(&held, options, "exec", |held| shell(&line(held))).await?;
    let said = all(&held, options, "exec", |_| shell("cat word")).await?;
    for (held, said) in held.iter().zip(said) {
        let own = held.number.to_string();
        ensure!(said.trim() == own, "lease {own} has the word {said}");
    }
    progress.tell("each has its own word");
    tokio::time::sleep(SETTLE).await;
    let (idle, window) = (used([seller])?, Instant::now());
    tokio::time::sleep(SETTLE).await;
    let idle = used([seller])?.saturating_sub(idle);
    let idle_cpu_percent = 100.0 * idle.as_secs_f64() / window.elapsed().as_secs_f64();
    let (with, buyers_with) = (memory(&[seller])?, memory(buyers)?);
    let rank_mib = ranks(network)?.iter().sum::<f64>() / n;
    all(&held, options, "end", |_| vec![]).await?;
    until("nothing is left of the leases", || async {
        let leases: Vec<LeaseView> = seller.client().get("/leases").await?;
        Ok(leases.is_empty() && ranks(network)?.is_empty())
    })
    .await?;
    progress.tell("nothing is left of them");
    Ok(Figures {
        pace: options.pace,
        leases: options.leases,
        again: held.iter().map(|held| held.again).sum(),
        seconds,
        memory_mib: (with - before) / n,
        rank_mib,
        buyer_mib: (buyers_with - buyers_before) / n,
        idle_cpu_percent,
        left_mib: memory(&[seller])? - before,
    })
}

/// Buys a cluster of one rank.
async fn hold<'a>(options: &Options, buyer: &'a Node, number: u32) -> anyhow::Result<Held<'a>> {
    let class = ["small", "large"][number as usize % 2];
    let words = [
        "-o",
        "json",
        "cluster",
        "new",
        "--class",
        class,
        "--time",
        "1h",
        "--max-price",
        "2",
    ];
    let mut again = 0;
    let said = loop {
        match cli::run(&options.program, buyer.home.path(), &words).await {
            Err(error) if again < AGAIN && error.to_string().contains("is expired") => again += 1,
            said => break said.with_context(|| format!("lease {number}"))?,
        }
    };
    let cluster: ClusterRecord = serde_json::from_str(&said)?;
    let id = cluster.id.to_string();
    Ok(Held {
        number,
        buyer,
        id,
        again,
    })
}

/// Runs a command on each cluster; what each printed.
async fn all(
    held: &[Held<'_>],
    options: &Options,
    verb: &str,
    rest: impl Fn(&Held<'_>) -> Vec<String>,
) -> anyhow::Result<Vec<String>> {
    let each = |held: &Held<'_>| {
        let home = held.buyer.home.path().to_owned();
        let begin = ["cluster", verb, &held.id].map(str::to_owned);
        let words = [begin.to_vec(), rest(held)].concat();
        async move { cli::run(&options.program, &home, &words).await }
    };
    let each = stream::iter(held.iter().map(each)).buffered(AT_A_TIME);
    each.try_collect().await
}

/// Words of `cluster exec` for a line of shell.
fn shell(line: &str) -> Vec<String> {
    ["--", "sh", "-c", line].map(str::to_owned).to_vec()
}

/// MiB of these nodes together.
fn memory(nodes: &[&Node]) -> anyhow::Result<f64> {
    let each = nodes
        .iter()
        .map(|node| mib(pid_of(node)?, "smaps_rollup", "Pss:"));
    each.sum()
}

/// MiB of each process of a job, its supervisors among them.
fn ranks(network: &Network) -> anyhow::Result<Vec<f64>> {
    let found = find_processes(network.folder().path())?;
    let found = found.iter().filter(|(_, part)| *part != Part::Node);
    // One that has ended meanwhile takes nothing.
    Ok(found
        .filter_map(|(process, _)| mib(process.pid, "smaps_rollup", "Pss:").ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_a_bar() {
        let figures = |memory_mib| Figures {
            pace: Pace::WideArea,
            leases: 200,
            again: 0,
            seconds: 60.0,
            memory_mib,
            rank_mib: 5.0,
            buyer_mib: 1.0,
            idle_cpu_percent: 3.0,
            left_mib: 1.0,
        };
        assert!(figures(2.0).problems().is_empty());
        assert_eq!(figures(2.01).problems().len(), 1);
        assert!(figures(1.25).table().contains("1.25"));
    }
}
