//! Three sellers, two of which are in networks that let nothing out but TCP to port 443.

use super::echoes::Echoes;
use super::relayed::{now_ms, said};
use super::stage::{Stage, until};
use super::ways::{self, Way};
use crate::parallel::{ECHO, tools::built};
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::types::{JobState, LeaseNet, LeaseView};
use serde::Serialize;
use std::time::Duration;

/// Ranks, each of which asks the next one.
const RANKS: u32 = 3;
/// Time after which a question counts as answered or lost, and its line was read.
const LATE: Duration = Duration::from_secs(4);

/// How it went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Strict {
    /// Milliseconds from the start of the job until all pairs had a way.
    pub(crate) ways_ms: u64,
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
    /// All pairs have ways, none of them one that needs UDP of both, and hardly an echo is lost: a
    /// machine that is short of time answers some too late.
    pub(crate) fn passed(&self) -> bool {
        let last = |way: &Way| matches!(way.path.as_deref(), Some("relay" | "stream"));
        let whole = |asked: &Asked| {
            let Echoes { sent, lost, .. } = asked.echoes;
            sent > 0 && lost * 50 <= sent
        };
        self.ways.len() as u32 == RANKS * (RANKS - 1)
            && self.ways.iter().all(last)
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
    let ranks = RANKS.to_string();
    let buying = "--class small --max-price 20 --network --detach --time";
    let mut words = vec!["run", "-n", &ranks];
    words.extend(buying.split(' '));
    words.extend([wall.as_str(), "--", program.as_str(), &ranks]);
    let job = stage.order(&words).await?;
    let begun = until("the job to run", async || {
        Ok(Some(stage.job(&job).await?).filter(|job| job.state == JobState::Running))
    })
    .await?;
    progress.tell("three ranks run");
    until("a way for each pair", async || {
        let ways = all_ways(stage, &job).await?;
        let whole = ways.len() as u32 == RANKS * (RANKS - 1);
        Ok((whole && ways.iter().all(|way| way.path.is_some())).then_some(()))
    })
    .await?;
    let ways_ms = now_ms().saturating_sub(begun.running_ms.unwrap_or_default());
    progress.tell(&format!("all pairs have ways after {ways_ms} ms"));
    // What was asked before the first handshake is not of the calm time.
    for rank in 0..RANKS {
        until("a first echo", async || {
            let lines = said(stage, &job, rank).await?;
            Ok(lines.iter().any(|(_, took)| took.is_some()).then_some(()))
        })
        .await?;
    }
    let from = now_ms();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (to, ways) = (now_ms(), all_ways(stage, &job).await?);
    tokio::time::sleep(LATE).await;
    let mut asked = Vec::new();
    for rank in 0..RANKS {
        let lines = said(stage, &job, rank).await?;
        asked.push(Asked {
            from: rank,
            to: (rank + 1) % RANKS,
            echoes: Echoes::between(&lines, from, to),
        });
    }
    stage.command(&["job", "cancel", &job]).await?;
    Ok(Strict {
        ways_ms,
        ways,
        echoes: asked,
    })
}

async fn all_ways(stage: &Stage, job: &str) -> anyhow::Result<Vec<Way>> {
    let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
    let ours = |lease: &&LeaseView| lease.job.as_ref().is_some_and(|j| j.to_string() == job);
    let lease = all.iter().find(ours).context("the job has a lease")?.lease;
    let net: LeaseNet = stage.buyer().get(&format!("/leases/{lease}/net")).await?;
    Ok(ways::ways(&net))
}
