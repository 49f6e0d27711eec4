//! `sim preemption`: what preemption costs in CloudBay's scenario.

use super::SimError;
use crate::preempt::keep::Keeping;
use crate::preempt::scenario::Scenario;
use crate::preempt::{Figures, Point, point};
use clap::ValueEnum;
use std::io::Write;

/// CloudBay's figure: cost of preemption by all busy time, percent.
const BAR: f64 = 1.8;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Preemption {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Seed of all requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Days of requests
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: u32,
    /// Mean hours of a request
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    hours: u32,
    /// Loads, percent of all units: the paper's high, medium and low
    #[arg(long, value_delimiter = ',', default_values_t = [83.3, 66.5, 53.4])]
    loads: Vec<f64>,
    /// Shares of requests that bid, percent
    #[arg(long, value_delimiter = ',', default_values_t = [10, 30, 50, 70, 90],
        value_parser = clap::value_parser!(u32).range(0..=100))]
    bids: Vec<u32>,
    /// State of a rank, MiB
    #[arg(long, default_value_t = 1_024, value_parser = clap::value_parser!(u64).range(0..=4_096))]
    state: u64,
    /// Link of the buyer's node, Mbit/s, which all ranks share
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    link: u64,
    /// Speed at which a rank writes its state, MB/s
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    write: u64,
    /// Seconds between two states that are written while the job runs
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
    /// Seconds from the notice of the end to the end
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    grace: u64,
    /// Milliseconds from a start to the first instruction
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=600_000))]
    start: u64,
    /// Exit code 1 if preemption costs more than 1.8 % of the busy time at any point
    #[arg(long)]
    check: bool,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

impl Preemption {
    fn keeping(&self) -> Keeping {
        let bits = self.state * 1_024 * 1_024 * 8;
        Keeping {
            every_ms: self.every * 1_000,
            grace_ms: self.grace * 1_000,
            write_ms: (bits / 8).div_ceil(self.write * 1_000),
            transfer_ms: bits.div_ceil(self.link * 1_000),
            start_ms: self.start,
        }
    }

    fn scenarios(&self) -> impl Iterator<Item = Scenario> + '_ {
        let loads = self
            .loads
            .iter()
            .filter(|load| (1.0..=100.0).contains(*load));
        loads.flat_map(|load| {
            self.bids.iter().map(|bids| Scenario {
                seed: self.seed,
                days: self.days,
                load: *load,
                bids: *bids,
                hours: f64::from(self.hours),
            })
        })
    }

    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let keeping = self.keeping();
        let json = self.format == Format::Json;
        if !json {
            head(out)?;
        }
        let mut points = Vec::new();
        for scenario in self.scenarios() {
            let point = point(&scenario, &keeping);
            if !json {
                row(out, &point)?;
            }
            points.push(point);
        }
        if json {
            let told = points.iter().map(tell).collect::<Vec<_>>();
            writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?;
        }
        let well = points.iter().all(|point| point.kept.of_all() <= BAR);
        Ok(!points.is_empty() && (well || !self.check))
    }
}

/// A point with its ratios, for programs.
fn tell(point: &Point) -> serde_json::Value {
    let side = |figures: &Figures| {
        serde_json::json!({
            "figures": figures,
            "utilisation_percent": figures.utilisation(),
            "busy_vm_s": figures.busy() / 1_000,
            "preempt_vm_s": figures.cost() / 1_000,
            "overhead_bid_percent": figures.of_bids(),
            "overhead_all_percent": figures.of_all(),
            "saving_percent": figures.saved(),
        })
    };
    serde_json::json!({
        "load_percent": point.load,
        "bid_percent": point.bids,
        "bar_percent": BAR,
        "checkpoints": side(&point.kept),
        "baseline": side(&point.baseline),
    })
}

fn head(out: &mut dyn Write) -> Result<(), SimError> {
    writeln!(
        out,
        "{:>22}{:>44}{:>35}",
        "", "----------- jobs that keep their progress --", "------- jobs that keep nothing --"
    )?;
    writeln!(
        out,
        "{:>6}{:>6}{:>10}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>9}",
        "load",
        "bids",
        "busy VM-h",
        "used",
        "preempt",
        "VM-h",
        "of bids",
        "of all",
        "saving",
        "preempt",
        "VM-h",
        "of all"
    )?;
    Ok(())
}

fn row(out: &mut dyn Write, point: &Point) -> Result<(), SimError> {
    let (kept, base) = (&point.kept, &point.baseline);
    let hours = |ms: u64| ms as f64 / 3_600_000.0;
    writeln!(
        out,
        "{:>6.1}{:>5}%{:>10.0}{:>7.1}%{:>9}{:>9.0}{:>8.2}%{:>8.2}%{:>8.2}%{:>9}{:>8.0}{:>8.2}%",
        point.load,
        point.bids,
        hours(kept.busy()),
        kept.utilisation(),
        kept.preemptions,
        hours(kept.cost()),
        kept.of_bids(),
        kept.of_all(),
        kept.saved(),
        base.preemptions,
        hours(base.cost()),
        base.of_all(),
    )?;
    Ok(())
}
