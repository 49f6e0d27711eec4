//! Peaks of nodes during a measurement: the memory of each, and the waiting entries at the first
//! one, sampled twice a second.

use super::crowd::{mib, pid_of};
use crate::network::Node;
use anyhow::{Context as _, ensure};
use gridbay_node::api::client::Client;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(500);

/// The highest figures seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peaks {
    /// Memory of each node, MiB, in the order in which they were named.
    pub(super) memory_mib: Vec<f64>,
    /// Entries in the first one's mempool.
    pub(super) mempool_entries: u64,
}

/// A look-out that goes on until it is told to stop.
pub(super) struct LookOut {
    stop: oneshot::Sender<()>,
    task: JoinHandle<anyhow::Result<Peaks>>,
}

impl LookOut {
    /// Begins.
    pub(super) fn begin(nodes: &[&Node]) -> anyhow::Result<LookOut> {
        let pids: Vec<i32> = nodes.iter().map(|n| pid_of(n)).collect::<Result<_, _>>()?;
        let first = nodes.first().context("there is a node")?.client().clone();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(look(pids, first, stopped));
        Ok(LookOut { stop, task })
    }
    /// Ends, and says what was seen.
    pub(super) async fn end(self) -> anyhow::Result<Peaks> {
        drop(self.stop);
        self.task.await.context("the look-out failed")?
    }
}

async fn look(
    pids: Vec<i32>,
    first: Client,
    mut stopped: oneshot::Receiver<()>,
) -> anyhow::Result<Peaks> {
    let mut peaks = Peaks {
        memory_mib: vec![0.0; pids.len()],
        mempool_entries: 0,
    };
    let mut answers = 0;
    loop {
        for (peak, pid) in peaks.memory_mib.iter_mut().zip(&pids) {
            *peak = mib(*pid, "status", "VmRSS:")?.max(*peak);
        }
        // A node under attack may be late once.
        if let Ok(entries) = mempool_entries(&first).await {
            peaks.mempool_entries = entries.max(peaks.mempool_entries);
            answers += 1;
        }
        let rest = tokio::time::timeout(EVERY, &mut stopped).await;
        if rest.is_ok() {
            ensure!(answers > 0, "the first node never told its metrics");
            return Ok(peaks);
        }
    }
}

async fn mempool_entries(client: &Client) -> anyhow::Result<u64> {
    let metrics = client.metrics().await?;
    let line = metrics
        .lines()
        .find_map(|l| l.strip_prefix("gridbay_ledger_pool_entries "));
    line.and_then(|value| value.trim().parse().ok())
        .context("the mempool is counted")
}
