//! Watches the disk that a job holds: the kernel bounds single files, this module bounds their sum.
//!
//! A look is cheap, a count is not, so:
//!
//! 1. every few milliseconds the file system is asked how much of it is free; the pause follows
//!    from how much the job may still write, and from how fast it could at [`FASTEST`];
//! 2. once enough has gone to matter, or some seconds have passed, the job's folders are counted,
//!    and the files that it keeps open without a name; a count is not repeated before ten times its
//!    own duration;
//! 3. beyond its limit, or where the machine itself runs out of room, the job is ended and its
//!    files are removed.
//!
//! A count follows nested folders [`super::walk::DEPTH`] deep: a job that nests deeper is beyond
//! its limit, as is one that hides something from the count. Bytes are those that the disk gave, so
//! holes count nothing and links to one file once.
//!
//! Where a job has a quota of the kernel ([`quota`]), that tells all that the job has. A count adds
//! only what nests too deep then, and nothing of what follows is needed.
//!
//! A job can move files behind a count's back. Room that the disk lost and the counts do not
//! explain is a doubt. When it could matter, and every [`DOUBT`] anyway, the job's processes are at
//! rest ([`Still`]) while it is counted again. A count during which they did not all rest settles
//! no doubt and is blind; a job that makes itself go on each time hides.
//!
//! Where a count cannot see all that a job keeps ([`nameless`]), the job is suspected of the
//! unexplained loss of the disk since the last count that saw all. A suspicion alone ends no job
//! while the machine has room. Where it has none, jobs end in this order: at the floor, those that
//! exceed their limit with the suspected part; then the others, and a job that took more of its
//! allowance ends earlier ([`WITHIN`]).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::{Statvfs, statvfs};
use nix::unistd::Pid;

use super::super::job::files_for;
use super::super::outcome::KillReason;
use super::super::quota::{self, Size};
use super::nameless;
use super::still::{Rest, Still};
use super::walk::Walk;

/// Bytes a second that a job may write at the most, as far as the watching is concerned: memory's
/// speed, for what is written lies there first.
const FASTEST: u64 = 2 << 30;
/// Shortest and longest time between two looks.
const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// Longest time between two counts of a job that writes nothing: others may give back what it
/// takes.
const COUNT: Duration = Duration::from_secs(5);
/// After a count there is none for so many times as long as it took, but no longer than [`COUNT`]
/// or [`LEAST`]; and no rest for so many times as long as the last one.
const SHARE: u32 = 10;
/// After a count there is none for so many times as long as it took at the least.
const LEAST: u32 = 3;
/// Parts of the floor, in eighths, below which jobs within their limit end: those that took
/// nothing, and those that took all of it. The first is above the quarter at which the node gives
/// its reserve back.
const WITHIN: (u64, u64) = (3, 6);
/// Longest and shortest time between two counts of a job at rest.
const DOUBT: Duration = Duration::from_secs(60);
const CALM: Duration = Duration::from_secs(1);
/// A job that made itself go on at so many rests in a row hides something.
const TRIES: u32 = 3;
/// After so many files a count looks whether there is room left.
const STEP: u64 = 256;
/// What `st_blocks` counts, in bytes.
const BLOCK: u64 = 512;

/// The disk that a job holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes that the disk gave for it.
    pub(super) bytes: u64,
    /// Files, folders and links.
    pub(super) files: u64,
    /// Whether it nests deeper than is counted.
    pub(super) too_deep: bool,
    /// Whether it keeps something from being looked at.
    pub(super) hidden: bool,
    /// Whether the count ended early, for the room was running out.
    pub(super) cut: bool,
    /// Whether it may hold more than could be counted.
    pub(super) blind: bool,
}

impl Held {
    /// The same, by a quota that counts so much. It misses nothing.
    fn by_quota(mut self, used: Size) -> Held {
        self.bytes = self.bytes.max(used.bytes);
        self.files = self.files.max(used.files);
        self.blind = false;
        self
    }
}

