//! CloudBay's first experiment (Fig. 5) with appliances: how long a bundle of machines takes from
//! the block that decides it until all of them see one another.
//!
//! 1. Four founders and the buyer are nodes on hosts of a lab; each machine is one too, behind
//!    QEMU's own address translation. So machines are as far from one another as the lab says.
//! 2. Each machine joins by a configuration disk and offers one unit.
//! 3. For each size from two to all machines, some bundles are leased, one after the other, and
//!    given up once their network stands ([`setup::stands`]): at first with nothing between the
//!    machines, as on one site, then with the cables of three sites.

use super::Image;
use super::bench::{self, Bench};
use super::machine::{Machine, SELLER, Spec};
use crate::bench::setup::{self, Row};
use crate::lab::{Impairment, Lab, Topology};
use crate::network::plan::Plan;
use crate::network::{Network, RunFolder};
use crate::parallel::tools::built;
use crate::say::Progress;
use anyhow::ensure;
use gridbay_node::api::types::{JobRecord, Offer};
use gridbay_node::ui::Table;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// For the founders to stand, and for machines to be ready, each.
const START: Duration = Duration::from_secs(120);
/// Until a bundle stands.
const PATIENCE: Duration = Duration::from_secs(300);
const FOUNDERS: [&str; 4] = ["p1", "p2", "p3", "p4"];
/// One way on the cables of a site's machines.
const SITES: [Duration; 3] = [
    Duration::from_millis(1),
    Duration::from_millis(10),
    Duration::from_millis(25),
];
/// A job that holds its unit until it is told to end. It is linked whole: a machine has no C
/// library for strangers.
const HOLD: &str = "#include <unistd.h>\nint main(void)\n{\n    for (;;)\n        pause();\n}\n";

/// The machines and bundles to measure.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The image.
    pub(crate) image: Image,
    /// The program of the nodes on this machine.
    pub(crate) program: PathBuf,
    /// Machines.
    pub(crate) machines: u32,
    /// Bundles of each size.
    pub(crate) rounds: u16,
}

/// The times measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Seconds until all machines sold, from the first one's start.
    pub(crate) ready_s: f64,
    /// MiB that a machine's process takes here, at the most.
    pub(crate) resident_mib: u64,
    /// With nothing between them.
    pub(crate) one_site: Vec<Row>,
    /// With the cables of three sites.
    pub(crate) three_sites: Vec<Row>,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["SERIES", ">MACHINES", ">N", ">MIN S", ">MEDIAN S", ">MAX S"]);
        let seconds = |ms: Option<&u64>| ms.map_or(0.0, |ms| *ms as f64 / 1_000.0);
        for (series, rows) in [("one site", &self.one_site), ("three", &self.three_sites)] {
            for row in rows {
                table.row([
                    series.to_owned(),
                    row.members.to_string(),
                    row.ms.len().to_string(),
                    format!("{:.2}", seconds(row.ms.first())),
                    format!("{:.2}", seconds(Some(&row.median_ms))),
                    format!("{:.2}", seconds(row.ms.last())),
                ]);
            }
        }
        format!(
            "{}all sell {:.0} s after the first was switched on; a machine takes up to {} MiB here\n\
             CloudBay, Fig. 5: both series rise with the number of machines, which are 32 at most; \
             the text calls the time trivial beside hours of rental and gives no number",
            table.render(),
            self.ready_s,
            self.resident_mib
        )
    }
}

/// The lab, the nodes in it, and the machines. The machines and nodes end before the lab.
struct Fleet {
    machines: Vec<Machine>,
    bench: Bench,
    lab: Lab,
}

/// Measures.
///
/// # Errors
/// There is no lab, or machines or bundles do not stand in time.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Figures> {
    let mut fleet = Fleet::up(&options, progress).await?;
    let began = Instant::now();
    fleet.boot(options.machines).await?;
    fleet.all_sell(options.machines).await?;
    let ready_s = began.elapsed().as_secs_f64();
    progress.tell(&format!("all machines sell after {ready_s:.0} s"));
    let one_site = fleet.measure(&options, progress).await?;
    let cable = |i: u32| Impairment {
        delay: SITES[i as usize % SITES.len()],
        ..Impairment::default()
    };
    let cables: Vec<_> = (0..options.machines).map(|i| (host(i), cable(i))).collect();
    fleet.lab.impair(&cables)?;
    progress.tell("three sites");
    let three_sites = fleet.measure(&options, progress).await?;
    let resident = fleet.machines.iter().filter_map(Machine::resident).max();
    Ok(Figures {
        ready_s,
        resident_mib: resident.unwrap_or_default(),
        one_site,
        three_sites,
    })
}

/// The host of a machine.
fn host(i: u32) -> String {
    format!("m{}", i + 1)
}

