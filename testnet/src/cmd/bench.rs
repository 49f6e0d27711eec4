//! `bench`: figures.

mod ledger;

use super::runtime::program;
use crate::appliance::{Image, fleet};
use crate::bench::{crowd, hostile, leases, network, orders, put, setup};
use crate::say::Progress;
use clap::{Args, Subcommand, ValueEnum};
use gridbay_node::cli::Pace;
use ledger::LedgerArgs;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures
#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// From an order's acceptance to its job's first instruction
    Orders(OrdersArgs),
    /// Many nodes on this machine: converging, an advert, memory, idle CPU
    Crowd(CrowdArgs),
    /// Honest trades while hostile peers attack: times, memory, who was shut out
    Hostile(HostileArgs),
    /// Payments through the API of every validator, in steps up to what the ledger carries
    Ledger(LedgerArgs),
    /// The private network of a lease beside what people use (needs root)
    Network(NetworkArgs),
    /// Private networks of 2 to 32 members: how long they take to stand, and what they cost
    Setup(SetupArgs),
    /// Many leases at once on one node: what an idle one takes, and what is left of them
    Leases(LeasesArgs),
    /// Files to a rank of a held cluster, beside a plain copy over the same path
    Put(PutArgs),
    /// Bundles of appliances: how long they take to stand (needs root, QEMU and an image)
    Fleet(FleetArgs),
}

/// Many leases at once on one node: what an idle one takes, and what is left of them
#[derive(Debug, Args)]
pub(super) struct LeasesArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Leases
    #[arg(short = 'n', long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=512))]
    leases: u32,
    /// How fast the network goes: as federations are founded, or as tests and shows
    #[arg(long, value_enum, default_value_t = Pace::WideArea)]
    pace: Pace,
    /// Fail if one takes more than 2 MiB of its seller's node
    #[arg(long)]
    check: bool,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

/// Bundles of appliances: how long they take to stand (needs root, QEMU and an image)
#[derive(Debug, Args)]
pub(super) struct FleetArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// The folder that appliance/build wrote
    #[arg(long, value_name = "DIR", default_value = "target/appliance/base")]
    image: PathBuf,
    /// Machines; each takes 1.7 GiB at the most
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    machines: u32,
    /// Bundles of each size
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
}

/// Files to a rank of a held cluster, beside a plain copy over the same path
#[derive(Debug, Args)]
pub(super) struct PutArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Size of the file in MiB
    #[arg(long, default_value_t = 1_024, value_parser = clap::value_parser!(u64).range(1..=16_384))]
    mib: u64,
    /// Rounds; figures are medians
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// Fail if a put has less than 70 % of the speed
    #[arg(long)]
    check: bool,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

/// Private networks of 2 to 32 members: how long they take to stand, and what they cost
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Members of the largest
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(4..=64))]
    most: u32,
    /// Leases of each size
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// How fast the network goes: as federations are founded, or as tests and shows
    #[arg(long, value_enum, default_value_t = Pace::WideArea)]
    pace: Pace,
    /// Fail if 32 members take more than 3 s
    #[arg(long)]
    check: bool,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

/// The private network of a lease beside what people use (needs root)
#[derive(Debug, Args)]
pub(super) struct NetworkArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Turns of each tool; figures are medians
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// Seconds of each TCP flow
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(2..=60))]
    seconds: u16,
    /// Only this tool, such as gridbay or wireguard-go; can be repeated
    #[arg(long, value_name = "TOOL")]
    only: Vec<String>,
    /// Fail if a figure misses its bar
    #[arg(long)]
    check: bool,
}

/// Many nodes on this machine: converging, an advert, memory, idle CPU
#[derive(Debug, Args)]
pub(super) struct CrowdArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Nodes, four of them validators
    #[arg(short = 'n', long, default_value_t = 100)]
    nodes: usize,
    /// Seconds for which idle CPU is counted
    #[arg(long, default_value_t = 60)]
    window: u64,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

