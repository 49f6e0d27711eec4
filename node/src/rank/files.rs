//! Files and folders on their way between a rank and whoever commands it, in either direction.
//!
//! 1. The sender lists what there is, folders before what is in them, and sends items one after
//!    the other: a head ([`Item`]), and the bytes.
//! 2. The receiver writes each file under another name, and gives it its own once it is whole.
//! 3. After a cut the sender goes on behind what the receiver has. A file that was changed
//!    meanwhile begins anew.
//! 4. The receiver trusts no path: none leads out of its folder, neither by its words nor by a
//!    symbolic link on the way. Links are not sent.
//! 5. A receiver that asked for files ([`Receiver::asked`]) takes these and no others, and no more
//!    bytes than it wants.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use gridbay_protocol::ids::to_hex;
use gridbay_protocol::job::path_is_inside;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::order::{Id, Item};
use super::wire::{DATA, Kind, write_frame};

/// Files and folders of one transfer at the most.
const ITEMS: usize = 1 << 20;
/// Bytes of the paths of folders that one transfer makes, at the most.
const PATHS: usize = 64 << 20;
/// Permission bits that are carried: nobody but its owner may write to what comes from elsewhere.
const MODE: u32 = 0o755;

/// A file or folder to send.
pub(crate) struct Entry {
    /// Path at the receiver.
    path: String,
    place: PathBuf,
}

/// What lies at a place, to be called `name` (empty: what lies in the folder, without it). The
/// second list tells what is left out, and why.
pub(crate) fn list(place: &Path, name: &str) -> io::Result<(Vec<Entry>, Vec<String>)> {
    let (mut found, mut left, mut next) = (Vec::new(), Vec::new(), Vec::new());
    next.push((name.to_owned(), place.to_owned()));
    while let Some((path, place)) = next.pop() {
        // What is named may be a link; what is found below is taken for what it is.
        let kind = match path == name {
            true => fs::metadata(&place)?.file_type(),
            false => fs::symlink_metadata(&place)?.file_type(),
        };
        if kind.is_dir() {
            let mut inner = Vec::new();
            for entry in fs::read_dir(&place)? {
                let entry = entry?;
                match entry.file_name().into_string() {
                    Ok(name) if path.is_empty() => inner.push((name, entry.path())),
                    Ok(name) => inner.push((format!("{path}/{name}"), entry.path())),
                    Err(_) => left.push(format!("{}: its name is no text", entry.path().display())),
                }
            }
            inner.sort_unstable_by(|a, b| b.cmp(a));
            next.extend(inner);
        } else if !kind.is_file() {
            let what = if kind.is_symlink() {
                "a link"
            } else {
                "no file"
            };
            left.push(format!("{}: {what}", place.display()));
            continue;
        }
        if !path.is_empty() {
            found.push(Entry { path, place });
        }
        if found.len() > ITEMS {
            return Err(io::Error::other(format!("more than {ITEMS} files")));
        }
    }
    Ok((found, left))
}

impl Entry {
    fn open(&self) -> io::Result<(Item, Option<File>)> {
        let meta = fs::metadata(&self.place)?;
        let seconds = u64::try_from(meta.mtime()).unwrap_or(0);
        let nanos = u64::try_from(meta.mtime_nsec()).unwrap_or(0);
        let file = match meta.is_dir() {
            true => None,
            false => Some(File::open(&self.place)?),
        };
        let item = Item {
            path: self.path.clone(),
            mode: meta.mode() & MODE,
            bytes: file.is_some().then_some(meta.len()),
            changed: seconds.saturating_mul(1_000_000_000).saturating_add(nanos),
            from: 0,
        };
        Ok((item, file))
    }
}

