//! How much the ledger carries: payments through the API of every validator's node, each from the
//! account of that node, all equal, in steps.
//!
//! 1. *Open steps*: payments are asked for at a rate, whether those before are answered or not. The
//!    time of a payment runs from when it was due, so a node that falls behind is seen.
//! 2. *Closed steps*: so many clients, each of which asks again as soon as it is answered.
//! 3. The machine's own limits are measured first, in the same run ([`machine`]), and its checks of
//!    signatures at the end once more, for it is not always equally fast. Each validator checks the
//!    signature of each payment, so `n` of them on one machine decide no more than an `n`th of what
//!    all its cores can check: the *signature limit*.
//! 4. Each step tells the processor time of the nodes by stage ([`stages`]).
//! 5. Orders go on beside the payments if that is wanted ([`mix`]).
//! 6. At the end every node's ledger has at the receiver's account what was acknowledged, to the
//!    micro-credit; of what failed with an unknown end it may have more.

mod curve;
mod decisions;
pub(crate) mod load;
mod machine;
mod mix;
mod stages;

use super::orders::round_ms;
use crate::network::plan::Plan;
use crate::network::{Network, Node, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
pub(crate) use curve::curve;
use gridbay_node::api::types::Balance;
use gridbay_node::ui::Table;
use load::{Pay, Step};
use machine::Machine;
use serde::Serialize;
use stages::Stages;
use std::path::PathBuf;
use std::time::Duration;

/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(120);
/// Until all nodes have the same ledger in the end.
const SETTLE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Validators.
    pub(crate) validators: usize,
    /// Payments a second of each open step.
    pub(crate) rates: Vec<u64>,
    /// Clients of each closed step, over all nodes.
    pub(crate) clients: Vec<usize>,
    /// Payments in a request.
    pub(crate) list: usize,
    /// Clients that order beside each step.
    pub(crate) mix: usize,
    /// Milliseconds between blocks, as founded.
    pub(crate) block_ms: u64,
    /// Entries that a member may put into the ledger, a height, where that is not the default.
    pub(crate) member_entries: Option<u32>,
    /// Of each step.
    pub(crate) time: Duration,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Validators.
    pub(crate) validators: usize,
    /// Milliseconds between blocks, as founded.
    pub(crate) block_ms: u64,
    /// The most payments a second of any step.
    pub(crate) payments_per_s: u64,
    /// As many as the machine's cores could check if they did nothing else.
    pub(crate) signature_limit: u64,
    /// The first of the second.
    pub(crate) share: f64,
    /// Of the step with the most payments a second.
    pub(crate) p50_ms: u64,
    /// See there.
    pub(crate) p95_ms: u64,
    /// In their order.
    pub(crate) steps: Vec<Step>,
    /// What the machine does alone.
    pub(crate) machine: Machine,
    /// Micro-credits acknowledged.
    pub(crate) acknowledged_micros: i64,
    /// Micro-credits of payments of which it is not known whether they took effect.
    pub(crate) unknown_micros: i64,
    /// Micro-credits that arrived by each node's ledger.
    pub(crate) arrived_micros: Vec<i64>,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&[
            "LOAD",
            ">PAYMENTS/S",
            ">P50 MS",
            ">P95 MS",
            ">P99 MS",
            ">REFUSED",
            ">UNKNOWN",
            ">BLOCK MS",
            ">DECIDED MS",
            ">CORES",
        ]);
        for step in &self.steps {
            let cores = format!("{:.2}", step.cores);
            let figures = [
                step.per_second,
                step.p50_ms,
                step.p95_ms,
                step.p99_ms,
                step.refused,
                step.unknown,
                step.block_ms,
                step.decided_ms,
            ];
            let figures = figures.map(|figure| figure.to_string());
            table.row(
                [step.load.clone()]
                    .into_iter()
                    .chain(figures)
                    .chain([cores]),
            );
        }
        let mut by_stage = Table::new(&[&["CORES OF"][..], &Stages::NAMES].concat());
        for step in &self.steps {
            let cores = step.stages.all().map(|cores| format!("{cores:.2}"));
            by_stage.row([step.load.clone()].into_iter().chain(cores));
        }
        let limit = format!(
            "{} validators, blocks {} ms apart: {} payments a second, {:.0} % of the {} that the \
             machine's cores could check\n{}",
            self.validators,
            self.block_ms,
            self.payments_per_s,
            100.0 * self.share,
            self.signature_limit,
            self.machine
        );
        let mut tables = vec![table.render(), by_stage.render()];
        let with = self.steps.iter();
        let with = with.filter_map(|step| Some((step.load.as_str(), step.mix.as_ref()?)));
        tables.extend(mix::table(&with.collect::<Vec<_>>()));
        let tables: Vec<&str> = tables.iter().map(|table| table.trim_end()).collect();
        let words = "BLOCK MS: from a block to the next; DECIDED MS: from a proposal to its \
                     certificate; CORES: what all nodes use";
        format!("{}\n\n{limit}\n{words}", tables.join("\n\n"))
    }

    /// Why the payments are too few, if they are fewer than so many percent of the limit.
    pub(crate) fn is_slow(&self, least: u8) -> Option<String> {
        let share = 100.0 * self.share;
        let is_slow = share < f64::from(least);
        is_slow.then(|| format!("{share:.0} % of the limit, and {least} % is the least"))
    }

    /// Why the figures do not count; empty if they do.
    pub(crate) fn problems(&self) -> Vec<String> {
        let most = self.acknowledged_micros + self.unknown_micros;
        let wrong = self.arrived_micros.iter().enumerate();
        wrong
            .filter(|(_, arrived)| !(self.acknowledged_micros..=most).contains(arrived))
            .map(|(n, arrived)| {
                let (node, sent) = (n + 1, self.acknowledged_micros);
                format!("v{node}: {arrived} micro-credits arrived, {sent} were acknowledged")
            })
            .collect()
    }
}

