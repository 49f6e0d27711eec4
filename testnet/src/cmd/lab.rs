//! `lab`: a small internet of namespaces.

mod cluster;
mod common;
mod meet;
mod regions;

use super::runtime::{program, with_runtime};
use crate::lab::{self, Impairment, Lab, Topology, exec, impair, probe};
use crate::say::{self, Progress};
use anyhow::bail;
use clap::{Args, Subcommand};
use cluster::ClusterArgs;
use common::NameArgs;
use gridbay_node::ui::Table;
use meet::{LeasesArgs, MeetArgs};
use regions::RegionsArgs;
use std::ffi::OsString;
use std::future;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use tokio::sync::oneshot;

/// Builds, changes and measures a small internet of hosts, routers and NATs (needs root)
#[derive(Debug, Subcommand)]
pub(super) enum LabCommand {
    /// Builds a lab
    Up(UpArgs),
    /// Removes a lab, also one whose laboratory was killed
    Down(NameArgs),
    /// Shows machines, addresses and what their cables suffer
    Status(NameArgs),
    /// Runs a command inside a machine
    Exec(ExecArgs),
    /// Makes cables slow, lossy or cut; changes addresses
    Impair(ImpairArgs),
    /// Measures how every host's network behaves and compares it with its kind
    Probe(ProbeArgs),
    /// Lets two nodes meet across every pair of kinds, and compares how with what the kinds allow
    Matrix(MeetArgs),
    /// Changes addresses under two nodes that speak with each other, and measures when they speak
    /// again
    Roam(MeetArgs),
    /// Lets two nodes of a lease's network reach each other across every pair of kinds; kills a
    /// relay, changes an address
    Leases(LeasesArgs),
    /// Runs parallel programs on whole nodes behind NATs, then holds a relay that is paid, kills
    /// it, changes an address
    Cluster(ClusterArgs),
    /// Founds a federation over four regions of the earth, pays and orders there, cuts one off
    Regions(RegionsArgs),
}

#[derive(Debug, Args)]
pub(super) struct UpArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Networks and hosts, as TOML; without it each kind of network once
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Leave the lab standing; remove it with `lab down`
    #[arg(long)]
    detach: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Host or router
    machine: String,
    /// Command and its words
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct ImpairArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Host or router whose cable towards the public network is meant, or `all` public links
    cable: String,
    /// Each direction waits so long (public links only), as 15ms
    #[arg(long)]
    delay: Option<String>,
    /// And up to so much more or less, as 2ms
    #[arg(long)]
    jitter: Option<String>,
    /// Each direction carries so much, as 20mbit
    #[arg(long)]
    rate: Option<String>,
    /// Each direction loses so much, as 1%
    #[arg(long)]
    loss: Option<String>,
    /// Nothing gets through
    #[arg(long)]
    cut: bool,
    /// Undo all of the above first
    #[arg(long)]
    clear: bool,
    /// Give the host, or the router's public side, another address
    #[arg(long)]
    new_address: bool,
    /// Make the router forget its connections and mappings
    #[arg(long)]
    forget: bool,
}

#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Build this topology for the time of the probe; without it, and without a lab of the name,
    /// each kind once
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
}

impl LabCommand {
    /// Runs a command. Those that own a lab do so where an interrupt drops them, and the lab with
    /// them.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            LabCommand::Up(args) => with_runtime(args.run()),
            LabCommand::Down(args) => {
                let removed = lab::down(&args.name)?;
                let (machines, processes) = (removed.machines, removed.processes);
                say::line(&format!(
                    "{}: {machines} machines removed, {processes} processes ended",
                    args.name
                ));
                Ok(ExitCode::SUCCESS)
            }
            LabCommand::Status(args) => args.status(),
            LabCommand::Exec(args) => {
                let lab = Lab::open(&args.lab.name, program()?)?;
                match exec::become_inside(&lab, &args.machine, &args.words)? {}
            }
            LabCommand::Impair(args) => args.run(),
            LabCommand::Probe(args) => with_runtime(args.run()),
            LabCommand::Matrix(args) => args.matrix(),
            LabCommand::Roam(args) => args.roam(),
            LabCommand::Leases(args) => args.run(),
            LabCommand::Cluster(args) => args.run(),
            LabCommand::Regions(args) => args.run(),
        }
    }
}

fn topology(path: Option<&PathBuf>) -> anyhow::Result<Topology> {
    path.map_or_else(
        || Ok(Topology::every_kind()),
        |path| lab::read_topology(path),
    )
}

