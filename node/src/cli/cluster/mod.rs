//! `cluster`: nodes that their owner holds, and runs programs on.

mod escape;
mod exec;
mod files;
mod guests;
mod new;
mod programs;
pub(super) mod run;
mod shell;
mod show;
mod way;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::listing::Listing;
use clap::Subcommand;

/// Clusters that this node holds.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ClusterCommand {
    New(Box<new::NewArgs>),
    /// List clusters that have not ended
    List {
        /// Those that ended too
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        listing: Listing,
    },
    /// Show a cluster: its ranks, its time and its price
    Show {
        /// Its id, how that begins (8 digits or more), or its name
        id: String,
    },
    Exec(exec::ExecArgs),
    Shell(shell::ShellArgs),
    Put(files::PutArgs),
    Get(files::GetArgs),
    /// List the programs that run on a cluster
    Ps {
        /// Its id, how that begins, or its name
        id: String,
    },
    Stop(programs::StopArgs),
    Admit(guests::AdmitArgs),
    /// Take back that another user's node may run programs on it; those that run end
    Dismiss {
        /// Its id, how that begins, or its name
        id: String,
        /// The node's key, as gridbay cluster key prints it there
        key: String,
    },
    Enter(guests::EnterArgs),
    /// Take this node out of the network of another user's cluster
    Leave {
        /// The cluster's lease
        lease: String,
    },
    /// Print the key by which this node commands clusters, for owners who admit it
    Key,
    /// Give a cluster up, with all that runs on it
    End {
        /// Its id, how that begins, or its name
        id: String,
    },
}

impl ClusterCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match self {
            ClusterCommand::New(args) => return args.run(at),
            ClusterCommand::List { all, listing } => show::list(at, all, &listing)?,
            ClusterCommand::Show { id } => show::show(at, &id)?,
            ClusterCommand::Exec(args) => return args.run(at),
            ClusterCommand::Shell(args) => return args.run(at),
            ClusterCommand::Put(args) => args.run(at)?,
            ClusterCommand::Get(args) => args.run(at)?,
            ClusterCommand::Ps { id } => return programs::list(at, &id),
            ClusterCommand::Stop(args) => args.run(at)?,
            ClusterCommand::Admit(args) => args.run(at)?,
            ClusterCommand::Dismiss { id, key } => guests::dismiss(at, &id, &key)?,
            ClusterCommand::Enter(args) => args.run(at)?,
            ClusterCommand::Leave { lease } => guests::leave(at, &lease)?,
            ClusterCommand::Key => guests::key(at)?,
            ClusterCommand::End { id } => show::end(at, &id)?,
        }
        Ok(Exit::OK)
    }
}
