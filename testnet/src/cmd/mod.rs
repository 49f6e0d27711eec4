//! The command line: one file per command.

mod appliance;
mod bench;
mod demo;
mod down;
mod kill;
mod lab;
mod page;
mod probe;
mod runtime;
mod sim;
mod status;
mod top;
mod up;

use crate::say;
use clap::{Parser, Subcommand};
use runtime::with_runtime;
use std::process::ExitCode;

/// The gridbay laboratory: real local networks on this machine
#[derive(Debug, Parser)]
#[command(name = "gridbay-testnet", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows a whole market at work and checks that all came out right
    Demo(demo::DemoArgs),
    /// Starts a local network
    Up(up::UpArgs),
    /// Ends a local network and removes its folder
    Down(down::DownArgs),
    /// Shows the nodes of a local network
    Status(status::StatusArgs),
    /// Follows the nodes of a local network on a screen
    Top(top::TopArgs),
    /// Kills nodes under load at random moments and compares what was acknowledged
    Kill(kill::KillArgs),
    /// Builds and measures a small internet of hosts, routers and NATs (needs root)
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Tries out of jobs what hostile ones try, and tells how far it came
    Probe(probe::ProbeArgs),
    Appliance(appliance::ApplianceArgs),
    Page(page::PageArgs),
    /// Measures
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Runs deterministic worlds of whole nodes, with faults and liars
    #[command(subcommand)]
    Sim(gridbay_sim::cli::Sim),
}

/// Parses the arguments and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Demo(args) => with_runtime(args.run()),
        Command::Up(args) => with_runtime(args.run()),
        Command::Down(args) => args.run(),
        Command::Status(args) => with_runtime(args.run()),
        Command::Top(args) => with_runtime(args.run()),
        Command::Kill(args) => with_runtime(args.run()),
        Command::Lab(command) => command.run(),
        Command::Probe(args) => args.run(),
        Command::Appliance(args) => with_runtime(args.run()),
        Command::Page(args) => with_runtime(args.run()),
        Command::Bench(command) => with_runtime(command.run()),
        Command::Sim(command) => sim::run(&command),
    };
    done.unwrap_or_else(|error| {
        say::note(&format!("gridbay-testnet: {error:#}"));
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_of_the_documents_parse() {
        for line in [
            "demo",
            "demo --json report.json --keep",
            "up -n 7",
            "up -n 4 --buyers 2 --name lab --config-out net.json --detach --timeout 30",
            "down --name lab",
            "status --name lab",
            "top --name lab",
            "bench orders -o json --dead-validator",
            "bench network -o json --rounds 4 --only gridbay --only tinc --check",
            "sim run --seeds 0..200 --jobs 2",
            "sim replay --seed 7 --until 5000 --trace story.txt",
            "sim shrink --plan failing.json --out small.json",
            "sim regressions",
            "sim model --nodes 100,1000 --seed 3 --hours 0.5 -o json --check",
            "kill --rounds 1000 --seed 7 -n 4 --json report.json",
            "lab up --name a --topology lab.toml --detach",
            "lab status --name a",
            "lab exec cone1 -- ping -c 1 45.1.1.2",
            "lab exec --name a cone1 ip addr",
            "lab impair cone --delay 15ms --jitter 2ms --rate 20mbit --loss 1%",
            "lab impair all --clear",
            "lab impair cone --new-address --forget",
            "lab probe",
            "lab matrix --kinds cone,symmetric --settle 6 --logs folder",
            "lab roam --if-possible --kinds cone --delay 15ms",
            "lab leases --kinds cone,symmetric --settle 4 --hold 600 -o json",
            "lab cluster --only relay --hold 600 -o json",
            "lab cluster --only strict --hold 30",
            "lab cluster --if-possible --only programs --keys 20 --times 10",
            "lab down",
            "probe",
            "probe -o json",
            "appliance --image target/appliance/base --quick",
            "appliance --only bios,trade --seed 7",
            "page docs/doors/institution.md",
            "page --write docs/doors/institution.md docs/doors/researcher.md",
        ] {
            let words = ["gridbay-testnet"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_ok(), "{line}");
        }
        for line in [
            "",
            "up -n",
            "up --detach=3",
            "bench",
            "demo --json",
            "sim run --seeds 7",
            "sim model --nodes 3",
            "sim model --hours 0",
            "kill -n 3",
            "page",
            "lab",
            "lab exec cone1",
            "lab impair",
        ] {
            let words = ["gridbay-testnet"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_err(), "{line}");
        }
    }
}