impl UpArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        // Signals are listened to before there is anything to clean up.
        tokio::task::yield_now().await;
        let progress = Progress::new();
        let topology = topology(self.topology.as_ref())?;
        let name = self.lab.name;
        let lab = Lab::up(&name, topology, program()?, &progress)?;
        progress.tell(&format!("lab `{name}` is up"));
        if self.detach {
            lab.detach()?;
            say::note(&format!(
                "remove it with: gridbay-testnet lab down --name {name}"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        say::note("up until interrupted (Ctrl-C)");
        // The caller waits for the interrupt and drops this future, and with it the lab.
        future::pending::<()>().await;
        drop(lab);
        Ok(ExitCode::SUCCESS)
    }
}

impl NameArgs {
    fn status(self) -> anyhow::Result<ExitCode> {
        let lab = Lab::open(&self.name, program()?)?;
        let mut table = Table::new(&["MACHINE", "PART", "ADDRESSES", ">PROCESSES", "CABLE"]);
        let mut well = true;
        for machine in lab.machines()? {
            well &= machine.processes.is_some();
            let addresses: Vec<_> = machine.addresses.iter().map(ToString::to_string).collect();
            let processes = machine
                .processes
                .map_or("gone".to_owned(), |n| n.to_string());
            let addresses = addresses.join(" ");
            table.row([
                machine.name,
                machine.part,
                addresses,
                processes,
                machine.suffers,
            ]);
        }
        say::line(table.render().trim_end());
        if let Some((passed, dropped)) = lab.delayed()? {
            say::line(&format!(
                "delay process: {passed} packets passed, {dropped} dropped"
            ));
        }
        Ok(ExitCode::from(u8::from(!well)))
    }
}

impl ImpairArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let lab = Lab::open(&self.lab.name, program()?)?;
        let cables: Vec<String> = match self.cable.as_str() {
            "all" => lab
                .topology()
                .links()
                .map(|link| link.name.to_owned())
                .collect(),
            _ => vec![self.cable.clone()],
        };
        if self.new_address || self.forget {
            self.change_router(&lab, &cables)?;
        }
        if !self.suffers() {
            if !self.new_address && !self.forget {
                bail!("nothing to do; see gridbay-testnet lab impair --help");
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut wanted = Vec::new();
        for cable in cables {
            let now = self.changed(lab.cable(&cable)?)?;
            wanted.push((cable, now));
        }
        lab.impair(&wanted)?;
        for (cable, now) in wanted {
            let now = match now.to_string() {
                now if now.is_empty() => "as good as new".to_owned(),
                now => now,
            };
            say::line(&format!("{cable}: {now}"));
        }
        Ok(ExitCode::SUCCESS)
    }
    fn change_router(&self, lab: &Lab, cables: &[String]) -> anyhow::Result<()> {
        let [name] = cables else {
            bail!("addresses and mappings change one machine at a time, not `all`");
        };
        if self.new_address {
            say::line(&format!("{name}: now {}", lab.readdress(name)?));
        }
        if self.forget {
            lab.forget(name)?;
            say::line(&format!("{name}: mappings forgotten"));
        }
        Ok(())
    }
    fn suffers(&self) -> bool {
        let given = [&self.delay, &self.jitter, &self.rate, &self.loss];
        self.cut || self.clear || given.iter().any(|option| option.is_some())
    }
    /// The impairment with the given options changed and the others kept.
    fn changed(&self, before: Impairment) -> anyhow::Result<Impairment> {
        let mut now = if self.clear {
            Impairment::default()
        } else {
            before
        };
        if let Some(text) = &self.delay {
            now.delay = impair::delay(text)?;
        }
        if let Some(text) = &self.jitter {
            now.jitter = impair::jitter(text)?;
        }
        if let Some(text) = &self.rate {
            now.rate_kbit = Some(impair::rate(text)?);
        }
        if let Some(text) = &self.loss {
            now.loss_ppm = impair::loss(text)?;
        }
        now.cut |= self.cut;
        Ok(now.checked()?)
    }
}

impl ProbeArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        tokio::task::yield_now().await;
        let name = &self.lab.name;
        let stands = lab::names().contains(name);
        if stands && self.topology.is_some() {
            bail!("lab `{name}` is up; probe it without --topology, or take another --name");
        }
        let own = match stands {
            true => None,
            false => {
                let topology = topology(self.topology.as_ref())?;
                Some(Lab::up(name, topology, program()?, &Progress::silent())?)
            }
        };
        let report = probed(name.clone()).await??;
        drop(own);
        say::line(&report.lines());
        Ok(ExitCode::from(u8::from(!report.ok())))
    }
}

/// Probes on a thread of its own, so that an interrupt need not wait for it.
fn probed(name: String) -> oneshot::Receiver<anyhow::Result<probe::Report>> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let report = program().and_then(|program| probe::run(&Lab::open(&name, program)?));
        // Nobody waits any more after an interrupt.
        let _ = sender.send(report);
    });
    receiver
}