/// The watch over one job.
pub(super) struct Disk {
    /// A folder that shows the file system as it is: one with a quota shows its limit.
    around: PathBuf,
    roots: [PathBuf; 2],
    /// Whether the job has a quota of the kernel.
    quota: bool,
    bytes: u64,
    files: u64,
    /// Free bytes of the file system below which jobs end.
    floor: u64,
    /// A process below this one that is not the job's.
    init: Option<Pid>,
    /// Bytes that the job may hold besides what was counted.
    suspected: u64,
    /// Bytes that the disk lost and no count of this job explains, since it was counted at rest.
    doubt: u64,
    /// When the last rest ended, and how long it was.
    rested: (Instant, Duration),
    /// Rests in a row at which the job made itself go on.
    restless: u32,
    /// The last count, and how much was free then.
    held: Held,
    free: (u64, u64),
    counted: Option<Instant>,
    rest: Duration,
    /// When to look next.
    next: Instant,
}

impl Disk {
    /// Over the folders of a job that may hold so many bytes, on a machine that keeps `floor` bytes
    /// free. `around` is the folder that they are in, `init` a process below this one that is not
    /// the job's.
    pub(super) fn new(
        around: &Path,
        roots: [PathBuf; 2],
        bytes: u64,
        floor: u64,
        init: Option<Pid>,
    ) -> Disk {
        Disk {
            quota: quota::is_there(&roots[0], around),
            around: around.to_path_buf(),
            roots,
            bytes,
            files: files_for(bytes),
            floor,
            init,
            suspected: 0,
            doubt: 0,
            rested: (Instant::now(), Duration::ZERO),
            restless: 0,
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
        let found = statvfs(&self.around)?;
        let free = free_of(&found);
        let short = free.0 < self.floor;
        if self.is_due(now, free, short) {
            let mut held = self.measure(self.floor / 2)?;
            if !self.quota && self.doubts(&held, free, short) {
                held = self.measure_at_rest()?;
            }
            self.take(held, free);
            self.counted = Some(Instant::now());
            self.rest = pause_after(now.elapsed());
        }
        let room = self.bytes.saturating_sub(self.held.bytes);
        let above = free.0.saturating_sub(self.floor);
        let until = Duration::from_millis(room.min(above) * 500 / FASTEST);
        self.next = Instant::now() + until.clamp(LOOK.0, LOOK.1);
        // Counting takes its time.
        Ok(self.verdict(free_of(&statvfs(&self.around)?).0))
    }

    /// Whether a count may have missed what matters.
    fn doubts(&mut self, held: &Held, free: (u64, u64), short: bool) -> bool {
        let lost = self.free.0.saturating_sub(free.0);
        let grown = held.bytes.saturating_sub(self.held.bytes);
        self.doubt = self.doubt.saturating_add(lost.saturating_sub(grown));
        let room = self.bytes.saturating_sub(held.bytes);
        let (end, long) = self.rested;
        let since = end.elapsed();
        if since < long * SHARE {
            return false;
        }
        let matters = room > 0 && self.doubt > room / 4 && (since >= CALM || short);
        let again = self.restless > 0 && since >= CALM;
        matters || again || since >= DOUBT
    }

    /// Counts while the job's processes are at rest.
    fn measure_at_rest(&mut self) -> io::Result<Held> {
        let begin = Instant::now();
        let still = Still::of(self.init)?;
        let held = self.measure(self.floor / 2)?;
        let rest = still.rest()?;
        drop(still);
        self.rested = (Instant::now(), begin.elapsed());
        Ok(self.judge(held, rest))
    }

    /// The worth of a count, by how the job's processes rested meanwhile.
    fn judge(&mut self, mut held: Held, rest: Rest) -> Held {
        match rest {
            Rest::Whole => (self.doubt, self.restless) = (0, 0),
            Rest::Late => held.blind = true,
            Rest::Broken => {
                held.blind = true;
                self.restless += 1;
            }
        }
        held.hidden |= self.restless >= TRIES;
        held
    }

    /// Takes note of a count, and of how much was free before it.
    fn take(&mut self, mut held: Held, free: (u64, u64)) {
        if held.cut {
            held.bytes = held.bytes.max(self.held.bytes);
            held.files = held.files.max(self.held.files);
        }
        let lost = self.free.0.saturating_sub(free.0);
        let grown = held.bytes.saturating_sub(self.held.bytes);
        self.suspected = match (held.blind, held.cut) {
            (true, _) => self.suspected.saturating_add(lost.saturating_sub(grown)),
            // It has not seen all, but that is no fault of the job's.
            (false, true) => self.suspected,
            (false, false) => 0,
        };
        (self.held, self.free) = (held, free);
    }

    /// Counts once more, of a job that is over: whether it holds more than its limit. Files that
    /// cannot be counted are not held against it.
    pub(super) fn count(&mut self) -> Option<KillReason> {
        self.held = self.measure(0).unwrap_or_default();
        self.is_beyond().then_some(KillReason::Disk)
    }

    fn is_beyond(&self) -> bool {
        let held = &self.held;
        held.bytes > self.bytes || held.files > self.files || held.too_deep || held.hidden
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

    /// Counts, unless there are fewer free bytes than so many.
    fn measure(&self, line: u64) -> io::Result<Held> {
        let mut count = Count::within(self.bytes, self.files);
        count.line = Some((&self.around, line));
        let held = count.all(&self.roots, self.init)?;
        Ok(match quota::used(&self.roots[0], &self.around)? {
            Some(used) => held.by_quota(used),
            None => held,
        })
    }
}

/// How long there is no count after one that took so long.
fn pause_after(took: Duration) -> Duration {
    (took * SHARE).min(COUNT.max(took * LEAST))
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

struct Count<'a> {
    held: Held,
    /// Files with several names that were seen.
    linked: BTreeSet<(u64, u64)>,
    bounds: (u64, u64),
    /// Free bytes of a folder's file system below which the count ends.
    line: Option<(&'a Path, u64)>,
}

impl Count<'_> {
    fn within(bytes: u64, files: u64) -> Self {
        Count {
            held: Held::default(),
            linked: BTreeSet::new(),
            bounds: (bytes, files),
            line: None,
        }
    }

    /// Counts what lies below some folders and what this process's descendants but `init` keep
    /// without a name; stops once it is beyond the bounds.
    fn all(mut self, roots: &[PathBuf], init: Option<Pid>) -> io::Result<Held> {
        for root in roots {
            self.folder(root)?;
        }
        if !self.is_over() {
            self.nameless(&roots[0], init)?;
        }
        Ok(self.held)
    }

    fn is_short(&self) -> bool {
        self.line.is_some_and(|(folder, line)| {
            line > 0 && statvfs(folder).is_ok_and(|found| free_of(&found).0 < line)
        })
    }

    fn is_over(&self) -> bool {
        self.is_beyond() || self.held.cut
    }

    fn is_beyond(&self) -> bool {
        let held = &self.held;
        held.bytes > self.bounds.0 || held.files > self.bounds.1 || held.too_deep || held.hidden
    }

    fn add(&mut self, meta: &fs::Metadata) {
        self.held.files += 1;
        let seen = !meta.is_dir() && meta.nlink() != 1;
        if !seen || self.linked.insert((meta.dev(), meta.ino())) {
            self.held.bytes += meta.blocks().saturating_mul(BLOCK);
        }
    }

    /// All below a folder.
    fn folder(&mut self, root: &Path) -> io::Result<()> {
        let mut walk = Walk::of(root)?;
        while let Some(meta) = walk.next()? {
            self.add(&meta);
            self.held.too_deep |= walk.too_deep;
            self.held.hidden |= walk.hidden;
            self.held.cut = self.held.files.is_multiple_of(STEP) && self.is_short();
            if self.is_over() {
                break;
            }
        }
        self.held.hidden |= walk.hidden;
        Ok(())
    }

    /// Files on a device that the job keeps and that no folder names.
    fn nameless(&mut self, root: &Path, init: Option<Pid>) -> io::Result<()> {
        let device = fs::metadata(root)?.dev();
        let found = nameless::find(device, init, || self.is_short())?;
        self.held.cut = found.cut;
        for (inode, bytes) in found.files {
            // A file that had several names a moment ago has been counted with them.
            if self.linked.insert((device, inode)) {
                self.held.files += 1;
                self.held.bytes = self.held.bytes.saturating_add(bytes);
            }
        }
        self.held.blind |= found.blind;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
