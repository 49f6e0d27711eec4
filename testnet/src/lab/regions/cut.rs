//! One region is cut off, while payments go on in the others.

use super::FEW;
use crate::bench::ledger::load::{self, Pay};
use crate::lab::{Impairment, Lab};
use crate::network::{Network, Node, Plan};
use anyhow::ensure;
use gridbay_node::api::types::BlockInfo;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The region: its validator sells nothing, so no job is lost.
const REGION: &str = "sao-paulo";
/// Its validator, counted from zero.
const ALONE: usize = 3;
/// Until it has caught up at the latest.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// How a cut went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Cut {
    /// Longest time between two blocks of the others, in milliseconds.
    pub(crate) pause_ms: u64,
    /// Their blocks meanwhile.
    pub(crate) blocks: u64,
    /// Blocks that the one that was cut off had meanwhile: it is alone.
    pub(crate) alone: u64,
    /// Milliseconds until it has what the others had when it came back.
    pub(crate) back_ms: u64,
    /// Payments of the others that were not acknowledged.
    pub(crate) failed: u64,
    /// Why the first of them was not.
    pub(crate) failure: Option<String>,
}

/// Cuts the region off for a time.
pub(super) async fn measure(
    lab: &Lab,
    network: &Network,
    pay: &Pay,
    time: Duration,
) -> anyhow::Result<Cut> {
    let node = |n: usize| network.node(&Plan::validator_name(n));
    let others: Vec<&Node> = (0..ALONE).map(node).collect();
    let alone = node(ALONE);
    let (from, alone_from) = (head(others[0]).await?, head(alone).await?);
    let cables: Vec<(String, Impairment)> = {
        let hosts = lab.topology().hosts();
        let hosts = hosts.filter(|(_, network, _)| network.name == REGION);
        hosts
            .map(|(host, network, _)| (host.to_owned(), network.link))
            .collect()
    };
    let cut = |cut: bool| -> Vec<(String, Impairment)> {
        let cables = cables.iter().cloned();
        cables
            .map(|(host, link)| (host, Impairment { cut, ..link }))
            .collect()
    };
    lab.impair(&cut(true))?;
    let paid = load::open(&others, pay, FEW, time).await;
    let (alone_to, to) = (head(alone).await?, head(others[0]).await?);
    lab.impair(&cut(false))?;
    let back = Instant::now();
    while head(alone).await?.height < to.height {
        ensure!(back.elapsed() < PATIENCE, "{REGION} does not catch up");
        tokio::time::sleep(LOOK).await;
    }
    let (back_ms, paid) = (back.elapsed().as_millis() as u64, paid?);
    let mut times = Vec::new();
    for height in from.height..=to.height {
        let block: BlockInfo = others[0]
            .client()
            .get(&format!("/ledger/blocks/{height}"))
            .await?;
        times.push(block.time_ms);
    }
    let apart = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    Ok(Cut {
        pause_ms: apart.max().unwrap_or(0),
        blocks: to.height - from.height,
        alone: alone_to.height.saturating_sub(alone_from.height),
        back_ms,
        failed: paid.refused + paid.unknown,
        failure: paid.failure,
    })
}

async fn head(node: &Node) -> anyhow::Result<BlockInfo> {
    Ok(node.client().get("/ledger/head").await?)
}
