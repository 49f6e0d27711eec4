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

use std::collections::BTreeSet;
use std::fs::{self, File, ReadDir};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::{Statvfs, statvfs};

use super::super::outcome::KillReason;
use super::super::removal::Open;
use super::tree;

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
/// Near the floor of the machine's room those jobs end first that hold so much of their limit.
const MUCH: u64 = 8;
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
    pub(super) fn new(roots: [PathBuf; 2], bytes: u64, floor: u64) -> Disk {
        Disk {
            roots,
            bytes,
            files: files_for(bytes),
            floor,
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
        let (free, short) = (free_of(&found), self.is_short(&found));
        if self.is_due(now, free, short) {
            self.held = measure(&self.roots, self.bytes, self.files)?;
            self.free = free;
            self.counted = Some(now);
            self.rest = (now.elapsed() * SHARE).min(COUNT);
        }
        let room = self.bytes.saturating_sub(self.held.bytes);
        let above = free.0.saturating_sub(self.floor);
        let until = Duration::from_millis(room.min(above) * 500 / FASTEST);
        self.next = Instant::now() + until.clamp(LOOK.0, LOOK.1);
        Ok(self.verdict(&found, short))
    }

    /// Counts once more, of a job that is over: whether it holds more than its limit. What cannot be counted is not
    /// held against it.
    pub(super) fn count(&mut self) -> Option<KillReason> {
        self.held = measure(&self.roots, self.bytes, self.files).unwrap_or_default();
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

    fn is_short(&self, found: &Statvfs) -> bool {
        self.floor > 0 && free_of(found).0 < self.floor
    }

    fn verdict(&self, found: &Statvfs, short: bool) -> Option<KillReason> {
        if self.is_beyond() {
            return Some(KillReason::Disk);
        }
        let free = free_of(found).0;
        let holds_much = self.held.bytes >= self.bytes / MUCH;
        (short && (holds_much || free < self.floor / 2)).then_some(KillReason::NoRoom)
    }
}

/// Free bytes and free files of a file system, as an ordinary user has them.
fn free_of(found: &Statvfs) -> (u64, u64) {
    let bytes = found
        .blocks_available()
        .saturating_mul(found.fragment_size());
    (bytes, found.files_available())
}

/// Counts what lies below some folders and what this process's descendants keep open without a name; stops once it is
/// beyond the bounds.
fn measure(roots: &[PathBuf], bytes: u64, files: u64) -> io::Result<Held> {
    let mut count = Count::within(bytes, files);
    for root in roots {
        count.folder(root)?;
    }
    if !count.is_beyond() {
        count.nameless(fs::metadata(&roots[0])?.dev())?;
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

    /// Files on a device that the job has open and that no folder names.
    fn nameless(&mut self, device: u64) -> io::Result<()> {
        for pid in tree::descendants()? {
            let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else {
                continue;
            };
            for fd in open.flatten() {
                let Ok(meta) = fs::metadata(fd.path()) else {
                    continue;
                };
                if meta.is_file() && meta.nlink() == 0 && meta.dev() == device {
                    self.add(&meta);
                }
            }
        }
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
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const MIB: usize = 1 << 20;

    fn held(root: &Path, bytes: u64, files: u64) -> Held {
        let mut count = Count::within(bytes, files);
        count.folder(root).unwrap();
        count.held
    }

    #[test]
    fn bytes_count_once_and_holes_and_links_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::write(root.join("file"), vec![1; MIB]).unwrap();
        fs::hard_link(root.join("file"), root.join("again")).unwrap();
        symlink("/usr", root.join("usr")).unwrap();
        let hole = File::create(root.join("hole")).unwrap();
        hole.set_len(1 << 40).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), vec![1; MIB]).unwrap();
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
        let found = held(root, u64::MAX, u64::MAX);
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!((found.files, found.too_deep), (7, false));
        let about = 2 * MIB as u64..=2 * MIB as u64 + 256 * 1024;
        assert!(about.contains(&found.bytes), "{found:?}");
    }

    #[test]
    fn a_file_that_only_a_process_holds_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let script = "exec 3>file && rm file && head -c 4194304 /dev/zero >&3 && echo done && cat";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(dir.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 5];
        io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        assert!(!path.exists());
        let roots = [dir.path().to_path_buf()];
        let found = measure(&roots, u64::MAX, u64::MAX).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(found.bytes >= 4 << 20, "{found:?}");
    }

    #[test]
    fn counting_ends_beyond_the_bounds_and_at_a_depth() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..50 {
            fs::write(dir.path().join(name.to_string()), vec![1; 8192]).unwrap();
        }
        let few = held(dir.path(), u64::MAX, 9);
        assert_eq!(few.files, 10);
        let small = held(dir.path(), 40_000, u64::MAX);
        assert!(small.files < 50 && small.bytes > 40_000, "{small:?}");
        let deep = dir.path().join("d/".repeat(DEPTH + 1));
        fs::create_dir_all(deep).unwrap();
        assert!(held(dir.path(), u64::MAX, u64::MAX).too_deep);
    }

    #[test]
    fn the_less_room_the_sooner_the_next_look() {
        let dir = tempfile::tempdir().unwrap();
        let wait = |bytes| {
            let roots = [dir.path().to_path_buf(), dir.path().to_path_buf()];
            let mut disk = Disk::new(roots, bytes, 0);
            assert_eq!(disk.look(Instant::now()).unwrap(), None);
            disk.next() - Instant::now()
        };
        assert!(wait(64 << 20) <= Duration::from_millis(16));
        assert!(wait(1 << 30) > Duration::from_millis(100));
    }
}
