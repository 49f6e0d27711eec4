//! How long a lease's private network takes to stand, for 2 to 32 members (CloudBay, Fig. 5): from
//! the block that decides the lease until every member has reached every other. The buyer's node
//! measures it, as it does for every lease.
//!
//! The network goes as fast as federations do unless told otherwise: at the pace of tests the
//! blocks of so many nodes take most of two cores. It has four validators, which sell nothing, and
//! as many sellers of one unit as the largest lease has; all on this machine, which also runs the
//! jobs. After that, work that moves data between four members ([`moved`](super::moved)).

use super::moved::{self, Moved};
use crate::network::plan::{Plan, credits, offer};
use crate::network::{Network, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, bail, ensure};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{How, JobId, JobRecord, JobRequest, LeaseView, Offer, Want};
use gridbay_node::cli::Pace;
use gridbay_node::ui::Table;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(180);
/// Until a lease is won and its network stands.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// The bar for the largest.
const BAR: (u32, u64) = (32, 3_000);

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Members of the largest lease; smaller ones have half as many, a quarter, down to two.
    pub(crate) most: u32,
    /// Leases of each size.
    pub(crate) rounds: u16,
    /// Of the network.
    pub(crate) pace: Pace,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// Leases of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// Members.
    pub(crate) members: u32,
    /// Milliseconds of each, in the order of their size.
    pub(crate) ms: Vec<u64>,
    /// Their median.
    pub(crate) median_ms: u64,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Of the network.
    pub(crate) pace: Pace,
    /// Smallest leases first.
    pub(crate) setup: Vec<Row>,
    /// Work that moves data.
    pub(crate) moved: Vec<Moved>,
}

impl Row {
    /// Of at least one lease.
    pub(crate) fn new(members: u32, mut ms: Vec<u64>) -> Row {
        ms.sort_unstable();
        let median_ms = ms[ms.len() / 2];
        Row {
            members,
            ms,
            median_ms,
        }
    }
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&[">MEMBERS", ">N", ">MEDIAN S", ">MAX S"]);
        let seconds = |ms: u64| format!("{:.2}", ms as f64 / 1_000.0);
        for row in &self.setup {
            let longest = row.ms.last().copied().unwrap_or_default();
            table.row([
                row.members.to_string(),
                row.ms.len().to_string(),
                seconds(row.median_ms),
                seconds(longest),
            ]);
        }
        format!("{}\n{}", table.render(), moved::table(&self.moved))
    }

    /// Which figures miss their bar.
    pub(crate) fn problems(&self) -> Vec<String> {
        let slow = |row: &&Row| row.members == BAR.0 && row.median_ms > BAR.1;
        let slow = self.setup.iter().filter(slow);
        let line = |row: &Row| format!("{} members took {} ms", row.members, row.median_ms);
        slow.map(line).collect()
    }
}

/// Measures on a network of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    ensure!(
        options.most >= 4,
        "the largest lease has 4 members at least"
    );
    let name = format!("bench-{}", std::process::id());
    let folder = RunFolder::create(&name)?;
    let sellers = options.most as usize;
    let plan = Plan {
        pace: options.pace,
        log: "warn".to_owned(),
        validators: vec![vec![]; 4],
        disk_mib: 512,
        ..Plan::local(&name, 4, sellers + 1)
    };
    let mut network = Network::start(options.program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let buyer = network.node(&Plan::buyer_name(0)).client();
    for seller in 1..=sellers {
        let client = network.node(&Plan::buyer_name(seller)).client();
        let one = offer("small", 1, credits(1), None);
        let _: Offer = client.put("/offers", &one).await?;
    }
    let mut setup = Vec::new();
    for members in sizes(options.most) {
        let mut ms = Vec::new();
        for round in 0..options.rounds {
            ms.push(one(buyer, members, round).await?);
            progress.tell(&format!("{members} members: {} ms", ms[usize::from(round)]));
        }
        setup.push(Row::new(members, ms));
    }
    let moved = moved::measure(buyer, progress).await?;
    Ok(Figures {
        pace: options.pace,
        setup,
        moved,
    })
}

/// 2, 4, 8 and so on.
fn sizes(most: u32) -> Vec<u32> {
    let doubles = std::iter::successors(Some(2_u32), |n| n.checked_mul(2));
    doubles.take_while(|n| *n <= most).collect()
}

/// A request for ranks of one unit each.
pub(super) fn request(nodes: u32, seconds: u32, words: &[&str]) -> JobRequest {
    JobRequest {
        project: None,
        worth: None,
        name: None,
        want: Want {
            class: Some("small".into()),
            nodes,
            max_price: Some(credits(5)),
            seconds,
            budget: None,
            how: How::BID,
        },
        argv: words.iter().map(|word| (*word).to_owned()).collect(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: true,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

/// Wins a lease, waits for its network, gives it up: milliseconds that the network took.
async fn one(buyer: &Client, members: u32, round: u16) -> anyhow::Result<u64> {
    let job = request(members, 600, &["sleep", "600"]);
    let key = format!("setup-{members}-{round}");
    let job: JobRecord = buyer.post("/jobs", &job, Some(&key)).await?;
    stands(buyer, &job.id, members, PATIENCE).await
}

/// Waits for the network of a job's lease, and gives it up: milliseconds that the network took.
pub(crate) async fn stands(
    buyer: &Client,
    job: &JobId,
    members: u32,
    patience: Duration,
) -> anyhow::Result<u64> {
    let began = Instant::now();
    let setup = loop {
        let all: Vec<LeaseView> = buyer.get("/leases").await?;
        let ours = all.iter().find(|l| l.job.as_ref() == Some(job));
        if let Some(setup) = ours.and_then(|lease| lease.setup) {
            break setup;
        }
        if began.elapsed() > patience {
            let state: JobRecord = buyer.get(&format!("/jobs/{job}")).await?;
            bail!("no network of {members} members: {state:?}");
        }
        tokio::time::sleep(LOOK).await;
    };
    ensure!(setup.members == members, "{} members", setup.members);
    let cancel = format!("/jobs/{job}/cancel");
    let _: JobRecord = buyer.post(&cancel, &(), None).await?;
    loop {
        let all: Vec<LeaseView> = buyer.get("/leases").await.context("no leases")?;
        if all.is_empty() {
            return Ok(setup.ms);
        }
        ensure!(began.elapsed() < patience * 2, "the lease does not end");
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double_and_the_largest_has_the_bar() {
        assert_eq!(sizes(32), [2, 4, 8, 16, 32]);
        assert_eq!(sizes(5), [2, 4]);
        let row = |members, median_ms| Row {
            members,
            ms: vec![median_ms],
            median_ms,
        };
        let figures = |ms| Figures {
            pace: Pace::WideArea,
            setup: vec![row(2, 9_000), row(32, ms)],
            moved: vec![],
        };
        assert!(figures(3_000).problems().is_empty());
        assert_eq!(figures(3_001).problems().len(), 1);
    }
}
