//! `gridbay-appliance data`: performs what was decided about the data partition.

use super::probe::Id;
use super::report::{NAME, Report};
use super::{Plan, checked, plan, probe, quota, reset};
use crate::shell::command::{Command, Ended};
use crate::shell::files::write_public;
use crate::shell::places::{Account, Places};
use crate::state::Fault;
use data_encoding::HEXLOWER;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest check of a file system: a large one takes hours on a slow disk, and one that is ended
/// in between may leave it worse.
const CHECK: Duration = Duration::from_secs(86_400);
/// Where the kernel gives a new id.
const NEW_ID: &str = "/proc/sys/kernel/random/uuid";
/// Longest format.
const FORMAT: Duration = Duration::from_secs(600);
/// Longest mount, which replays the journal.
const MOUNT: Duration = Duration::from_secs(120);
/// Least bytes that a device must have beyond its file system to be worth growing.
const GROWTH: u64 = 1 << 20;
const OPTIONS: &str = "noatime,nosuid,nodev";
const LOG: &str =
    "its host can have a shell (docs/appliance.md): journalctl -u gridbay-appliance-data";

/// Prepares the partition, and reports.
pub fn run(places: &Places, device: &Path, wait: Duration) -> io::Result<Report> {
    let report = match prepare(places, device, wait) {
        Ok(note) => Report::mounted(note),
        Err(fault) => Report::refused(fault),
    };
    let text = serde_json::to_vec_pretty(&report).map_err(io::Error::other)?;
    fs::create_dir_all(&places.run)?;
    write_public(&places.run.join(NAME), &text)?;
    Ok(report)
}

fn prepare(places: &Places, device: &Path, wait: Duration) -> Result<String, Fault> {
    if places.is_mounted(&places.data) {
        folders(places)?;
        return Ok(quotas(places, device));
    }
    let grow = file_system(device, wait)?;
    mount(device, &places.data)?;
    let grown = match grow {
        true => resize(device),
        false => String::new(),
    };
    if reset::is_asked(&places.state()) {
        let erased = reset::erase(&places.node(), &places.state());
        erased.map_err(|error| Fault::new(format!("the reset failed: {error}"), LOG))?;
    }
    folders(places)?;
    let mut notes = vec![grown, quotas(places, device)];
    notes.retain(|note| !note.is_empty());
    Ok(notes.join("; "))
}

/// Makes sure that there is a good file system, and tells whether it is smaller than its device.
pub fn file_system(device: &Path, wait: Duration) -> Result<bool, Fault> {
    let unreadable = |error: io::Error| {
        Fault::new(
            format!("the data partition cannot be read: {error}"),
            "see to the machine's disk; the partition has the label gridbay-data",
        )
    };
    let file = open(device, wait).map_err(unreadable)?;
    let size = (&file).seek(SeekFrom::End(0)).map_err(unreadable)?;
    let facts = probe::look(&file, size).map_err(unreadable)?;
    match plan(&facts) {
        Plan::Refuse(fault) => Err(fault),
        Plan::Format => format(device, size).map(|()| false),
        Plan::Check => {
            drop(file);
            let ended = Command::new("e2fsck").arg("-p").path(device).run(CHECK);
            checked(ended.ok().and_then(|ended| ended.code))?;
            let held = facts.superblock.map_or(size, |found| found.bytes);
            Ok(size > held.saturating_add(GROWTH))
        }
    }
}

/// The device, which may take a moment to appear.
fn open(device: &Path, wait: Duration) -> io::Result<File> {
    let began = Instant::now();
    loop {
        match File::open(device) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && began.elapsed() < wait => {
                sleep(Duration::from_millis(100));
            }
            result => return result,
        }
    }
}

