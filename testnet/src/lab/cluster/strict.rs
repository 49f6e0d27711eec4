//! Sellers of which two are in networks that let nothing out but TCP to port 443, and each of the
//! others is in a network of another kind.

use super::echoes::Echoes;
use super::relayed::{now_ms, said};
use super::stage::{Stage, until};
use super::ways::{self, Way};
use crate::lab::Kind;
use crate::parallel::{ECHO, tools::built};
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::types::{JobState, LeaseNet, LeaseView};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time after which a question counts as answered or lost, and its line was read.
const LATE: Duration = Duration::from_secs(4);

/// How it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Strict {
    /// Milliseconds from the start of the job until all pairs had a way.
    pub(crate) ways_ms: u64,
    /// The kind of network that each rank is in.
    pub(crate) kinds: BTreeMap<u32, String>,
    /// Each pair in each direction.
    pub(crate) ways: Vec<Way>,
    /// Echoes between them after that.
    pub(crate) echoes: Vec<Asked>,
}

/// Echoes of one rank for another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Asked {
    /// The end that asks.
    pub(crate) from: u32,
    /// The end that answers.
    pub(crate) to: u32,
    /// What came of it.
    pub(crate) echoes: Echoes,
}

impl Strict {
    /// All pairs have ways, to and from the strict networks none that needs UDP of both, and hardly
    /// an echo is lost: a machine that is short of time answers some too late.
    pub(crate) fn passed(&self) -> bool {
        let strict = |rank: &u32| {
            self.kinds
                .get(rank)
                .is_none_or(|k| k == Kind::Tcp443.name())
        };
        let led = |way: &Way| match way.path.as_deref() {
            Some("relay" | "stream") => true,
            Some(_) => !strict(&way.from) && !strict(&way.to),
            None => false,
        };
        let whole = |asked: &Asked| {
            let Echoes { sent, lost, .. } = asked.echoes;
            sent > 0 && lost * 50 <= sent
        };
        let pairs = self.kinds.len() * self.kinds.len().saturating_sub(1);
        pairs > 0
            && self.ways.len() == pairs
            && self.ways.iter().all(led)
            && self.echoes.len() == pairs
            && self.echoes.iter().all(whole)
    }
}

pub(super) async fn run(
    stage: &Stage,
    seconds: u64,
    progress: &Progress,
) -> anyhow::Result<Strict> {
    let program = stage.folder().join("echo");
    built("cc", &[], ECHO, &program)?;
    let (program, wall) = (program.display().to_string(), format!("{}s", seconds + 300));
    let count = stage.sellers().len() as u32;
    let ranks = count.to_string();
    let buying = "--class small --max-price 20 --network --detach --time";
    let mut words = vec!["run", "-n", &ranks];
    words.extend(buying.split(' '));
    words.extend([
        wall.as_str(),
        "--input",
        program.as_str(),
        "--",
        "./echo",
        &ranks,
    ]);
    let job = stage.order(&words).await?;
    let begun = until("the job to run", async || {
        Ok(Some(stage.job(&job).await?).filter(|job| job.state == JobState::Running))
    })
    .await?;
    progress.tell(&format!("{count} ranks run"));
    until("a way for each pair", async || {
        let ways = ways::ways(&network(stage, &job).await?);
        let whole = ways.len() as u32 == count * (count - 1);
        Ok((whole && ways.iter().all(|way| way.path.is_some())).then_some(()))
    })
    .await?;
    let ways_ms = now_ms().saturating_sub(begun.running_ms.unwrap_or_default());
    progress.tell(&format!("all pairs have ways after {ways_ms} ms"));
    // What was asked before the first handshake is not of the calm time.
    for rank in 0..count {
        until("first echoes", async || {
            let lines = said(stage, &job, rank).await?;
            let answers = |to: &u32| lines.iter().any(|a| a.to == *to && a.took.is_some());
            Ok((0..count)
                .filter(|to| *to != rank)
                .all(|to| answers(&to))
                .then_some(()))
        })
        .await?;
    }
    let from = now_ms();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let time = (from, now_ms());
    let net = network(stage, &job).await?;
    tokio::time::sleep(LATE).await;
    let mut asked = Vec::new();
    for rank in 0..count {
        let lines = said(stage, &job, rank).await?;
        asked.extend((0..count).filter(|to| *to != rank).map(|to| Asked {
            from: rank,
            to,
            echoes: Echoes::between(lines.iter().filter(|a| a.to == to), time),
        }));
    }
    stage.command(&["job", "cancel", &job]).await?;
    Ok(Strict {
        ways_ms,
        kinds: kinds(stage, &net)?,
        ways: ways::ways(&net),
        echoes: asked,
    })
}

/// The kind of network that each rank is in.
fn kinds(stage: &Stage, net: &LeaseNet) -> anyhow::Result<BTreeMap<u32, String>> {
    let kind = |node| {
        let mut sellers = stage.sellers().iter();
        let of = |name: &str| {
            stage
                .network()
                .node(name)
                .status()
                .map(|status| status.node)
        };
        sellers
            .find(|seller| of(&seller.name) == Some(node))
            .map(|seller| seller.kind)
    };
    let ranks = net
        .members
        .iter()
        .flat_map(|m| m.ranks.iter().map(|rank| (*rank, m.node)));
    ranks
        .map(|(rank, node)| Ok((rank, kind(node).context("a seller")?.name().to_owned())))
        .collect()
}

async fn network(stage: &Stage, job: &str) -> anyhow::Result<LeaseNet> {
    let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
    let ours = |lease: &&LeaseView| lease.job.as_ref().is_some_and(|j| j.to_string() == job);
    let lease = all.iter().find(ours).context("the job has a lease")?.lease;
    Ok(stage.buyer().get(&format!("/leases/{lease}/net")).await?)
}
