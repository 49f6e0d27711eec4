//! The command line: nouns and verbs, one file per noun.
//!
//! Data goes to standard output (`-o json` for programs), everything else to standard error. A
//! failure is three lines, what, why, what to do, and one of the codes of [`exit`]; with `-o json`
//! it is one object in one line, the last one on standard error.

mod alerts;
mod api;
mod appliance;
mod auction;
mod audit;
mod bid;
mod chain;
mod cluster;
mod completions;
mod config;
mod context;
mod contract;
mod doctor;
mod dry;
mod error;
pub mod exit;
mod federation;
mod files;
mod fit;
mod found;
mod image;
mod init;
mod invite;
mod job;
mod join;
mod lease;
mod ledger;
mod listing;
mod man;
mod market;
mod meant;
mod member;
pub(crate) mod moment;
mod node;
mod offer;
mod once;
mod peer;
mod progress;
mod project;
mod run;
mod status;
pub(crate) mod text;
mod token;
mod top;
mod user;
mod version;
mod web;

pub use auction::{AuctionError, verify_auction};
pub(crate) use auction::{check_auction, table as auction_text};
pub use chain::{ChainError, HeaderChain};
pub use context::{Context, Format, Global};
pub use error::CliError;
pub use exit::Exit;
#[cfg(test)]
pub(crate) use federation::tests::sample as federation_sample;
pub(crate) use federation::told as rules_told;
pub use found::Pace;
pub(crate) use lease::{network_stands, rank_word};
pub(crate) use market::percent_text;
pub(crate) use peer::{nat_word, reach_word, router_word};

use crate::config::Config;
use crate::ui;
use clap::{CommandFactory as _, Parser, Subcommand};
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
    Init(init::InitArgs),
    /// Found a network: write its genesis file
    Found(found::FoundArgs),
    Invite(invite::InviteArgs),
    Join(join::JoinArgs),
    /// Run and watch the node of this data folder
    #[command(subcommand)]
    Node(node::NodeCommand),
    /// Control nodes that you own from this one
    #[command(subcommand)]
    Appliance(appliance::ApplianceCommand),
    Doctor(doctor::DoctorArgs),
    Federation(federation::FederationArgs),
    Audit(audit::AuditArgs),
    /// See alerts that this node sends its owner, and try their ways
    #[command(subcommand)]
    Alerts(alerts::AlertsCommand),
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
    Web(web::WebArgs),
    /// See the interface for programs
    #[command(subcommand)]
    Api(api::ApiCommand),
    /// Let programs use the API over HTTP
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Share this node among projects, each with a budget
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Let people use the API over HTTP for projects
    #[command(subcommand)]
    User(user::UserCommand),
    /// See settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Status(status::StatusArgs),
    Top(top::TopArgs),
    /// Show the version of this program
    Version,
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
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
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, asked_form(&words)),
    };
    let format = cli.global.format;
    match execute(cli, node_up) {
        Ok(exit) => exit,
        Err(error) => tell(&error, format),
    }
}

/// Tells a failure: the code to end with.
fn tell(error: &CliError, format: Format) -> Exit {
    if !error.is_silent() {
        for line in error.shown(format).lines() {
            ui::note(line);
        }
    }
    error.exit
}

/// Help and version are results; anything else is a mistake.
fn usage(error: &clap::Error, format: Format) -> Exit {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let _ = ui::out(text.as_bytes());
        return Exit::OK;
    }
    if format.is_text() {
        let _ = ui::err(text.as_bytes());
        return Exit::USAGE;
    }
    // What clap says first; usage and advice follow behind an empty line.
    let first = text.split("\n\n").next().unwrap_or(&text);
    let why = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = why.trim_start_matches("error: ");
    let what = "the command is not understood";
    let error = CliError::new(Exit::USAGE, what, why, "see gridbay --help");
    tell(&error, format)
}

/// The form that a line asks for that is not understood otherwise.
fn asked_form(words: &[OsString]) -> Format {
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.to_str().unwrap_or(""))
        .collect();
    let own = words.split(|word| *word == "--").next().unwrap_or(&words);
    let apart = own
        .windows(2)
        .any(|two| matches!(two, ["-o" | "--format", "json"]));
    let joined = ["-ojson", "-o=json", "--format=json"];
    match apart || own.iter().any(|word| joined.contains(word)) {
        true => Format::Json,
        false => Format::Table,
    }
}

fn execute(cli: Cli, node_up: NodeUp) -> Result<Exit, CliError> {
    let at = Context::new(cli.global)?;
    match cli.command {
        Command::Init(args) => args.run(&at)?,
        Command::Found(args) => args.run(&at)?,
        Command::Invite(args) => args.run(&at)?,
        Command::Join(args) => args.run(&at)?,
        Command::Node(command) => command.run(&at, node_up)?,
        Command::Appliance(command) => command.run(&at)?,
        Command::Doctor(args) => return args.run(&at),
        Command::Federation(args) => args.run(&at)?,
        Command::Audit(args) => return args.run(&at),
        Command::Alerts(command) => return command.run(&at),
        Command::Peer(command) => command.run(&at)?,
        Command::Offer(command) => return command.run(&at),
        Command::Run(args) => return args.run(&at),
        Command::Cluster(command) => return command.run(&at),
        Command::Job(command) => return command.run(&at),
        Command::Lease(command) => command.run(&at)?,
        Command::Contract(command) => command.run(&at)?,
        Command::Bid(command) => return command.run(&at),
        Command::Market(command) => return command.run(&at),
        Command::Auction(command) => command.run(&at)?,
        Command::Ledger(command) => return command.run(&at),
        Command::Web(args) => args.run(&at)?,
        Command::Api(command) => command.run(&at)?,
        Command::Token(command) => command.run(&at)?,
        Command::Project(command) => command.run(&at)?,
        Command::User(command) => command.run(&at)?,
        Command::Config(command) => command.run(&at)?,
        Command::Status(args) => args.run(&at)?,
        Command::Top(args) => args.run(&at)?,
        Command::Version => version::run(&at)?,
        Command::Completions(args) => args.run(Cli::command())?,
        Command::Man(args) => args.run(Cli::command())?,
    }
    Ok(Exit::OK)
}

#[cfg(test)]
mod tests;