/// Formats a blank device, between setting and clearing the stamp. Discarding would clear it, too,
/// and a blank device has nothing to discard.
fn format(device: &Path, size: u64) -> Result<(), Fault> {
    let failed = |what: String| {
        Fault::new(
            format!("the data partition was not formatted: {what}"),
            "see to the machine's disk: 1 GiB is the least that is of use",
        )
    };
    let file = OpenOptions::new().write(true).open(device);
    let file = file.map_err(|error| failed(error.to_string()))?;
    let id = fs::read_to_string(NEW_ID).map_err(|error| failed(error.to_string()))?;
    let id = id.trim();
    let bytes = bytes_of(id).ok_or_else(|| failed(format!("{id} is no id")))?;
    probe::set_stamp(&file, size, &bytes).map_err(|error| failed(error.to_string()))?;
    let ended = Command::new("mkfs.ext4")
        .args(["-q", "-F", "-I", "256", "-L", "gridbay-data", "-U", id])
        .args(["-O", "quota,project"])
        .args(["-E", "quotatype=usrquota:grpquota:prjquota,nodiscard"])
        .path(device)
        .run(FORMAT);
    done(ended).map_err(failed)?;
    file.sync_all().map_err(|error| failed(error.to_string()))?;
    probe::clear_stamp(&file, size).map_err(|error| failed(error.to_string()))
}

/// The bytes of an id as it is written: hex digits, and hyphens between.
fn bytes_of(id: &str) -> Option<Id> {
    let digits = id.replace('-', "");
    HEXLOWER.decode(digits.as_bytes()).ok()?.try_into().ok()
}

/// Mounts with quotas of projects, or without on a file system that was made elsewhere.
fn mount(device: &Path, at: &Path) -> Result<(), Fault> {
    let failed = |what: String| {
        Fault::new(
            format!("the data partition was not mounted: {what}"),
            "copy the disk, then try on the copy: e2fsck -f",
        )
    };
    fs::create_dir_all(at).map_err(|error| failed(error.to_string()))?;
    let tried = |options: &str| {
        let command = Command::new("mount").args(["-t", "ext4", "-o", options]);
        done(command.path(device).path(at).run(MOUNT))
    };
    tried(&format!("{OPTIONS},prjquota"))
        .or_else(|_| tried(OPTIONS))
        .map_err(failed)
}

/// Grows the mounted file system; what goes wrong there is only told.
fn resize(device: &Path) -> String {
    match done(Command::new("resize2fs").path(device).run(FORMAT)) {
        Ok(()) => String::new(),
        Err(what) => format!("the file system was not grown: {what}"),
    }
}

/// The quotas for jobs; what goes wrong there is only told.
fn quotas(places: &Places, device: &Path) -> String {
    let make = || -> io::Result<()> {
        let account = places.account()?;
        folder(&places.quotas(), account)?;
        let disk = File::open(device)?.seek(SeekFrom::End(0))?;
        quota::make::make(&places.quotas(), device, disk, account)
    };
    match make() {
        Ok(()) => String::new(),
        Err(error) => format!("the disk of jobs has no quotas: {error}"),
    }
}

fn done(ended: io::Result<Ended>) -> Result<(), String> {
    match ended {
        Err(error) => Err(error.to_string()),
        Ok(ended) if ended.code == Some(0) => Ok(()),
        Ok(ended) => Err(ended.failure().why),
    }
}

/// The node's folder and the agent's own.
fn folders(places: &Places) -> Result<(), Fault> {
    let failed =
        |error: io::Error| Fault::new(format!("the folders on /data were not made: {error}"), LOG);
    let account = places.account().map_err(failed)?;
    folder(&places.node(), account).map_err(failed)?;
    folder(&places.state(), None).map_err(failed)
}

fn folder(path: &Path, owner: Option<Account>) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !fs::symlink_metadata(path)?.is_dir() {
        return Err(io::Error::other(format!("{} is no folder", path.display())));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    match owner {
        Some(account) => chown(path, Some(account.uid), Some(account.gid)),
        None => Ok(()),
    }
}
