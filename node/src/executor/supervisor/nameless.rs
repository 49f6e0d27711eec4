//! Files of a job that no folder names any more and that its processes keep: open, mapped, or sent to one another.
//!
//! | kept by | how many bytes it has |
//! |---|---|
//! | a descriptor | what the disk gave for it |
//! | a mapping alone | the same, if the node may follow `/proc/PID/map_files` (root); else as much as is mapped at once |
//! | a message that nobody has received | not told: the job is [`Nameless::blind`] |
//! | a process that does not let the node look at it | likewise |
//!
//! One living thread of each process is looked at: the filter keeps threads from having files of their own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use nix::sys::stat::{major, minor};
use nix::unistd::Pid;

use super::tree;

/// What `st_blocks` counts, in bytes.
const BLOCK: u64 = 512;
/// How a mapping's file is marked that has no name any more.
const DELETED: &str = " (deleted)";

/// What is kept without a name.
#[derive(Debug, Default)]
pub(super) struct Nameless {
    /// Bytes of each file, by its number on the device.
    pub(super) files: BTreeMap<u64, u64>,
    /// Whether there may be more than could be counted.
    pub(super) blind: bool,
    /// Whether the search was told to end before all was looked at.
    pub(super) cut: bool,
}

/// Looks at all descendants of this process but one, for files of a device, until it is told to end.
pub(super) fn find(
    device: u64,
    but: Option<Pid>,
    mut ends: impl FnMut() -> bool,
) -> io::Result<Nameless> {
    let (mut found, mut mapped) = (Nameless::default(), BTreeMap::new());
    for pid in tree::descendants()? {
        if but == Some(pid) {
            continue;
        }
        found.cut = ends();
        if found.cut {
            break;
        }
        let Some(thread) = tree::living(pid) else {
            continue;
        };
        let seen = found.opened(thread, device);
        let seen = seen.and_then(|()| found.mapped(thread, device, &mut mapped));
        // Who has ended meanwhile keeps nothing.
        found.blind |= seen.is_err() && tree::is_alive(pid, thread);
    }
    for (inode, bytes) in mapped {
        if let Entry::Vacant(place) = found.files.entry(inode) {
            place.insert(bytes);
            // It may be longer than what is mapped of it.
            found.blind = true;
        }
    }
    Ok(found)
}

impl Nameless {
    /// Files that a thread has open, and messages with files that its sockets hold.
    fn opened(&mut self, thread: Pid, device: u64) -> io::Result<()> {
        for fd in fs::read_dir(format!("/proc/{thread}/fd"))?.flatten() {
            let Ok(meta) = fs::metadata(fd.path()) else {
                continue;
            };
            self.take(&meta, device);
            if meta.file_type().is_socket() {
                let info = format!("/proc/{thread}/fdinfo/{}", fd.file_name().display());
                let info = fs::read_to_string(info).unwrap_or_default();
                self.blind |= info.lines().any(holds_files);
            }
        }
        Ok(())
    }

    /// Files that a thread has mapped. Of those that cannot be looked at it adds to `unseen` how much is mapped.
    fn mapped(
        &mut self,
        thread: Pid,
        device: u64,
        unseen: &mut BTreeMap<u64, u64>,
    ) -> io::Result<()> {
        for line in BufReader::new(File::open(format!("/proc/{thread}/maps"))?).split(b'\n') {
            let line = line?;
            let Some(mapping) = Mapping::of(&String::from_utf8_lossy(&line)) else {
                continue;
            };
            match fs::metadata(format!("/proc/{thread}/map_files/{}", mapping.range)) {
                Ok(meta) => self.take(&meta, device),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) if mapping.device == (major(device), minor(device)) => {
                    let most = unseen.entry(mapping.inode).or_default();
                    *most = mapping.bytes.max(*most);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, meta: &fs::Metadata, device: u64) {
        if meta.is_file() && meta.nlink() == 0 && meta.dev() == device {
            let bytes = meta.blocks().saturating_mul(BLOCK);
            self.files.insert(meta.ino(), bytes);
        }
    }
}

/// A file without a name that is mapped, as `/proc/PID/maps` has it.
struct Mapping {
    /// As a file in `map_files` is called.
    range: String,
    bytes: u64,
    device: (u64, u64),
    inode: u64,
}

impl Mapping {
    fn of(line: &str) -> Option<Mapping> {
        let line = line.strip_suffix(DELETED)?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let mut words = line.split_ascii_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let (major, minor) = words.nth(2)?.split_once(':')?;
        let inode = words.next()?.parse().ok()?;
        let (begin, end) = (hex(begin)?, hex(end)?);
        Some(Mapping {
            // There the numbers have no zeros in front.
            range: format!("{begin:x}-{end:x}"),
            bytes: end.saturating_sub(begin),
            device: (hex(major)?, hex(minor)?),
            inode,
        })
    }
}

/// Of a line that the kernel tells of a Unix socket: whether files wait in it.
fn holds_files(line: &str) -> bool {
    let count = line.strip_prefix("scm_fds:");
    count.is_some_and(|count| count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mappings_without_a_name_are_taken() {
        let line = "7f00a000-7f00c000 r--s 00001000 fe:1f 77  /srv/a b (deleted)";
        let found = Mapping::of(line).unwrap();
        assert_eq!(found.range, "7f00a000-7f00c000");
        assert_eq!((found.bytes, found.inode), (0x2000, 77));
        assert_eq!(found.device, (0xfe, 0x1f));
        for other in [
            "7f00a000-7f00c000 r--s 00001000 fe:1f 77  /srv/a b",
            "7f00a000-7f00c000 rw-p 00000000 00:00 0",
            "",
            "a (deleted)",
            "- - - : x (deleted)",
        ] {
            assert!(Mapping::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn files_in_a_message_make_blind() {
        assert!(holds_files("scm_fds: 3"));
        assert!(!holds_files("scm_fds: 0") && !holds_files("pos:\t3"));
    }
}
