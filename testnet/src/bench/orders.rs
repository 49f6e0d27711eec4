//! From an order's acceptance to its job's first instruction.
//!
//! 1. Four validators, three of which sell more than all orders together ask for: no order waits
//!    for another, and the one that sells nothing can be killed without taking a job along.
//! 2. Eight buyers send their sealed orders one after another, at moments spread over the round: an
//!    order sent when the last one runs would always meet the round at the same place.
//! 3. The same for buys.
//! 4. Both ends are the node's own stamps on one machine's clock: `accepted_ms` when the API took
//!    the order, `running_ms` when the job's first instruction ran.

use super::spread::Spread;
use crate::market::{self, Ask};
use crate::network::plan::{Plan, credits, offer};
use crate::network::{Network, RunFolder};
use crate::say::Progress;
use anyhow::bail;
use futures::future::try_join_all;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{How, JobReason, JobRecord, JobState};
use gridbay_node::ui::Table;
use gridbay_protocol::calendar::Calendar;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Buyers that send at the same time.
const BUYERS: usize = 8;
/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(60);
/// Until one order's job has run.
const ORDER_TIME: Duration = Duration::from_secs(30);
/// How often an order is looked at; its stamps do not depend on it.
const LOOK_EVERY: Duration = Duration::from_millis(60);

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Sealed orders.
    pub(crate) sealed: usize,
    /// Buys.
    pub(crate) buys: usize,
    /// Kill a validator first.
    pub(crate) dead_validator: bool,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    /// Sealed orders.
    pub(crate) sealed: Spread,
    /// Buys.
    pub(crate) buy: Spread,
    /// Whether a validator was dead.
    pub(crate) dead_validator: bool,
    /// Sealed orders that did not win the clearing of the round in which they were opened.
    pub(crate) sealed_not_first: usize,
    /// Orders that did not end well, and why.
    pub(crate) failed: Vec<String>,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["ORDER TO RUNNING", ">N", ">P50 MS", ">P95 MS", ">MAX MS"]);
        for (name, s) in [("sealed", self.sealed), ("buy", self.buy)] {
            let figures = [s.n as u64, s.p50_ms, s.p95_ms, s.max_ms];
            table.row(
                [name.to_owned()]
                    .into_iter()
                    .chain(figures.map(|f| f.to_string())),
            );
        }
        table.render()
    }
    /// Why the figures do not count; empty if they do.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.sealed_not_first > 0 {
            let n = self.sealed_not_first;
            problems.push(format!(
                "{n} sealed orders did not win their first clearing"
            ));
        }
        problems.extend(self.failed.iter().cloned());
        problems
    }
}

/// Measures on a network of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    let name = format!("bench-{}", std::process::id());
    let folder = RunFolder::create(&name)?;
    let plan = plan(&name);
    let program = options.program.clone();
    let mut network = Network::start(program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    if options.dead_validator {
        network.kill("v4")?;
        progress.tell("v4 is dead");
    }
    let figures = measure(&network, options.sealed, options.buys, progress).await?;
    Ok(Figures {
        dead_validator: options.dead_validator,
        ..figures
    })
}

/// Measures on a network of the [`plan`], wherever its nodes are.
pub(crate) async fn measure(
    network: &Network,
    sealed: usize,
    buys: usize,
    progress: &Progress,
) -> anyhow::Result<Figures> {
    let calendar = network.genesis().policy.calendar;
    let sealed = series(network, sealed, false, progress).await?;
    let buys = series(network, buys, true, progress).await?;
    let lost = |record: &&JobRecord| !won_first(record, &calendar);
    Ok(Figures {
        sealed: Spread::of(sealed.iter().filter_map(to_running_ms).collect()),
        buy: Spread::of(buys.iter().filter_map(to_running_ms).collect()),
        dead_validator: false,
        sealed_not_first: sealed.iter().filter(lost).count(),
        failed: [failed(&sealed), failed(&buys)].concat(),
    })
}

/// Three founders that sell, one that does not, and buyers.
pub(crate) fn plan(name: &str) -> Plan {
    let units = 64;
    let seller = vec![offer("small", units, credits(1), Some(credits(2)))];
    Plan {
        validators: vec![seller.clone(), seller.clone(), seller, Vec::new()],
        log: "warn".to_owned(),
        ..Plan::local(name, 0, BUYERS)
    }
}

