//! A copy of a job's checkpoint folder as it is now, while the job may be writing there.
//!
//! 1. All files that count are listed with their sizes and times; nothing follows a link.
//! 2. Each is read and hashed. One whose content is not kept yet is copied, and the copy hashed.
//! 3. The files are listed again. If anything is not as it was, the copy is of no moment that ever
//!    was: it is tried again a few times, then left to the next time.
//! 4. What earlier copies had and this one has not is removed; of one that failed, all that the
//!    last has not.
//!
//! The folder is the job's, and so hostile: files, bytes, depth and names are bounded before
//! anything is read.

use gridbay_protocol::checkpoint::{
    CHECKPOINT_BYTES, CHECKPOINT_FILES, MANIFEST_DEPTH, Manifest, name_counts,
};
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::{ContentHasher, InputFile};
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Times that a folder is looked at until it keeps still.
const LOOKS: u32 = 5;
/// Pause after a look at a folder that did not.
const PAUSE: Duration = Duration::from_millis(40);
/// Names of one checkpoint folder that are looked at, whether they count or not.
const NAMES: usize = 16 * CHECKPOINT_FILES;
/// Name of a copy that is being written.
const COPY: &str = ".copy";
/// Bytes read at once.
const PIECE: usize = 256 * 1024;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum SnapshotError {
    /// There is no folder, or nothing in it that counts.
    #[error("nothing is kept yet")]
    Nothing,
    /// Something changed whenever it was looked at.
    #[error("the folder changes all the time")]
    Restless,
    /// More than a checkpoint may have.
    #[error("the folder has {0}")]
    TooMuch(&'static str),
    /// This machine has no room for the copy.
    #[error("the copy does not fit on the disk")]
    NoRoom,
    #[error(transparent)]
    Disk(#[from] io::Error),
}

/// A copy.
#[derive(Debug)]
pub struct Taken {
    /// Its files.
    pub manifest: Manifest,
    /// When the newest of them was written.
    pub written: SystemTime,
}

/// Copies what is in `folder` below `work` into `kept`, one file a content, named by its hash: at
/// most `most` bytes of it. `fits` tells whether so many bytes more may be written.
///
/// # Errors
/// See [`SnapshotError`]. The last copy stays, and nothing else.
pub fn take(
    work: &Path,
    folder: &str,
    kept: &Path,
    most: u64,
    fits: impl Fn(u64) -> bool,
) -> Result<Taken, SnapshotError> {
    fs::create_dir_all(kept)?;
    // After each look all else is removed, so this is what the last copy has.
    let last = names(kept)?;
    let most = most.min(CHECKPOINT_BYTES);
    for look in 1..=LOOKS {
        let mut seen = last.clone();
        match look_once(work, folder, kept, most, &fits, &mut seen) {
            Err(SnapshotError::Restless) if look < LOOKS => {
                // The next look needs most of what this one copied, but nothing of those before.
                drop_others(kept, &seen)?;
                std::thread::sleep(PAUSE);
            }
            Err(error) => {
                drop_others(kept, &last)?;
                return Err(error);
            }
            taken => return taken,
        }
    }
    Err(SnapshotError::Restless)
}

/// The contents that are kept.
fn names(kept: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let paths = fs::read_dir(kept)?.map(|entry| Ok(entry?.path()));
    let half = kept.join(COPY);
    paths
        .filter(|p| !p.as_ref().is_ok_and(|p| *p == half))
        .collect()
}

/// A file as it was seen: it is the same while all of this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    executable: bool,
}

impl Stamp {
    fn of(meta: &Metadata) -> Stamp {
        Stamp {
            file: (meta.dev(), meta.ino()),
            bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            executable: meta.mode() & 0o100 != 0,
        }
    }
}

fn look_once(
    work: &Path,
    folder: &str,
    kept: &Path,
    most: u64,
    fits: &impl Fn(u64) -> bool,
    seen: &mut BTreeSet<PathBuf>,
) -> Result<Taken, SnapshotError> {
    let root = open_below(&File::open(work)?, Path::new(folder), OFlag::O_DIRECTORY);
    let root = root.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SnapshotError::Nothing,
        _ => SnapshotError::Disk(error),
    })?;
    let before = list(&root, most)?;
    if before.is_empty() {
        return Err(SnapshotError::Nothing);
    }
    let mut manifest = Manifest::default();
    let mut written = SystemTime::UNIX_EPOCH;
    for (path, stamp) in &before {
        let content = keep(&root, path, stamp, kept, fits)?;
        seen.insert(kept.join(content.to_hex()));
        manifest.files.push(InputFile {
            path: path.clone(),
            content,
            bytes: stamp.bytes,
            executable: stamp.executable,
        });
        written = written.max(time_of(stamp.modified));
    }
    if list(&root, most)? != before {
        return Err(SnapshotError::Restless);
    }
    if !manifest.is_valid() {
        return Err(SnapshotError::TooMuch("names that are too long"));
    }
    let files = manifest.files.iter();
    let needed = files.map(|f| kept.join(f.content.to_hex())).collect();
    drop_others(kept, &needed)?;
    Ok(Taken { manifest, written })
}

