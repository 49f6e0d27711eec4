//! A copy of a job's checkpoint folder as it is now, while the job may be writing there.
//!
//! 1. All files that count are listed with their sizes and times; nothing follows a link.
//! 2. Each is read and hashed. One whose content is not kept yet is copied, and the copy hashed.
//! 3. The files are listed again. If anything is not as it was, the copy is of no moment that ever
//!    was: it is tried again a few times, then left to the next time.
//! 4. What earlier copies had and this one has not is removed.
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

/// Copies what is in `folder` below `work` into `kept`, one file a content, named by its hash.
/// `fits` tells whether so many bytes more may be written.
///
/// # Errors
/// See [`SnapshotError`]. What was copied before stays.
pub fn take(
    work: &Path,
    folder: &str,
    kept: &Path,
    fits: impl Fn(u64) -> bool,
) -> Result<Taken, SnapshotError> {
    fs::create_dir_all(kept)?;
    for look in 1..=LOOKS {
        match look_once(work, folder, kept, &fits) {
            Err(SnapshotError::Restless) if look < LOOKS => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
    Err(SnapshotError::Restless)
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
    fits: &impl Fn(u64) -> bool,
) -> Result<Taken, SnapshotError> {
    let root = open_below(&File::open(work)?, Path::new(folder), OFlag::O_DIRECTORY);
    let root = root.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SnapshotError::Nothing,
        _ => SnapshotError::Disk(error),
    })?;
    let before = list(&root)?;
    if before.is_empty() {
        return Err(SnapshotError::Nothing);
    }
    let mut manifest = Manifest::default();
    let mut written = SystemTime::UNIX_EPOCH;
    for (path, stamp) in &before {
        let content = keep(&root, path, stamp, kept, fits)?;
        manifest.files.push(InputFile {
            path: path.clone(),
            content,
            bytes: stamp.bytes,
            executable: stamp.executable,
        });
        written = written.max(time_of(stamp.modified));
    }
    if list(&root)? != before {
        return Err(SnapshotError::Restless);
    }
    if !manifest.is_valid() {
        return Err(SnapshotError::TooMuch("names that are too long"));
    }
    drop_others(kept, &manifest)?;
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
fn list(root: &File) -> Result<BTreeMap<String, Stamp>, SnapshotError> {
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
            if bytes > CHECKPOINT_BYTES {
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
    let copy = kept.join(".copy");
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

fn drop_others(kept: &Path, manifest: &Manifest) -> io::Result<()> {
    let needed: BTreeSet<PathBuf> = manifest
        .files
        .iter()
        .map(|f| kept.join(f.content.to_hex()))
        .collect();
    for entry in fs::read_dir(kept)? {
        let path = entry?.path();
        if !needed.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::job::content_id;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("work/ckpt")).unwrap();
            fs::write(dir.path().join("secret"), "secret").unwrap();
            Place(dir)
        }
        fn file(&self, path: &str) -> PathBuf {
            self.0.path().join("work/ckpt").join(path)
        }
        fn take(&self) -> Result<Taken, SnapshotError> {
            let (work, kept) = (self.0.path().join("work"), self.0.path().join("kept"));
            take(&work, "ckpt", &kept, |_| true)
        }
        fn kept(&self) -> usize {
            fs::read_dir(self.0.path().join("kept")).unwrap().count()
        }
    }

    fn paths(taken: &Taken) -> Vec<&str> {
        let files = taken.manifest.files.iter();
        files.map(|f| f.path.as_str()).collect()
    }

    #[test]
    fn what_is_whole_is_copied_once_and_what_is_gone_is_dropped() {
        let place = Place::new();
        assert!(matches!(place.take(), Err(SnapshotError::Nothing)));
        fs::create_dir(place.file("deep")).unwrap();
        for name in ["b", "a", "deep/c", ".hidden", "half.tmp"] {
            fs::write(place.file(name), name).unwrap();
        }
        fs::create_dir(place.file("half-folder.tmp")).unwrap();
        fs::write(place.file("half-folder.tmp/d"), "d").unwrap();
        fs::set_permissions(place.file("a"), fs::Permissions::from_mode(0o755)).unwrap();
        let taken = place.take().unwrap();
        assert_eq!(paths(&taken), ["a", "b", "deep/c"]);
        let first = &taken.manifest.files[0];
        assert_eq!((first.content, first.bytes), (content_id(b"a"), 1));
        assert!(first.executable && !taken.manifest.files[1].executable);
        let copy = place.0.path().join("kept").join(first.content.to_hex());
        assert_eq!(fs::read(&copy).unwrap(), b"a");
        let made = fs::metadata(&copy).unwrap().modified().unwrap();
        // Nothing changed: the same manifest, and the copies are those that were there.
        assert_eq!(place.take().unwrap().manifest, taken.manifest);
        assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), made);
        fs::rename(place.file("half.tmp"), place.file("b")).unwrap();
        let next = place.take().unwrap();
        assert_eq!(next.manifest.files[1].content, content_id(b"half.tmp"));
        assert_eq!(place.kept(), 3, "the old b is dropped");
        assert!(next.written <= SystemTime::now());
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let place = Place::new();
        let outside = place.0.path().to_path_buf();
        symlink(outside.join("secret"), place.file("link")).unwrap();
        symlink(&outside, place.file("up")).unwrap();
        let pipe = place.file("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(matches!(place.take(), Err(SnapshotError::Nothing)));
        fs::write(place.file("fine"), "f").unwrap();
        assert_eq!(paths(&place.take().unwrap()), ["fine"]);
        // The folder itself may be one.
        let work = outside.join("work");
        fs::rename(work.join("ckpt"), work.join("real")).unwrap();
        symlink(&outside, work.join("ckpt")).unwrap();
        assert!(matches!(place.take(), Err(SnapshotError::Disk(_))));
    }

    #[test]
    fn a_folder_without_end_is_refused() {
        let place = Place::new();
        for n in 0..=CHECKPOINT_FILES {
            fs::write(place.file(&n.to_string()), "").unwrap();
        }
        let many = place.take();
        assert!(matches!(
            many,
            Err(SnapshotError::TooMuch("too many files"))
        ));
        let place = Place::new();
        let large = File::create(place.file("large")).unwrap();
        large.set_len(CHECKPOINT_BYTES + 1).unwrap();
        let large = place.take();
        assert!(matches!(
            large,
            Err(SnapshotError::TooMuch("too many bytes"))
        ));
        let place = Place::new();
        fs::create_dir_all(place.file(&["d"; MANIFEST_DEPTH + 1].join("/"))).unwrap();
        assert!(matches!(place.take(), Err(SnapshotError::TooMuch(_))));
        let place = Place::new();
        fs::write(place.file("a"), "a").unwrap();
        let (work, kept) = (place.0.path().join("work"), place.0.path().join("kept"));
        let full = take(&work, "ckpt", &kept, |_| false);
        assert!(matches!(full, Err(SnapshotError::NoRoom)));
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_makes_no_copy() {
        let place = Place::new();
        fs::write(place.file("a"), "a").unwrap();
        let root = File::open(place.file("")).unwrap();
        let seen = list(&root).unwrap();
        let stamp = seen["a"];
        let mut grown = OpenOptions::new()
            .append(true)
            .open(place.file("a"))
            .unwrap();
        let read_now = |stamp: &Stamp| read(&root, "a", stamp, |_| Ok(()));
        assert!(read_now(&stamp).is_ok());
        grown.write_all(b"b").unwrap();
        assert!(matches!(read_now(&stamp), Err(SnapshotError::Restless)));
        // It grows between its pieces.
        let stamp = list(&root).unwrap()["a"];
        let growing = read(&root, "a", &stamp, |_| grown.write_all(b"c"));
        assert!(matches!(growing, Err(SnapshotError::Restless)));
        assert_ne!(list(&root).unwrap(), seen);
        // Renamed into its place is another file.
        fs::write(place.file("a.tmp"), "abc").unwrap();
        fs::rename(place.file("a.tmp"), place.file("a")).unwrap();
        assert!(matches!(read_now(&stamp), Err(SnapshotError::Restless)));
    }
}
