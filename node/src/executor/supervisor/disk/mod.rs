//! What a job holds on the disk, watched: the kernel bounds single files, this bounds their sum.
//!
//! A look is cheap, a count is not, so:
//!
//! 1. every few milliseconds the file system is asked how much of it is free; how often, follows from what the job
//!    could write until then at [`FASTEST`] and from how much it may still write;
//! 2. once so much has gone as could matter, or some seconds have passed, the job's folders are counted, and the files
//!    that it keeps open without a name; a count is not repeated before ten times its own duration;
//! 3. beyond its limit, or where the machine itself runs out of room, the job is ended and what it wrote removed.
//!
//! A count holds at most [`DEPTH`] folders open: a job that nests deeper is beyond its limit. Bytes are those that the
//! disk gave, so holes count nothing and links to one file once.
//!
//! Where a count cannot see all that a job keeps ([`nameless`]), the job is suspected of what the disk has lost since
//! the last count that did and that it does not explain. A suspicion alone ends no job while the machine has room.
//! When it has not, jobs end in this order: those beyond their limit with what they are suspected of, at the floor;
//! then the others, those that took the greater part of what they were sold earlier ([`WITHIN`]).

use std::collections::BTreeSet;
use std::fs::{self, File, ReadDir};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::{Statvfs, statvfs};
use nix::unistd::Pid;

use super::super::outcome::KillReason;
use super::super::removal::Open;
use super::nameless;

/// Bytes a second that a job may write at the most, as far as the watching is concerned: memory's speed, for what is
/// written lies there first.
const FASTEST: u64 = 2 << 30;
/// Shortest and longest time between two looks.
const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// Longest time between two counts of a job that writes nothing: others may give back what it takes.
const COUNT: Duration = Duration::from_secs(5);
/// After a count there is none for so many times as long as it took, but no longer than [`COUNT`].
const SHARE: u32 = 10;
/// Folders inside one another that are counted. What people and programs nest is far below.
const DEPTH: usize = 128;
/// One file or folder for so many bytes of the limit, as file systems of that size have it.
const BYTES_A_FILE: u64 = 16 * 1024;
/// Files and folders that any job may have, and that none may exceed.
const FILES: (u64, u64) = (16_384, 1 << 20);
/// Parts of the floor, in eighths, below which jobs within their limit end: who took nothing, and who took all of it.
/// The first is above the quarter at which the node gives its reserve back.
const WITHIN: (u64, u64) = (3, 6);
/// What `st_blocks` counts, in bytes.
const BLOCK: u64 = 512;

/// What a job holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes that the disk gave for it.
    pub(super) bytes: u64,
    /// Files, folders and links.
    pub(super) files: u64,
    /// Whether it nests deeper than is counted.
    pub(super) too_deep: bool,
    /// Whether it may hold more than could be counted.
    pub(super) blind: bool,
}

/// Files and folders of a job that may hold so many bytes.
fn files_for(bytes: u64) -> u64 {
    (bytes / BYTES_A_FILE).clamp(FILES.0, FILES.1)
}

/// The watch over one job.
pub(super) struct Disk {
    roots: [PathBuf; 2],
    bytes: u64,
    files: u64,
    /// Free bytes of the file system below which jobs end.
    floor: u64,
    /// A process below this one that is not the job's.
    init: Option<Pid>,
    /// Bytes that the job may hold besides what was counted.
    suspected: u64,
    /// The last count, and how much was free then.
    held: Held,
    free: (u64, u64),
    counted: Option<Instant>,
    rest: Duration,
    /// When to look next.
    next: Instant,
}

impl Disk {
    /// Over the folders of a job that may hold so many bytes, on a machine that keeps `floor` bytes free.
    /// `init`: a process below this one that is not the job's.
    pub(super) fn new(roots: [PathBuf; 2], bytes: u64, floor: u64, init: Option<Pid>) -> Disk {
        Disk {
            roots,
            bytes,
            files: files_for(bytes),
            floor,
            init,
            suspected: 0,
            held: Held::default(),
            free: (0, 0),
            counted: None,
            rest: Duration::ZERO,
            next: Instant::now(),
        }
    }

    /// When to call [`Disk::look`] again.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time to: why the job has to end, if it has.
    pub(super) fn look(&mut self, now: Instant) -> io::Result<Option<KillReason>> {
        if now < self.next {
            return Ok(None);
        }
        let found = statvfs(&self.roots[0])?;
        let free = free_of(&found);
        let short = free.0 < self.floor;
        if self.is_due(now, free, short) {
            let held = self.measure()?;
            self.take(held, free);
            self.counted = Some(now);
            self.rest = (now.elapsed() * SHARE).min(COUNT);
        }
        let room = self.bytes.saturating_sub(self.held.bytes);
        let above = free.0.saturating_sub(self.floor);
        let until = Duration::from_millis(room.min(above) * 500 / FASTEST);
        self.next = Instant::now() + until.clamp(LOOK.0, LOOK.1);
        Ok(self.verdict(free.0))
    }

    /// Takes note of a count, and of how much was free before it.
    fn take(&mut self, held: Held, free: (u64, u64)) {
        let lost = self.free.0.saturating_sub(free.0);
        let grown = held.bytes.saturating_sub(self.held.bytes);
        self.suspected = match held.blind {
            true => self.suspected.saturating_add(lost.saturating_sub(grown)),
            false => 0,
        };
        (self.held, self.free) = (held, free);
    }

    /// Counts once more, of a job that is over: whether it holds more than its limit. What cannot be counted is not
    /// held against it.
    pub(super) fn count(&mut self) -> Option<KillReason> {
        self.held = self.measure().unwrap_or_default();
        self.is_beyond().then_some(KillReason::Disk)
    }

