//! Orders beside the payments of a step: half of them sealed bids, half buys.
//!
//! 1. The nodes of the validators sell units. Each of some clients orders one of them, at each
//!    node in turn, for a job that ends at once, and orders again when that job has ended.
//! 2. The time of an order runs from when the API took it to the first instruction of its job, by
//!    the node's own stamps, as in `bench orders`.
//! 3. Each order pays its seller for a slot; what sellers earned says that slots were paid.

use super::super::orders::{one, phase_ms, to_running_ms};
use super::super::spread::Spread;
use crate::network::Node;
use crate::network::plan::{credits, offer};
use anyhow::Context as _;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{JobState, OfferRequest};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Units that each validator's node sells: no order waits for another one's.
const UNITS: u32 = 64;
/// Until one order's job has run.
const ORDER_TIME: Duration = Duration::from_secs(60);
/// Until a client whose order was refused comes again.
const PAUSE: Duration = Duration::from_millis(500);
/// The metric of what a node earned.
const EARNED: &str = "gridbay_payments_earned_credits_total ";

/// What came of the orders of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Mix {
    /// Clients that ordered.
    pub(crate) clients: usize,
    /// Sealed bids whose jobs ran.
    pub(crate) bids: Spread,
    /// Buys whose jobs ran.
    pub(crate) buys: Spread,
    /// Bids in a second, of the time until the last order's end.
    pub(crate) bids_per_s: f64,
    /// Buys in a second.
    pub(crate) buys_per_s: f64,
    /// Credits that sellers earned in a second.
    pub(crate) earned_per_s: f64,
    /// Orders that were refused or did not end well.
    pub(crate) failed: u64,
    /// The first failure, if there was one.
    pub(crate) failure: Option<String>,
}

/// The orders of one client.
#[derive(Debug, Default)]
struct Orders {
    bids: Vec<u64>,
    buys: Vec<u64>,
    failed: u64,
    failure: Option<String>,
}

/// What each validator's node sells.
pub(super) fn sold() -> Vec<OfferRequest> {
    vec![offer("small", UNITS, credits(1), Some(credits(2)))]
}

/// What goes on beside each step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// Clients that order; none without.
    pub(super) clients: usize,
    /// Length of a round.
    pub(super) round_ms: u64,
    /// Of a step.
    pub(super) time: Duration,
}

impl Beside {
    /// Does a step with the orders.
    pub(super) async fn orders<S>(
        &self,
        nodes: &[&Node],
        step: impl Future<Output = anyhow::Result<S>>,
    ) -> anyhow::Result<(S, Option<Mix>)> {
        if self.clients == 0 {
            return Ok((step.await?, None));
        }
        let mix = orders(nodes, self.clients, self.round_ms, self.time);
        let (step, mix) = tokio::join!(step, mix);
        Ok((step?, Some(mix?)))
    }
}

/// For people, of loads with what went on beside them; `None` of none.
pub(super) fn table(steps: &[(&str, &Mix)]) -> Option<String> {
    let mut table = Table::new(&[
        "BESIDE",
        ">CLIENTS",
        ">BIDS/S",
        ">P50 MS",
        ">P95 MS",
        ">BUYS/S",
        ">P50 MS",
        ">P95 MS",
        ">EARNED/S",
        ">FAILED",
    ]);
    for (load, mix) in steps {
        table.row([
            (*load).to_owned(),
            mix.clients.to_string(),
            format!("{:.1}", mix.bids_per_s),
            mix.bids.p50_ms.to_string(),
            mix.bids.p95_ms.to_string(),
            format!("{:.1}", mix.buys_per_s),
            mix.buys.p50_ms.to_string(),
            mix.buys.p95_ms.to_string(),
            format!("{:.3}", mix.earned_per_s),
            mix.failed.to_string(),
        ]);
    }
    (!steps.is_empty()).then(|| table.render())
}