/// Honest trades while hostile peers attack: times, memory, who was shut out
#[derive(Debug, Args)]
pub(super) struct HostileArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Buys of each of the two members in each of six turns
    #[arg(long, default_value_t = 20)]
    trades: usize,
    /// Only this attack, of the member (member) or of the foreign client; can be repeated
    #[arg(long, value_name = "ATTACK")]
    only: Vec<String>,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

impl Format {
    /// Prints figures.
    fn show(self, table: &str, figures: &impl Serialize) -> anyhow::Result<()> {
        match self {
            Format::Table => crate::say::line(table.trim_end()),
            Format::Json => crate::say::line(&serde_json::to_string_pretty(figures)?),
        }
        Ok(())
    }
}

/// From an order's acceptance to its job's first instruction
#[derive(Debug, Args)]
pub(super) struct OrdersArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Kill one of the four validators first
    #[arg(long)]
    dead_validator: bool,
    /// Sealed orders
    #[arg(long, default_value_t = 200)]
    sealed: usize,
    /// Buy-it-now orders
    #[arg(long, default_value_t = 50)]
    buys: usize,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

impl BenchCommand {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            BenchCommand::Orders(args) => args.run().await,
            BenchCommand::Crowd(args) => args.run().await,
            BenchCommand::Hostile(args) => args.run().await,
            BenchCommand::Ledger(args) => args.run().await,
            BenchCommand::Network(args) => args.run(),
            BenchCommand::Put(args) => args.run().await,
            BenchCommand::Setup(args) => args.run().await,
            BenchCommand::Leases(args) => args.run().await,
            BenchCommand::Fleet(args) => args.run().await,
        }
    }
}

impl PutArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = put::Options {
            program: program()?,
            mib: self.mib,
            rounds: self.rounds.into(),
            keep: self.keep,
        };
        let figures = put::run(&options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        let bad = self.check && !figures.is_good();
        Ok(if bad {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

impl LeasesArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = leases::Options {
            program: program()?,
            leases: self.leases,
            pace: self.pace,
            keep: self.keep,
        };
        let figures = leases::run(&options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        let problems = figures.problems();
        Ok(verdict(if self.check { &problems } else { &[] }))
    }
}

impl NetworkArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let options = network::Options {
            program: program()?,
            rounds: self.rounds.into(),
            flow: Duration::from_secs(self.seconds.into()),
            only: self.only,
        };
        let figures = network::run(&options, &Progress::new())?;
        self.format.show(&figures.table(), &figures)?;
        let missed = network::bars(&figures);
        if self.check {
            return Ok(verdict(&missed));
        }
        for miss in &missed {
            crate::say::note(&format!("below the bar: {miss}"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl CrowdArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = crowd::Options {
            program: program()?,
            nodes: self.nodes,
            window: Duration::from_secs(self.window),
            keep: self.keep,
        };
        let figures = crowd::run(options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        Ok(verdict(&figures.problems()))
    }
}

impl HostileArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = hostile::Options {
            program: program()?,
            trades: self.trades,
            only: self.only,
            keep: self.keep,
        };
        let figures = hostile::run(options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        Ok(verdict(&figures.problems()))
    }
}

impl FleetArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = fleet::Options {
            image: Image::open(&self.image)?,
            program: program()?,
            machines: self.machines,
            rounds: self.rounds,
        };
        let figures = fleet::run(options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SetupArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let options = setup::Options {
            program: program()?,
            most: self.most,
            rounds: self.rounds,
            pace: self.pace,
            keep: self.keep,
        };
        let figures = setup::run(options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        let problems = figures.problems();
        Ok(verdict(if self.check { &problems } else { &[] }))
    }
}

/// Says what is wrong, and the exit code for it.
fn verdict(problems: &[String]) -> ExitCode {
    for problem in problems {
        crate::say::note(&format!("FAILED: {problem}"));
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}

impl OrdersArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let args = self;
        let options = orders::Options {
            program: program()?,
            sealed: args.sealed,
            buys: args.buys,
            dead_validator: args.dead_validator,
            keep: args.keep,
        };
        let figures = orders::run(options, &Progress::new()).await?;
        args.format.show(&figures.table(), &figures)?;
        Ok(verdict(&figures.problems()))
    }
}
