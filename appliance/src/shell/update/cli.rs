//! The words of the commands around updates.

use super::run::By;
use super::{make, reboot, run};
use crate::shell::care::{self, Drained};
use crate::shell::places::Places;
use crate::text::what_runs;
use clap::Subcommand;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// For leases to end before the reboot.
const DRAIN: Duration = Duration::from_secs(120);

/// Commands around updates.
#[derive(Debug, Subcommand)]
pub enum UpdateCommand {
    /// Write a signed update beside the running system; it is tried at the next boot
    Update {
        /// The update: a file, or a disk that it was copied to
        file: PathBuf,
        /// Take one that was built before the running system
        #[arg(long)]
        allow_older: bool,
        /// Drain and reboot once it is written
        #[arg(long)]
        reboot: bool,
    },
    /// Make a secret key for updates in a new file, and print the public half
    NewKey {
        /// The file
        file: PathBuf,
    },
    /// Print the public half of a secret key for updates
    PublicKey {
        /// The secret key's file
        file: PathBuf,
    },
    /// Make an update of what appliance/build wrote
    MakeUpdate {
        /// The secret key's file
        #[arg(long)]
        key: PathBuf,
        /// The folder that appliance/build wrote
        #[arg(long, value_name = "DIR")]
        from: PathBuf,
        /// The update
        out: PathBuf,
    },
}

impl UpdateCommand {
    /// Runs it. `tell` gets what people read, `print` what programs read.
    pub fn run(
        self,
        places: &Places,
        mut tell: impl FnMut(&str),
        print: impl Fn(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            UpdateCommand::Update {
                file,
                allow_older,
                reboot,
            } => {
                let manifest = run::update(places, &file, By::Command { allow_older }, &mut tell);
                let manifest = manifest
                    .map_err(|error| io::Error::other(format!("{error}; {}", error.hint())))?;
                let version = manifest.version;
                match reboot {
                    false => tell(&format!("version {version} starts at the next boot")),
                    true => restart(places, &version, tell)?,
                }
                Ok(())
            }
            UpdateCommand::NewKey { file } => {
                print(&make::new_key(&file).map_err(io::Error::other)?)
            }
            UpdateCommand::PublicKey { file } => {
                print(&make::public_key(&file).map_err(io::Error::other)?)
            }
            UpdateCommand::MakeUpdate { key, from, out } => {
                let made = make::make_update(&from, &key, &out).map_err(io::Error::other)?;
                print(&format!("{} {}", made.flavour, made.version))
            }
        }
    }
}

fn restart(places: &Places, version: &str, mut tell: impl FnMut(&str)) -> io::Result<()> {
    match care::drain(places, DRAIN)? {
        Drained::Late(units, jobs) => {
            tell(&format!("not drained in time: {}", what_runs(units, jobs)))
        }
        Drained::Empty | Drained::NoNode(_) => {}
    }
    tell(&format!("reboots to try version {version}"));
    reboot(places).map_err(|failure| io::Error::other(failure.why))
}
