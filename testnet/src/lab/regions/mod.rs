//! A federation whose validators sit in four regions of the earth.
//!
//! 1. A validator and two buyers are in each region, each on a host of its own whose cable has the
//!    region's delay, and little rate and some loss ([`topology`]).
//! 2. Payments come one by one at a low rate: the time from a block's proposal to its decision, and
//!    that of a payment.
//! 3. Many clients pay at every validator.
//! 4. All buyers send sealed orders and then buys, as [`orders`] does on one machine.
//! 5. One region is cut off and comes back: how long the others pause, and how long it takes to
//!    catch up ([`cut`]).

mod cut;
mod report;

pub(crate) use report::Report;

use super::{Lab, Topology};
use crate::bench::ledger::load::{self, Pay};
use crate::bench::orders;
use crate::network::{Network, Node, Plan, RunFolder};
use crate::say::Progress;
use gridbay_node::api::types::Balance;
use gridbay_node::cli::Pace;
use std::path::PathBuf;
use std::time::Duration;

/// The regions.
const REGIONS: &str = include_str!("topology.toml");
/// Until all nodes are ready: they join over long ways.
const START_TIME: Duration = Duration::from_secs(180);
/// Payments a second where the way of a single one is measured, and while a region is cut off.
const FEW: u64 = 10;

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Name of the lab.
    pub(crate) name: String,
    /// The founders' choice of rounds and slots.
    pub(crate) pace: Pace,
    /// And of milliseconds between blocks.
    pub(crate) block_ms: Option<u64>,
    /// Clients that pay at the same time.
    pub(crate) clients: usize,
    /// Sealed orders, and as many buys.
    pub(crate) orders: usize,
    /// Seconds of each step of load, and of the cut.
    pub(crate) time: Duration,
    /// Whether the nodes' folders stay.
    pub(crate) keep: bool,
}

fn topology() -> Topology {
    Topology::parse(REGIONS).expect("a test reads it")
}

/// Milliseconds of the round trips between any two regions, ascending.
fn round_trips(topology: &Topology) -> Vec<u64> {
    let delays: Vec<Duration> = topology.networks.iter().map(|n| n.link.delay).collect();
    let pairs = delays
        .iter()
        .enumerate()
        .flat_map(|(n, a)| delays[..n].iter().map(move |b| 2 * (*a + *b)));
    let mut all: Vec<u64> = pairs.map(|trip| trip.as_millis() as u64).collect();
    all.sort_unstable();
    all
}

/// The mean of the two in the middle, or the one.
fn median(ascending: &[u64]) -> u64 {
    let (low, high) = ((ascending.len().max(1) - 1) / 2, ascending.len() / 2);
    let at = |n: usize| ascending.get(n).copied().unwrap_or(0);
    u64::midpoint(at(low), at(high))
}

/// Builds the lab and the federation, and measures.
///
/// # Errors
/// They do not stand, or what is to be measured does not come about.
pub(crate) async fn run(
    program: PathBuf,
    options: &Options,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let topology = topology();
    let trip_ms = median(&round_trips(&topology));
    let lab = Lab::up(&options.name, topology, program.clone(), progress)?;
    let mut plan = Plan {
        pace: options.pace,
        block_ms: options.block_ms,
        ..orders::plan(&options.name)
    };
    for name in plan.names() {
        plan.seats.insert(name.clone(), lab.seat(&name)?);
    }
    let folder = RunFolder::create(&options.name)?;
    // Dropped before the lab: its nodes end first.
    let mut network = Network::start(program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let names: Vec<String> = (0..4).map(Plan::validator_name).collect();
    let nodes: Vec<&Node> = names.iter().map(|name| network.node(name)).collect();
    let buyer = network.node(&Plan::buyer_name(0)).client();
    let to: Balance = buyer.get("/ledger/balance").await?;
    let pay = Pay::new(to.account, 1)?;
    progress.tell(&format!("{FEW} payments a second"));
    let unloaded = load::open(&nodes, &pay, FEW, options.time).await?;
    progress.tell(&format!("{} clients", options.clients));
    let loaded = load::closed(&nodes, &pay, options.clients, options.time).await?;
    let orders = orders::measure(&network, options.orders, options.orders, progress).await?;
    progress.tell("one region is cut off");
    let cut = cut::measure(&lab, &network, &pay, options.time).await?;
    Ok(Report {
        trip_ms,
        round_ms: orders::round_ms(&network),
        block_ms: network.genesis().policy.block_interval_ms,
        unloaded,
        loaded,
        orders,
        cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_those_of_the_file() {
        let topology = topology();
        let trips = round_trips(&topology);
        assert_eq!(trips, [70, 180, 190, 210, 220, 330]);
        assert_eq!((median(&trips), median(&[5]), median(&[])), (200, 5, 0));
        let plan = orders::plan("regions");
        let hosts: Vec<&str> = topology.hosts().map(|(host, ..)| host).collect();
        for name in plan.names() {
            assert!(hosts.contains(&&name[..]), "{name} has a host");
        }
    }
}