/// Sends entries behind what the receiver has: whole ones, and a part of the next, as the item was
/// when that was sent. `told` learns of each item that begins.
///
/// # Errors
/// The connection is cut, or a file cannot be read or changes; the second value is true then.
pub(crate) fn send(
    mut to: impl Write,
    entries: &[Entry],
    whole: u64,
    part: Option<(&Item, u64)>,
    mut told: impl FnMut(u64, &Item),
) -> Result<(), (io::Error, bool)> {
    let mut buffer = vec![0; 5 + DATA];
    let mut part = part;
    for (number, entry) in (0_u64..)
        .zip(entries)
        .skip(usize::try_from(whole).unwrap_or(usize::MAX))
    {
        let failed = |e: io::Error| {
            (
                io::Error::new(e.kind(), format!("{}: {e}", entry.path)),
                true,
            )
        };
        let (mut item, file) = entry.open().map_err(failed)?;
        let same = |(had, bytes): &(&Item, u64)| {
            (had.path == item.path && had.changed == item.changed && had.bytes == item.bytes)
                .then_some(*bytes)
        };
        item.from = part.take().as_ref().and_then(same).unwrap_or(0);
        told(number, &item);
        let head = serde_json::to_vec(&item).map_err(|e| failed(e.into()))?;
        write_frame(&mut to, Kind::Item, &head).map_err(|e| (e, false))?;
        let (Some(mut file), Some(bytes)) = (file, item.bytes) else {
            continue;
        };
        file.seek(SeekFrom::Start(item.from)).map_err(failed)?;
        let mut left = bytes.saturating_sub(item.from);
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(DATA).min(DATA);
            let count = file.read(&mut buffer[5..5 + most]).map_err(failed)?;
            if count == 0 {
                return Err(failed(io::Error::other("it became shorter meanwhile")));
            }
            buffer[0] = Kind::Data as u8;
            buffer[1..5].copy_from_slice(&(count as u32).to_be_bytes());
            to.write_all(&buffer[..5 + count]).map_err(|e| (e, false))?;
            left -= count as u64;
        }
    }
    write_frame(&mut to, Kind::Done, &[]).map_err(|e| (e, false))
}

/// The receiving end of a transfer.
pub(crate) struct Receiver {
    folder: OwnedFd,
    /// The name in the place of the first word of each path.
    name: Option<String>,
    /// What the first word of each path may be; anything if `None`.
    asked: Option<BTreeSet<String>>,
    id: Id,
    items: u64,
    /// Bytes that it still takes.
    room: u64,
    open: Option<Open>,
    /// Folders that it made, which get their modes when all is in them; and bytes of their paths.
    modes: Vec<(String, u32)>,
    paths: usize,
}

/// A file that is not whole yet.
struct Open {
    item: Item,
    file: File,
    parent: OwnedFd,
    /// Its name now, and in the end.
    beside: String,
    name: String,
    bytes: u64,
}

impl Receiver {
    /// Puts things into a folder, which is made if it is not there. With a `name` the first word of
    /// each path is that.
    pub(crate) fn new(folder: &Path, name: Option<String>, id: Id) -> io::Result<Receiver> {
        fs::create_dir_all(folder)?;
        Ok(Receiver {
            folder: File::open(folder)?.into(),
            name,
            asked: None,
            id,
            items: 0,
            room: u64::MAX,
            open: None,
            modes: Vec::new(),
            paths: 0,
        })
    }

    /// Puts things into a folder that were asked for by their paths, at most so many bytes. A path
    /// without a name asks for all that lies in a folder, which may have any name.
    ///
    /// # Errors
    /// All is asked for, and something is in the folder already, which it might replace.
    pub(crate) fn asked(
        folder: &Path,
        paths: &[String],
        id: Id,
        most: u64,
    ) -> io::Result<Receiver> {
        let mut receiver = Receiver::new(folder, None, id)?;
        receiver.asked = paths.iter().map(|path| last_word(path)).collect();
        receiver.room = most;
        if receiver.asked.is_none() && fs::read_dir(folder)?.next().is_some() {
            let why = "it is not empty, and a whole folder may bring anything";
            return Err(io::Error::other(why));
        }
        Ok(receiver)
    }

    /// Whole items, and the one that is under way with its bytes.
    pub(crate) fn has(&self) -> (u64, Option<(&Item, u64)>) {
        let open = self.open.as_ref();
        (self.items, open.map(|open| (&open.item, open.bytes)))
    }