/// `n` orders over all buyers.
async fn series(
    network: &Network,
    n: usize,
    buy: bool,
    progress: &Progress,
) -> anyhow::Result<Vec<JobRecord>> {
    let kind = if buy { "buys" } else { "sealed orders" };
    progress.tell(&format!("{n} {kind} by {BUYERS} buyers"));
    let round = round_ms(network);
    let buyers = (0..BUYERS).map(|i| {
        let client = network.node(&Plan::buyer_name(i)).client();
        // The first buyers take one order more, if it does not divide.
        let share = n / BUYERS + usize::from(i < n % BUYERS);
        one_after_another(client, i, share, buy, round)
    });
    let records: Vec<Vec<JobRecord>> = try_join_all(buyers).await?;
    progress.tell(&format!("{n} {kind} are done"));
    Ok(records.concat())
}

/// Length of a round.
pub(crate) fn round_ms(network: &Network) -> u64 {
    let policy = &network.genesis().policy;
    u64::from(policy.calendar.round_heights) * policy.block_interval_ms
}

/// `n` orders of one buyer, each sent when the one before has ended.
pub(super) async fn one_after_another(
    client: &Client,
    buyer: usize,
    n: usize,
    buy: bool,
    round_ms: u64,
) -> anyhow::Result<Vec<JobRecord>> {
    let mut records = Vec::new();
    for i in 0..n {
        let pause = phase_ms(buyer * 1_000 + i, round_ms);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let record = one(client, format!("bench-{i}"), buy, ORDER_TIME).await?;
        if !record.state.is_final() {
            let state = record.state.name();
            bail!("order {i} of buyer {buyer} is still {state}");
        }
        records.push(record);
    }
    Ok(records)
}

/// One order, as it is when it has ended, or after a time.
pub(super) async fn one(
    client: &Client,
    name: String,
    buy: bool,
    time: Duration,
) -> anyhow::Result<JobRecord> {
    let ask = Ask {
        name,
        class: "small".to_owned(),
        nodes: 1,
        max_price: Some(credits(4)),
        seconds: 10,
        how: if buy { How::BUY } else { How::BID },
        argv: vec!["true".to_owned()],
        inputs: Vec::new(),
        outputs: Vec::new(),
        checkpoint: None,
    };
    let request = market::stage(client, &ask).await?;
    let mut record = market::submit(client, &request).await?;
    let until = Instant::now() + time;
    while !record.state.is_final() && Instant::now() < until {
        tokio::time::sleep(LOOK_EVERY).await;
        record = market::job(client, &record.id).await?;
    }
    Ok(record)
}

/// A moment of a round, spread evenly over the orders and the same in every run.
pub(super) fn phase_ms(order: usize, round_ms: u64) -> u64 {
    // Multiples of the golden ratio fill an interval evenly from the first few on.
    let turn = (order as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (turn * round_ms) >> 32
}

/// From acceptance to the first instruction.
pub(super) fn to_running_ms(record: &JobRecord) -> Option<u64> {
    Some(record.running_ms?.saturating_sub(record.accepted_ms))
}

/// Those that did not end well, each with the reason.
pub(super) fn failed(records: &[JobRecord]) -> Vec<String> {
    let failed = records.iter().filter(|r| r.state != JobState::Done);
    let told = failed.map(|r| {
        let (state, reason) = (r.state.name(), r.reason.map_or("unknown", JobReason::name));
        format!("order {} of job {}: {state}, {reason}", r.name, r.id)
    });
    told.collect()
}

/// Whether the order was won in the clearing that closed the round in which it was opened.
fn won_first(record: &JobRecord, calendar: &Calendar) -> bool {
    let (Some(opened), Some(won)) = (record.opened_height, record.won_height) else {
        return false;
    };
    won == calendar.last_of_round(calendar.round(opened)) && record.preemptions == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_fill_the_round_evenly() {
        let mut parts = [0; 4];
        for buyer in 0..BUYERS {
            for i in 0..25 {
                parts[(phase_ms(buyer * 1_000 + i, 1_000) / 250) as usize] += 1;
            }
        }
        assert!(parts.iter().all(|n| (40..=60).contains(n)), "{parts:?}");
    }

    #[test]
    fn the_plan_can_be_founded_and_has_room_for_all() {
        let plan = plan("bench");
        assert!(plan.check().is_ok());
        assert!(plan.validators[3].is_empty(), "the one that may die");
        let units: u32 = plan.validators.iter().flatten().map(|o| o.units).sum();
        assert!(units as usize > BUYERS);
    }

    #[test]
    fn figures_with_a_late_or_failed_order_do_not_count() {
        let mut figures = Figures {
            sealed: Spread::of(vec![1_000]),
            buy: Spread::of(vec![500]),
            dead_validator: false,
            sealed_not_first: 0,
            failed: Vec::new(),
        };
        assert!(figures.problems().is_empty());
        figures.sealed_not_first = 1;
        figures
            .failed
            .push("order bench-7 of job 1: failed, lost".to_owned());
        assert_eq!(figures.problems().len(), 2);
        assert!(figures.table().contains("sealed"));
    }
}
