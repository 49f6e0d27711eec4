//! How fast one account moves money: equal transfers to one other account, many at a time, each
//! answered when its block is decided and on disk.
//!
//! Four validators; a member sends to another one through its own node. All transfers fall into few
//! heights, so they must fit what an account may put into the ledger in one epoch.

use super::spread::Spread;
use crate::network::plan::Plan;
use crate::network::{Network, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{Balance, TransferRequest, Transferred};
use gridbay_node::ui::Table;
use gridbay_protocol::units::Credits;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(60);

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Transfers.
    pub(crate) transfers: usize,
    /// Of these, how many are asked for at a time.
    pub(crate) at_a_time: usize,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// From a request to its answer.
    pub(crate) transfer: Spread,
    /// All of them.
    pub(crate) all_ms: u64,
    /// In a second.
    pub(crate) per_second: u64,
    /// Heights from the first one's block to the last one's.
    pub(crate) heights: u64,
    /// Micro-credits that arrived, against those that were sent.
    pub(crate) arrived: i64,
    /// See there.
    pub(crate) sent: i64,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&[
            "REQUEST TO BLOCK",
            ">N",
            ">P50 MS",
            ">P95 MS",
            ">MAX MS",
            ">A SECOND",
            ">HEIGHTS",
        ]);
        let Spread {
            n,
            p50_ms,
            p95_ms,
            max_ms,
        } = self.transfer;
        let figures = [
            n as u64,
            p50_ms,
            p95_ms,
            max_ms,
            self.per_second,
            self.heights,
        ];
        let figures = figures.map(|figure| figure.to_string());
        table.row(["transfer".to_owned()].into_iter().chain(figures));
        table.render()
    }
    /// Why the figures do not count; empty if they do.
    pub(crate) fn problems(&self) -> Vec<String> {
        if self.arrived == self.sent {
            return Vec::new();
        }
        vec![format!(
            "{} of {} micro-credits arrived",
            self.arrived, self.sent
        )]
    }
}

/// Measures on a network of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    let name = format!("bench-{}", std::process::id());
    let folder = RunFolder::create(&name)?;
    let plan = Plan {
        log: "warn".to_owned(),
        ..Plan::local(&name, 4, 2)
    };
    let mut network = Network::start(options.program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let from = network.node(&Plan::buyer_name(0)).client();
    let to = network.node(&Plan::buyer_name(1)).client();
    let before = balance(to).await?;
    let room = balance(from).await?.entries;
    let room = room.budget.saturating_sub(room.spent) as usize;
    ensure!(
        options.transfers <= room,
        "an account may put {room} more entries into the ledger in this epoch"
    );
    progress.tell(&format!(
        "{} transfers, {} at a time",
        options.transfers, options.at_a_time
    ));
    let request = TransferRequest {
        to: before.account,
        amount: Credits::from_micros(1_000).context("an amount")?,
        memo: None,
    };
    let began = Instant::now();
    let lanes = (0..options.at_a_time).map(|lane| {
        let share = options.transfers / options.at_a_time
            + usize::from(lane < options.transfers % options.at_a_time);
        lane_of(from, &request, lane, share)
    });
    let done = try_join_all(lanes).await?.concat();
    let all = began.elapsed();
    let heights = done.iter().map(|(_, height)| *height);
    let span = heights.clone().max().unwrap_or(0) - heights.min().unwrap_or(0);
    let after = balance(to).await?;
    let all_ms = all.as_millis() as u64;
    Ok(Figures {
        per_second: done.len() as u64 * 1_000 / all_ms.max(1),
        all_ms,
        heights: span,
        arrived: after.balance.0 - before.balance.0,
        sent: done.len() as i64 * request.amount.micros() as i64,
        transfer: Spread::of(done.iter().map(|(ms, _)| *ms).collect()),
    })
}

async fn balance(client: &Client) -> anyhow::Result<Balance> {
    Ok(client.get("/ledger/balance").await?)
}

/// Transfers one after another; for each its milliseconds and the height of its block.
async fn lane_of(
    client: &Client,
    request: &TransferRequest,
    lane: usize,
    n: usize,
) -> anyhow::Result<Vec<(u64, u64)>> {
    let mut done = Vec::with_capacity(n);
    for i in 0..n {
        let key = format!("bench-{lane}-{i}");
        let began = Instant::now();
        let answer = client.post("/ledger/transfer", request, Some(&key)).await;
        let answer: Transferred =
            answer.with_context(|| format!("transfer {i} of lane {lane} failed"))?;
        done.push((began.elapsed().as_millis() as u64, answer.height));
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_that_did_not_arrive_is_a_problem() {
        let mut figures = Figures {
            transfer: Spread::of(vec![250]),
            all_ms: 250,
            per_second: 4,
            heights: 1,
            arrived: 1_000,
            sent: 1_000,
        };
        assert!(figures.problems().is_empty());
        assert!(figures.table().contains("A SECOND"));
        figures.arrived = 0;
        assert_eq!(figures.problems().len(), 1);
    }
}