/// Orders at nodes for a time; all have ended when it returns.
async fn orders(
    nodes: &[&Node],
    clients: usize,
    round_ms: u64,
    time: Duration,
) -> anyhow::Result<Mix> {
    let (began, before) = (Instant::now(), earned(nodes).await?);
    let mut ordered = JoinSet::new();
    for n in 0..clients {
        let node = nodes.get(n % nodes.len().max(1)).context("no node")?;
        let client = node.client().clone();
        ordered.spawn(async move {
            // Spread over the round, that not all meet the same place of it.
            tokio::time::sleep(Duration::from_millis(phase_ms(n, round_ms))).await;
            let mut orders = Orders::default();
            for turn in n.. {
                if began.elapsed() >= time {
                    break;
                }
                orders.order(&client, turn % 2 == 0).await;
            }
            orders
        });
    }
    let ordered = ordered.join_all().await;
    let seconds = began.elapsed().as_secs_f64();
    let earned = earned(nodes).await? - before;
    Ok(sum(ordered, clients, seconds, earned))
}

impl Orders {
    /// One order, until its job has ended.
    async fn order(&mut self, client: &Client, bid: bool) {
        let failure = match one(client, "bench".to_owned(), !bid, ORDER_TIME).await {
            Ok(record) if record.state == JobState::Done => {
                let times = if bid { &mut self.bids } else { &mut self.buys };
                times.extend(to_running_ms(&record));
                return;
            }
            Ok(record) => format!("an order is {}", record.state.name()),
            Err(error) => format!("{error:#}"),
        };
        self.failed += 1;
        self.failure.get_or_insert(failure);
        tokio::time::sleep(PAUSE).await;
    }
}

fn sum(ordered: Vec<Orders>, clients: usize, seconds: f64, earned: f64) -> Mix {
    let of = |times: fn(&Orders) -> &Vec<u64>| ordered.iter().flat_map(times).copied().collect();
    let (bids, buys) = (
        Spread::of(of(|one| &one.bids)),
        Spread::of(of(|one| &one.buys)),
    );
    let rate = |amount: f64| amount / seconds.max(0.001);
    Mix {
        clients,
        bids,
        buys,
        bids_per_s: rate(bids.n as f64),
        buys_per_s: rate(buys.n as f64),
        earned_per_s: rate(earned),
        failed: ordered.iter().map(|one| one.failed).sum(),
        failure: ordered.into_iter().find_map(|one| one.failure),
    }
}

/// Credits that nodes earned until now.
async fn earned(nodes: &[&Node]) -> anyhow::Result<f64> {
    let mut sum = 0.0;
    for node in nodes {
        let metrics = node.client().metrics().await?;
        let found = metrics.lines().find_map(|line| line.strip_prefix(EARNED));
        sum += found.context("no earnings are told")?.parse::<f64>()?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_all_clients_are_told_by_kind() {
        let one = |bids: &[u64], buys: &[u64], failure: Option<&str>| Orders {
            bids: bids.to_vec(),
            buys: buys.to_vec(),
            failed: u64::from(failure.is_some()),
            failure: failure.map(str::to_owned),
        };
        let ordered = vec![
            one(&[1_600], &[300, 200], None),
            one(&[1_400], &[], Some("full")),
        ];
        let mix = sum(ordered, 2, 2.0, 5.0);
        assert_eq!(
            (mix.bids.n, mix.bids.p50_ms, mix.bids.max_ms),
            (2, 1_400, 1_600)
        );
        assert_eq!((mix.buys.n, mix.buys.p95_ms), (2, 300));
        assert_eq!(
            (mix.bids_per_s, mix.buys_per_s, mix.earned_per_s),
            (1.0, 1.0, 2.5)
        );
        assert_eq!((mix.failed, mix.failure.as_deref()), (1, Some("full")));
        assert_eq!(table(&[]), None);
        let table = table(&[("4 clients", &mix)]).unwrap();
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        let figures = [
            "2", "1.0", "1400", "1600", "1.0", "200", "300", "2.500", "1",
        ];
        assert_eq!(row[2..], figures);
    }
}
