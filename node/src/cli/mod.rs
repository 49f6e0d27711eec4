//! The command line: nouns and verbs, one file per noun.
//!
//! Data goes to standard output (`-o json` for programs), everything else to standard error. A
//! failure is three lines, what, why, what to do, and one of the codes of [`exit`].

mod auction;
mod bid;
mod chain;
mod cluster;
mod config;
mod context;
mod contract;
mod doctor;
mod error;
pub mod exit;
mod files;
mod found;
mod image;
mod invite;
mod job;
mod join;
mod lease;
mod ledger;
mod market;
mod member;
mod node;
mod offer;
mod peer;
mod run;
pub(crate) mod text;

pub use auction::{AuctionError, verify_auction};
pub use chain::{ChainError, HeaderChain};
pub use context::{Context, Format, Global};
pub use error::CliError;
pub use exit::Exit;

use crate::config::Config;
use crate::ui;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs a node in the foreground until it is stopped.
pub type NodeUp = fn(Config) -> anyhow::Result<()>;

/// A peer-to-peer market for computing time.
#[derive(Clone, Debug, Parser)]
#[command(name = "gridbay", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Found a network: write its genesis file
    Found(found::FoundArgs),
    Invite(invite::InviteArgs),
    Join(join::JoinArgs),
    /// Run and watch the node of this data folder
    #[command(subcommand)]
    Node(node::NodeCommand),
    Doctor(doctor::DoctorArgs),
    /// See and choose whom this node speaks to
    #[command(subcommand)]
    Peer(peer::PeerCommand),
    /// Sell units, and see what others sell
    #[command(subcommand)]
    Offer(offer::OfferCommand),
    Run(Box<run::RunArgs>),
    /// Hold nodes, and run programs on them
    #[command(subcommand)]
    Cluster(Box<cluster::ClusterCommand>),
    /// Follow, explain and end jobs
    #[command(subcommand)]
    Job(job::JobCommand),
    /// See leases and their private networks
    #[command(subcommand)]
    Lease(lease::LeaseCommand),
    /// See, sign and close contracts for batches of jobs
    #[command(subcommand)]
    Contract(contract::ContractCommand),
    /// See what to bid and what was bid, and change it
    #[command(subcommand)]
    Bid(bid::BidCommand),
    /// See supply and prices, and clear markets of a file
    #[command(subcommand)]
    Market(market::MarketCommand),
    /// See and check auctions
    #[command(subcommand)]
    Auction(auction::AuctionCommand),
    /// See and check money
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    /// See settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
}

/// The program: the process's arguments, and the function that runs a node.
pub fn main_with(node_up: NodeUp) -> ExitCode {
    run_with(std::env::args_os(), node_up).into()
}

/// The program as installed.
pub fn main() -> ExitCode {
    main_with(crate::app::run_until_signal)
}

/// Runs one command line; its first word is the program's name.
pub fn run_with(words: impl IntoIterator<Item = OsString>, node_up: NodeUp) -> Exit {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match execute(cli, node_up) {
        Ok(exit) => exit,
        Err(error) => {
            if !error.is_silent() {
                for line in error.to_string().lines() {
                    ui::note(line);
                }
            }
            error.exit
        }
    }
}

/// Help and version are results; anything else is a mistake.
fn usage(error: &clap::Error) -> Exit {
    let text = error.render().to_string();
    if error.use_stderr() {
        let _ = ui::err(text.as_bytes());
        Exit::USAGE
    } else {
        let _ = ui::out(text.as_bytes());
        Exit::OK
    }
}

fn execute(cli: Cli, node_up: NodeUp) -> Result<Exit, CliError> {
    let at = Context::new(cli.global)?;
    match cli.command {
        Command::Found(args) => args.run(&at)?,
        Command::Invite(args) => args.run(&at)?,
        Command::Join(args) => args.run(&at)?,
        Command::Node(command) => command.run(&at, node_up)?,
        Command::Doctor(args) => return args.run(&at),
        Command::Peer(command) => command.run(&at)?,
        Command::Offer(command) => command.run(&at)?,
        Command::Run(args) => return args.run(&at),
        Command::Cluster(command) => return command.run(&at),
        Command::Job(command) => return command.run(&at),
        Command::Lease(command) => command.run(&at)?,
        Command::Contract(command) => command.run(&at)?,
        Command::Bid(command) => command.run(&at)?,
        Command::Market(command) => return command.run(&at),
        Command::Auction(command) => command.run(&at)?,
        Command::Ledger(command) => command.run(&at)?,
        Command::Config(command) => command.run(&at)?,
    }
    Ok(Exit::OK)
}

#[cfg(test)]
mod tests;