/// Measures on a network of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    progress.tell("the machine alone");
    let name = format!("bench-{}", std::process::id());
    let folder = RunFolder::create(&name)?;
    let disk = folder.path().to_owned();
    let machine = tokio::task::spawn_blocking(move || Machine::measure(&disk)).await??;
    let local = Plan::local(&name, options.validators, 1);
    let plan = Plan {
        log: "warn".to_owned(),
        block_ms: Some(options.block_ms),
        member_entries: options.member_entries,
        validators: match options.mix {
            0 => local.validators.clone(),
            _ => vec![mix::sold(); options.validators],
        },
        ..local
    };
    let mut network =
        Network::start(options.program.clone(), folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let receiver = Plan::buyer_name(0);
    let to: Balance = network
        .node(&receiver)
        .client()
        .get("/ledger/balance")
        .await?;
    // Its node would check every signature too, beside those of the validators.
    network.kill(&receiver)?;
    let names: Vec<String> = (0..options.validators).map(Plan::validator_name).collect();
    let nodes: Vec<&Node> = names.iter().map(|name| network.node(name)).collect();
    let pay = Pay::new(to.account, options.list)?;
    let steps = steps(&nodes, &pay, &options, round_ms(&network), progress).await?;
    let best = steps.iter().max_by_key(|step| step.per_second);
    let best = best.context("no step")?.clone();
    let acknowledged: u64 = steps.iter().map(|step| step.done).sum();
    let unknown: u64 = steps.iter().map(|step| step.unknown).sum();
    let arrived = arrived(&nodes, &to, acknowledged as i64 * pay.micros).await?;
    network.stop()?;
    let machine = tokio::task::spawn_blocking(move || machine.with_checks_of_now()).await?;
    let limit = machine.checks_per_core * machine.cores / options.validators as u64;
    Ok(Figures {
        validators: options.validators,
        block_ms: options.block_ms,
        payments_per_s: best.per_second,
        signature_limit: limit,
        share: best.per_second as f64 / limit.max(1) as f64,
        p50_ms: best.p50_ms,
        p95_ms: best.p95_ms,
        steps,
        machine,
        acknowledged_micros: acknowledged as i64 * pay.micros,
        unknown_micros: unknown as i64 * pay.micros,
        arrived_micros: arrived,
    })
}

/// The steps, one after another.
async fn steps(
    nodes: &[&Node],
    pay: &Pay,
    options: &Options,
    round_ms: u64,
    progress: &Progress,
) -> anyhow::Result<Vec<Step>> {
    let beside = mix::Beside {
        clients: options.mix,
        round_ms,
        time: options.time,
    };
    let mut steps = Vec::new();
    for rate in &options.rates {
        progress.tell(&format!("{rate} payments a second"));
        let step = load::open(nodes, pay, *rate, options.time);
        let (step, mix) = beside.orders(nodes, step).await?;
        steps.push(Step { mix, ..step });
    }
    for clients in &options.clients {
        progress.tell(&format!("{clients} clients"));
        let step = load::closed(nodes, pay, *clients, options.time);
        let (step, mix) = beside.orders(nodes, step).await?;
        steps.push(Step { mix, ..step });
    }
    Ok(steps)
}

/// What arrived at an account by each node's ledger, once all agree and have what is wanted.
async fn arrived(nodes: &[&Node], to: &Balance, wanted: i64) -> anyhow::Result<Vec<i64>> {
    let path = format!("/ledger/balance?account={}", to.account.to_hex());
    let began = tokio::time::Instant::now();
    let mut last = Vec::new();
    loop {
        let mut found = Vec::new();
        for node in nodes {
            let now: Balance = node.client().get(&path).await?;
            found.push(now.balance.0 - to.balance.0);
        }
        let agree = found.iter().all(|one| *one == found[0] && *one >= wanted);
        if (agree && found == last) || began.elapsed() > SETTLE {
            ensure!(!found.is_empty(), "no node was asked");
            return Ok(found);
        }
        last = found;
        tokio::time::sleep(5 * LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn figures(steps: Vec<Step>) -> Figures {
        Figures {
            validators: 4,
            block_ms: 250,
            payments_per_s: 100,
            signature_limit: 1_000,
            share: 0.1,
            p50_ms: 250,
            p95_ms: 400,
            steps,
            machine: Machine {
                cores: 2,
                checks_per_core: 8_000,
                ..Machine::default()
            },
            acknowledged_micros: 1_000,
            unknown_micros: 10,
            arrived_micros: vec![1_000, 1_010],
        }
    }

    #[test]
    fn money_that_did_not_arrive_everywhere_is_a_problem() {
        let stages = Stages {
            verify: 0.75,
            ..Stages::default()
        };
        let step = Step {
            stages,
            ..Step::default()
        };
        let mut figures = figures(vec![step]);
        assert!(figures.table().contains("VERIFY") && figures.table().contains("0.75"));
        assert!(figures.problems().is_empty());
        assert!(figures.table().contains("10 % of the 1000"));
        assert_eq!(
            (figures.is_slow(10), figures.is_slow(11).is_some()),
            (None, true)
        );
        figures.arrived_micros = vec![1_000, 999, 1_011];
        assert_eq!(figures.problems().len(), 2);
    }
}