    fn is_beyond(&self) -> bool {
        let held = &self.held;
        held.bytes > self.bytes || held.files > self.files || held.too_deep
    }

    /// Whether so much was taken since the last count that the job may be beyond its limit soon.
    fn is_due(&self, now: Instant, free: (u64, u64), short: bool) -> bool {
        let Some(counted) = self.counted else {
            return true;
        };
        let room = (
            self.bytes.saturating_sub(self.held.bytes),
            self.files.saturating_sub(self.held.files),
        );
        let taken = (
            self.free.0.saturating_sub(free.0),
            self.free.1.saturating_sub(free.1),
        );
        let since = now.saturating_duration_since(counted);
        let much = taken.0 > room.0 / 4 || taken.1 > room.1 / 4;
        since >= self.rest && (short || much || since >= COUNT)
    }

    /// Why the job has to end with so many bytes free, by the last count.
    fn verdict(&self, free: u64) -> Option<KillReason> {
        if self.is_beyond() {
            return Some(KillReason::Disk);
        }
        let taken = self.held.bytes.saturating_add(self.suspected);
        (free < last_line(self.floor, taken, self.bytes)).then_some(KillReason::NoRoom)
    }

    fn measure(&self) -> io::Result<Held> {
        measure(&self.roots, (self.bytes, self.files), self.init)
    }
}

/// Free bytes below which a job ends that took so many bytes of its limit.
fn last_line(floor: u64, taken: u64, limit: u64) -> u64 {
    if taken > limit {
        return floor;
    }
    let (none, all) = (floor / 8 * WITHIN.0, floor / 8 * WITHIN.1);
    let part = u128::from(all - none) * u128::from(taken) / u128::from(limit.max(1));
    none + u64::try_from(part).unwrap_or(all - none)
}

/// Free bytes and free files of a file system, as an ordinary user has them.
fn free_of(found: &Statvfs) -> (u64, u64) {
    let bytes = found
        .blocks_available()
        .saturating_mul(found.fragment_size());
    (bytes, found.files_available())
}

/// Counts what lies below some folders and what this process's descendants but `init` keep without a name; stops once
/// it is beyond the bounds.
fn measure(roots: &[PathBuf], bounds: (u64, u64), init: Option<Pid>) -> io::Result<Held> {
    let mut count = Count::within(bounds.0, bounds.1);
    for root in roots {
        count.folder(root)?;
    }
    if !count.is_beyond() {
        count.nameless(fs::metadata(&roots[0])?.dev(), init)?;
    }
    Ok(count.held)
}

struct Count {
    held: Held,
    /// Files with several names that were seen.
    linked: BTreeSet<(u64, u64)>,
    bounds: (u64, u64),
}

impl Count {
    fn within(bytes: u64, files: u64) -> Count {
        Count {
            held: Held::default(),
            linked: BTreeSet::new(),
            bounds: (bytes, files),
        }
    }

    fn is_beyond(&self) -> bool {
        let held = &self.held;
        held.bytes > self.bounds.0 || held.files > self.bounds.1 || held.too_deep
    }

    fn add(&mut self, meta: &fs::Metadata) {
        self.held.files += 1;
        let seen = !meta.is_dir() && meta.nlink() != 1;
        if !seen || self.linked.insert((meta.dev(), meta.ino())) {
            self.held.bytes += meta.blocks().saturating_mul(BLOCK);
        }
    }

    /// All below a folder. The job is at work in it: what is gone by the time it is looked at counts nothing.
    fn folder(&mut self, root: &Path) -> io::Result<()> {
        let mut way: Vec<(File, ReadDir)> = vec![entered(root)?];
        while let Some((folder, entries)) = way.last_mut() {
            let Some(entry) = entries.next() else {
                way.pop();
                continue;
            };
            let Some(entry) = unless_gone(entry)? else {
                continue;
            };
            let here = Open::path_of(folder).join(entry.file_name());
            let Some(meta) = unless_gone(fs::symlink_metadata(&here))? else {
                continue;
            };
            self.add(&meta);
            if meta.is_dir() {
                self.held.too_deep |= way.len() >= DEPTH;
                if !self.held.too_deep
                    && let Some(inner) = unless_gone(entered(&here))?
                {
                    way.push(inner);
                }
            }
            if self.is_beyond() {
                break;
            }
        }
        Ok(())
    }

    /// Files on a device that the job keeps and that no folder names.
    fn nameless(&mut self, device: u64, init: Option<Pid>) -> io::Result<()> {
        let found = nameless::find(device, init)?;
        for (inode, bytes) in found.files {
            // What had several names a moment ago has been counted with them.
            if self.linked.insert((device, inode)) {
                self.held.files += 1;
                self.held.bytes = self.held.bytes.saturating_add(bytes);
            }
        }
        self.held.blind |= found.blind;
        Ok(())
    }
}

/// Opens a folder of the job's to be read, also one that it closed to its owner.
fn entered(path: &Path) -> io::Result<(File, ReadDir)> {
    let folder = File::options()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(path)?;
    let here = Open::path_of(&folder);
    let entries = match fs::read_dir(&here) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = folder.metadata()?.permissions();
            fs::set_permissions(&here, fs::Permissions::from_mode(0o700))?;
            let entries = fs::read_dir(&here);
            fs::set_permissions(&here, mode)?;
            entries?
        }
        entries => entries?,
    };
    Ok((folder, entries))
}

/// `None` for what the job removed, or replaced, in the meantime.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied => Ok(None),
            _ if error.raw_os_error() == Some(libc::ELOOP) => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests;
