//! Files of a job that no folder names any more and that its processes keep: open, mapped, or sent
//! to one another.
//!
//! | kept by | how many bytes it has |
//! |---|---|
//! | a descriptor | what the disk gave for it |
//! | a mapping alone | the same, if the node may follow `/proc/PID/map_files` (root); else as much as is mapped at once |
//! | a message that nobody has received | not told: the job is [`Nameless::blind`] |
//! | a process that does not let the node look at it | likewise |
//!
//! One living thread of each process is looked at: the filter keeps threads from having files of
//! their own.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
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

/// After so many mappings and descriptors a search asks whether it is to end.
const STEP: u64 = 256;
/// Mappings and descriptors that one search reads, and files that it looks at: a job may have any
/// number of the first for next to nothing. It is blind to what is beyond.
const MOST: (u64, u64) = (1 << 19, 1 << 17);

/// Files kept without a name.
#[derive(Debug, Default)]
pub(super) struct Nameless {
    /// Bytes of each file, by its number on the device.
    pub(super) files: BTreeMap<u64, u64>,
    /// Whether there may be more than could be counted.
    pub(super) blind: bool,
    /// Whether the search was told to end before all was looked at.
    pub(super) cut: bool,
    /// Mappings and descriptors that were read, and files that were looked at.
    cost: (u64, u64),
}

/// Looks at all descendants of this process but one, for files of a device, until it is told to
/// end.
pub(super) fn find(
    device: u64,
    but: Option<Pid>,
    mut ends: impl FnMut() -> bool,
) -> io::Result<Nameless> {
    let (mut found, mut mapped) = (Nameless::default(), BTreeMap::new());
    for pid in tree::settled()? {
        if but == Some(pid) {
            continue;
        }
        found.cut = found.cut || ends();
        if found.cut || found.blind_by_cost() {
            break;
        }
        let Some(thread) = tree::living(pid) else {
            continue;
        };
        let seen = found.opened(thread, device, &mut ends);
        let seen = seen.and_then(|()| found.mapped(thread, device, &mut mapped, &mut ends));
        // A thread that has ended meanwhile keeps nothing.
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
    fn opened(
        &mut self,
        thread: Pid,
        device: u64,
        ends: &mut impl FnMut() -> bool,
    ) -> io::Result<()> {
        for fd in fs::read_dir(format!("/proc/{thread}/fd"))?.flatten() {
            if !self.goes_on(ends) {
                break;
            }
            self.cost.1 += 1;
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

    /// Files that a thread has mapped. Of those that cannot be looked at it adds to `unseen` how
    /// much is mapped.
    fn mapped(
        &mut self,
        thread: Pid,
        device: u64,
        unseen: &mut BTreeMap<u64, u64>,
        ends: &mut impl FnMut() -> bool,
    ) -> io::Result<()> {
        // Those that were looked at, and those that cannot be.
        let (mut known, mut closed) = (BTreeSet::new(), BTreeSet::new());
        for line in BufReader::new(File::open(format!("/proc/{thread}/maps"))?).split(b'\n') {
            let line = line?;
            if !self.goes_on(ends) {
                break;
            }
            let mapping = line.ends_with(DELETED.as_bytes());
            let mapping = mapping.then(|| Mapping::of(&String::from_utf8_lossy(&line)));
            let Some(mapping) = mapping.flatten() else {
                continue;
            };
            let file = (mapping.device, mapping.inode);
            if known.contains(&file) {
                continue;
            }
            if closed.contains(&file) {
                mapping.add_to(unseen, device);
                continue;
            }
            self.cost.1 += 1;
            match fs::metadata(format!("/proc/{thread}/map_files/{}", mapping.range)) {
                Ok(meta) => {
                    self.take(&meta, device);
                    known.insert(file);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => {
                    mapping.add_to(unseen, device);
                    closed.insert(file);
                }
            }
        }
        Ok(())
    }

    /// Whether to read one more mapping or descriptor.
    fn goes_on(&mut self, ends: &mut impl FnMut() -> bool) -> bool {
        self.cost.0 += 1;
        self.cut = self.cut || self.cost.0.is_multiple_of(STEP) && ends();
        !self.cut && !self.blind_by_cost()
    }

    fn blind_by_cost(&mut self) -> bool {
        let over = self.cost.0 > MOST.0 || self.cost.1 > MOST.1;
        self.blind |= over;
        over
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

impl Mapping {
    /// Takes note of how much is mapped at once of a device's file.
    fn add_to(&self, unseen: &mut BTreeMap<u64, u64>, device: u64) {
        if self.device == (major(device), minor(device)) {
            let most = unseen.entry(self.inode).or_default();
            *most = self.bytes.max(*most);
        }
    }
}

/// Of a line that the kernel tells of a Unix socket: whether files wait in it.
fn holds_files(line: &str) -> bool {
    let count = line.strip_prefix("scm_fds:");
    count.is_some_and(|count| count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::super::odd;
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

    #[test]
    fn a_file_is_looked_at_once_however_often_it_is_mapped() {
        const MAPPINGS: usize = 1_000;
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let device = file.metadata().unwrap().dev();
        let child = odd::Child::that_maps(&file, MAPPINGS);
        let (mut found, mut unseen) = (Nameless::default(), BTreeMap::new());
        let mut asked = 0;
        let mut ends = || {
            asked += 1;
            false
        };
        found
            .mapped(child.pid, device, &mut unseen, &mut ends)
            .unwrap();
        assert!(found.cost.0 >= MAPPINGS as u64, "{found:?}");
        assert!(found.cost.1 < 20 && asked >= 3, "{found:?} {asked}");
    }

    #[test]
    fn a_search_ends_when_told_and_is_blind_beyond_its_cost() {
        let mut found = Nameless::default();
        let mut turns = 0;
        while found.goes_on(&mut || true) {
            turns += 1;
        }
        assert!(found.cut && turns < STEP);
        let mut dear = Nameless {
            cost: (MOST.0, 0),
            ..Nameless::default()
        };
        assert!(!dear.goes_on(&mut || false) && dear.blind && !dear.cut);
    }
}
