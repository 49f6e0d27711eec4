//! `appliance list|add|remove|key|status|earnings|collect|set|drain|resume|update|log|reset`: nodes
//! that this node's user owns, controlled over the overlay.

mod collect;
mod drain;
mod earnings;
mod key;
mod list;
mod log;
mod order;
mod reset;
mod set;
mod status;
mod update;

use super::context::Context;
use super::error::CliError;
use clap::Subcommand;
use order::Who;

/// Nodes that you own, from this one.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ApplianceCommand {
    /// List the nodes that have a name here
    List,
    Add(list::AddArgs),
    /// Take a node's name back; the node itself does not notice
    Remove {
        /// Its name
        name: String,
    },
    /// Print the key by which this node controls others, for their setting owner.key
    Key,
    /// Show what a node is doing
    Status(Who),
    Earnings(earnings::EarningsArgs),
    Collect(collect::CollectArgs),
    Set(set::SetArgs),
    /// Have a node take no new leases, also after a restart, until it resumes
    Drain(Who),
    /// Have a node take leases again
    Resume(Who),
    Update(update::UpdateArgs),
    Log(log::LogArgs),
    Reset(reset::ResetArgs),
}

impl ApplianceCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        match self {
            ApplianceCommand::List => list::list(at),
            ApplianceCommand::Add(args) => args.run(at),
            ApplianceCommand::Remove { name } => list::remove(at, name),
            ApplianceCommand::Key => key::key(at),
            ApplianceCommand::Status(who) => status::status(at, who),
            ApplianceCommand::Earnings(args) => args.run(at),
            ApplianceCommand::Collect(args) => args.run(at),
            ApplianceCommand::Set(args) => args.run(at),
            ApplianceCommand::Drain(who) => drain::drain(at, who),
            ApplianceCommand::Resume(who) => drain::resume(at, who),
            ApplianceCommand::Update(args) => args.run(at),
            ApplianceCommand::Log(args) => args.run(at),
            ApplianceCommand::Reset(args) => args.run(at),
        }
    }
}