    /// The next item begins, or goes on.
    pub(crate) fn begin(&mut self, item: Item) -> io::Result<()> {
        if item.from > 0 {
            let here = self.open.as_ref().map(|open| (&open.item.path, open.bytes));
            return match here == Some((&item.path, item.from)) {
                true => Ok(()),
                false => Err(io::Error::other("it goes on where nothing is")),
            };
        }
        self.drop_open();
        if self.items >= ITEMS as u64 {
            return Err(io::Error::other(format!("more than {ITEMS} files")));
        }
        let path = self.place(&item.path)?;
        let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let parent = self.folder_of(above)?;
        let Some(bytes) = item.bytes else {
            if make_folder(&parent, name)?.1 {
                self.paths += path.len();
                self.modes.push((path.clone(), item.mode & MODE));
            }
            if self.paths > PATHS {
                return Err(io::Error::other("too many folders"));
            }
            self.items += 1;
            return Ok(());
        };
        let beside = format!(".gridbay-{}-{}", to_hex(&self.id.0[..4]), self.items);
        let flags = OFlag::O_WRONLY
            | OFlag::O_CREAT
            | OFlag::O_TRUNC
            | OFlag::O_NOFOLLOW
            | OFlag::O_CLOEXEC;
        let file = openat(
            &parent,
            beside.as_str(),
            flags,
            Mode::from_bits_truncate(0o600),
        )?;
        self.open = Some(Open {
            item,
            file: file.into(),
            parent,
            beside,
            name: name.to_owned(),
            bytes: 0,
        });
        if bytes == 0 { self.complete() } else { Ok(()) }
    }

    /// Bytes of the item that is under way.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        let none = || io::Error::other("bytes of nothing");
        let open = self.open.as_mut().ok_or_else(none)?;
        let has = open.bytes + bytes.len() as u64;
        let whole = open.item.bytes.unwrap_or(0);
        if has > whole {
            return Err(io::Error::other("more bytes than were announced"));
        }
        let room = self.room.checked_sub(bytes.len() as u64);
        self.room = room.ok_or_else(|| io::Error::other("more bytes than are wanted in all"))?;
        open.file.write_all(bytes)?;
        open.bytes = has;
        if has == whole {
            self.complete()
        } else {
            Ok(())
        }
    }

    /// All is here.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.open.is_some() {
            return Err(io::Error::other("a file is not whole"));
        }
        // The innermost first: an outer one may be closed to its owner.
        for (path, mode) in std::mem::take(&mut self.modes).into_iter().rev() {
            let folder = self.folder_of(&path)?;
            fchmod(&folder, Mode::from_bits_truncate(mode))?;
        }
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        fchmod(&open.file, Mode::from_bits_truncate(open.item.mode & MODE))?;
        renameat(
            &open.parent,
            open.beside.as_str(),
            &open.parent,
            open.name.as_str(),
        )?;
        self.open = None;
        self.items += 1;
        Ok(())
    }

    /// The path below the folder.
    fn place(&self, path: &str) -> io::Result<String> {
        if !path_is_inside(path) {
            return Err(io::Error::other(format!(
                "`{path}` leads out of the folder"
            )));
        }
        let first = path.split('/').next().unwrap_or_default();
        if self.asked.as_ref().is_some_and(|all| !all.contains(first)) {
            let why = format!("`{path}` was not asked for");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let Some(name) = &self.name else {
            return Ok(path.to_owned());
        };
        Ok(match path.split_once('/') {
            None => name.clone(),
            Some((_, rest)) => format!("{name}/{rest}"),
        })
    }

    /// A folder below the folder, made with those above it where they are not there. No link is
    /// followed.
    fn folder_of(&self, path: &str) -> io::Result<OwnedFd> {
        let mut at = self.folder.try_clone()?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = make_folder(&at, name)?.0;
        }
        Ok(at)
    }

    fn drop_open(&mut self) {
        if let Some(open) = self.open.take() {
            let _gone = unlinkat(
                &open.parent,
                open.beside.as_str(),
                UnlinkatFlags::NoRemoveDir,
            );
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.drop_open();
    }
}

/// The name of what lies at a path of a rank; `None` for a whole folder without its name.
fn last_word(path: &str) -> Option<String> {
    match Path::new(path).components().next_back()? {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    }
}

/// The folder of that name, and whether it was made: it may be there.
fn make_folder(parent: &impl AsFd, name: &str) -> io::Result<(OwnedFd, bool)> {
    let made = match mkdirat(parent, name, Mode::from_bits_truncate(0o755)) {
        Ok(()) => true,
        Err(Errno::EEXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let opened = openat(parent, name, flags, Mode::empty());
    let opened =
        opened.map_err(|e| io::Error::new(io::Error::from(e).kind(), format!("{name}: {e}")));
    Ok((opened?, made))
}

#[cfg(test)]
mod tests;
