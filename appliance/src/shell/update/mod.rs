//! Updates on a real machine: its partitions, the owner's command, the agent, and the builder.
//!
//! 1. [`partition`] mounts the boot partition for as long as it is needed, and no longer.
//! 2. [`disk`] is the machine's disk as `update::install` writes it.
//! 3. [`run`] checks an update, writes it and records that.
//! 4. [`offers`] finds updates on disks and from the owner, and takes one for the agent.
//! 5. [`make`] makes keys and updates, on the builder's machine.
//! 6. [`cli`] holds their words.
//! 7. What the agent asks for stands here: the boot settings, and a reboot.

pub mod cli;
pub mod disk;
pub mod make;
pub mod offers;
pub mod partition;
pub mod run;

use super::command::Command;
use super::files::{read_bounded, write_private, write_public};
use super::places::Places;
use crate::node::Failure;
use crate::update::env::Env;
use crate::update::install;
use crate::update::record::{self, Record, Stage};
use crate::update::slot::Slot;
use crate::update::trial::Boot;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Longest time for systemd to begin a reboot.
const REBOOT: Duration = Duration::from_secs(30);
/// Largest line of the kernel read.
const LINE_BYTES: u64 = 64 * 1024;

/// The system that runs, if the boot loader started it.
pub fn running(places: &Places) -> Option<Slot> {
    let line = read_bounded(&places.command_line, LINE_BYTES).ok()?;
    Slot::running(&String::from_utf8_lossy(&line))
}

/// How this system was started, if the boot settings can be had.
pub fn boot(places: &Places) -> Option<Boot> {
    let running = running(places)?;
    let mut files = disk::BootFiles::open(places, "boot", false).ok()?;
    let env = install::env(&mut files).ok()?;
    let id = boot_id(places);
    Some(Boot { running, env, id })
}

/// The kernel's name of this boot, if it tells one.
fn boot_id(places: &Places) -> String {
    let id = read_bounded(&places.boot_id, LINE_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&id).trim().to_owned()
}

/// The record of the last update.
pub fn record(places: &Places) -> Option<Record> {
    Record::read(&read_bounded(&places.update_record(), record::BYTES).ok()?)
}

/// Keeps a record.
pub fn keep(places: &Places, record: &Record) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
    write_private(&places.update_record(), &text, None)
}

/// Writes boot settings. The stage is recorded before, so that no cut loses what the owner is to be
/// told; a data partition that takes no record keeps no machine from booting well.
pub fn settle(places: &Places, env: Env, stage: Option<Stage>) -> Result<(), Failure> {
    if let (Some(stage), Some(record)) = (stage, record(places)) {
        drop(keep(places, &record.at(stage)));
    }
    let failed =
        |error: String| Failure::own(error, "see to the machine's disk; it is tried again");
    let files = disk::BootFiles::open(places, "boot", true);
    let mut files = files.map_err(|error| failed(error.to_string()))?;
    install::set(&mut files, env).map_err(|error| failed(error.to_string()))?;
    let closed = files.close();
    closed
        .and_then(|()| write_public(&places.settled_marker(), b""))
        .map_err(|error| failed(error.to_string()))
}

/// Reboots. Leases get their time from the service that drains.
pub fn reboot(places: &Places) -> Result<(), Failure> {
    let command = Command::new(&places.systemctl).args(["reboot", "--no-block"]);
    command.output(REBOOT).map(drop)
}

/// A file that is there and is no folder.
fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}