fn topology(machines: u32) -> anyhow::Result<Topology> {
    let hosts = FOUNDERS.map(str::to_owned).into_iter();
    let hosts = hosts.chain(["buyer".to_owned()]);
    let hosts: Vec<_> = hosts.chain((0..machines).map(host)).collect();
    let text = format!("[networks.street]\nkind = \"open\"\nhosts = {hosts:?}\n");
    Ok(Topology::parse(&text)?)
}

impl Fleet {
    /// The lab and its nodes, without machines.
    async fn up(options: &Options, progress: &Progress) -> anyhow::Result<Fleet> {
        let (name, program) = (
            format!("fleet{}", std::process::id() % 100_000),
            &options.program,
        );
        let topology = topology(options.machines)?;
        let lab = Lab::up(&name, topology, program.clone(), progress)?;
        let mut plan = Plan {
            buyers: 1,
            disk_mib: 512,
            ..bench::plan(&name)
        };
        plan.validators = vec![vec![]; FOUNDERS.len()];
        let names = (0..FOUNDERS.len()).map(Plan::validator_name);
        let seats = names.zip(FOUNDERS).chain([(Plan::buyer_name(0), "buyer")]);
        for (node, host) in seats {
            plan.seats.insert(node, lab.seat(host)?);
        }
        let folder = RunFolder::create(&name)?;
        let network = Network::start(program.clone(), folder, plan, START, progress).await?;
        Ok(Fleet {
            machines: Vec::new(),
            bench: Bench::over(options.image.clone(), network, 0, progress)?,
            lab,
        })
    }

    /// Switches all machines on.
    async fn boot(&mut self, machines: u32) -> anyhow::Result<()> {
        for i in 0..machines {
            let (name, number) = (host(i), u8::try_from(i + 1)?);
            let sells = "class = \"small\"\nunits = 1\nprice = \"1\"";
            let settings = self.bench.settings(&name, sells).await?;
            let disk = self.bench.disk(&name, &[("invite.toml", &settings)])?;
            let spec = Spec {
                memory: SELLER,
                disks: vec![disk],
                namespace: Some(self.lab.path(&name)?),
                ..Spec::new(name, number)
            };
            let machine = self.bench.boot(spec)?;
            self.machines.push(machine);
        }
        Ok(())
    }

    /// Waits until each machine's offer is on sale.
    async fn all_sell(&mut self, machines: u32) -> anyhow::Result<()> {
        let (began, within) = (Instant::now(), START * machines);
        let buyer = self.bench.network.node(&Plan::buyer_name(0)).client();
        loop {
            let offers: Vec<Offer> = buyer.get("/offers").await?;
            let on_sale = offers.iter().filter(|offer| offer.on_sale).count();
            if on_sale >= machines as usize {
                return Ok(());
            }
            ensure!(
                began.elapsed() < within,
                "{on_sale} of {machines} machines sell; the first one's console shows\n{}",
                self.machines.first().map(Machine::said).unwrap_or_default()
            );
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Bundles of each size.
    async fn measure(&self, options: &Options, progress: &Progress) -> anyhow::Result<Vec<Row>> {
        let program = self.bench.folder.join("hold");
        built("cc", &["-static"], HOLD, &program)?;
        let program = program.display().to_string();
        let node = Plan::buyer_name(0);
        let buyer = self.bench.network.node(&node).client();
        let mut rows = Vec::new();
        for members in 2..=options.machines {
            let mut ms = Vec::new();
            for _ in 0..options.rounds {
                let count = members.to_string();
                let mut words = vec!["run", "-n", &count, "--class", "small", "--max-price", "5"];
                words.extend([
                    "--network",
                    "--detach",
                    "--time",
                    "15m",
                    "--input",
                    &program,
                ]);
                words.extend(["--", "./hold"]);
                let id = self.bench.cli(&node, &words).await?;
                let job: JobRecord = buyer.get(&format!("/jobs/{}", id.trim())).await?;
                ms.push(setup::stands(buyer, &job.id, members, PATIENCE).await?);
                progress.tell(&format!("{members} machines: {} ms", ms[ms.len() - 1]));
            }
            rows.push(Row::new(members, ms));
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_both_series_beside_the_papers() {
        let figures = Figures {
            ready_s: 93.4,
            resident_mib: 640,
            one_site: vec![Row::new(2, vec![1_500, 900, 1_200])],
            three_sites: vec![Row::new(2, vec![2_000])],
        };
        let table = figures.table();
        assert!(table.contains("0.90") && table.contains("1.20") && table.contains("1.50"));
        assert!(table.contains("three") && table.contains("Fig. 5"));
        assert_eq!(topology(4).unwrap().hosts().count(), 9);
    }
}