fn time_of((seconds, nanos): (i64, i64)) -> SystemTime {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let nanos = u32::try_from(nanos).unwrap_or(0);
    let since = Duration::new(seconds, nanos.min(999_999_999));
    SystemTime::UNIX_EPOCH
        .checked_add(since)
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// All files that count, by path. Links, pipes, sockets and devices do not.
fn list(root: &File, most: u64) -> Result<BTreeMap<String, Stamp>, SnapshotError> {
    let mut found = BTreeMap::new();
    let (mut names, mut bytes) = (0, 0u64);
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let opened = match folder.as_str() {
            "" => root.try_clone(),
            path => open_below(root, Path::new(path), OFlag::O_DIRECTORY),
        };
        let opened = opened.map_err(restless)?;
        // By its descriptor: the path of one that was moved away would lead elsewhere.
        for entry in fs::read_dir(format!("/proc/self/fd/{}", opened.as_raw_fd()))? {
            let entry = entry?;
            names += 1;
            if names > NAMES {
                return Err(SnapshotError::TooMuch("too many names"));
            }
            // A name that is no text cannot be told.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !name_counts(&name) {
                continue;
            }
            let path = match folder.as_str() {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            let meta = entry.metadata().map_err(restless)?;
            if meta.is_dir() {
                if path.split('/').count() >= MANIFEST_DEPTH {
                    return Err(SnapshotError::TooMuch("folders too deep in one another"));
                }
                folders.push(path);
            } else if meta.is_file() {
                bytes = bytes.saturating_add(meta.len());
                found.insert(path, Stamp::of(&meta));
            }
            if found.len() > CHECKPOINT_FILES {
                return Err(SnapshotError::TooMuch("too many files"));
            }
            if bytes > most {
                return Err(SnapshotError::TooMuch("too many bytes"));
            }
        }
    }
    Ok(found)
}

/// What is gone when its turn comes was moved meanwhile.
fn restless(error: io::Error) -> SnapshotError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SnapshotError::Restless,
        _ => SnapshotError::Disk(error),
    }
}

/// Hashes a file, and copies it if its content is not kept.
fn keep(
    root: &File,
    path: &str,
    stamp: &Stamp,
    kept: &Path,
    fits: &impl Fn(u64) -> bool,
) -> Result<ContentId, SnapshotError> {
    let content = read(root, path, stamp, |_| Ok(()))?;
    let place = kept.join(content.to_hex());
    if place.exists() {
        return Ok(content);
    }
    if !fits(stamp.bytes) {
        return Err(SnapshotError::NoRoom);
    }
    let copy = kept.join(COPY);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&copy)?;
    if read(root, path, stamp, |piece| file.write_all(piece))? != content {
        return Err(SnapshotError::Restless);
    }
    fs::rename(&copy, &place)?;
    Ok(content)
}

/// Reads a file that is as it was seen.
fn read(
    root: &File,
    path: &str,
    stamp: &Stamp,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<ContentId, SnapshotError> {
    let opened = open_below(root, Path::new(path), OFlag::O_NONBLOCK);
    let mut file = opened.map_err(restless)?;
    if Stamp::of(&file.metadata()?) != *stamp {
        return Err(SnapshotError::Restless);
    }
    let mut hasher = ContentHasher::new(stamp.bytes);
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        let read = piece.get(..count).unwrap_or_default();
        if count == 0 {
            break;
        }
        // One that grows is not read to an end that it may not have.
        if !hasher.update(read) {
            return Err(SnapshotError::Restless);
        }
        take(read)?;
    }
    if Stamp::of(&file.metadata()?) != *stamp {
        return Err(SnapshotError::Restless);
    }
    hasher.finish().ok_or(SnapshotError::Restless)
}

/// The kernel follows no link on the way, and leaves neither the folder nor its file system.
fn open_below(folder: &File, path: &Path, more: OFlag) -> io::Result<File> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | more)
        .resolve(
            ResolveFlag::RESOLVE_BENEATH
                | ResolveFlag::RESOLVE_NO_SYMLINKS
                | ResolveFlag::RESOLVE_NO_XDEV,
        );
    Ok(File::from(openat2(folder, path, how)?))
}

fn drop_others(kept: &Path, needed: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(kept)? {
        let path = entry?.path();
        if !needed.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
