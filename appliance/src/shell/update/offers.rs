//! Updates that lie on disks, and the one that the owner handed to the node.
//!
//! 1. Each disk and partition whose first bytes are those of an update counts, and the file
//!    `gridbay-update` on a configuration disk.
//! 2. The owner's lies in the node's folder. It is a stranger's like all else there: it is opened
//!    without following a link, a plain file alone, and read no further than its signed header
//!    says.
//! 3. Of each the header is read and its signature checked; the rest is read when it is taken.

use super::run::{self, By, UpdateError};
use crate::node::Failure;
use crate::shell::disks;
use crate::shell::files::{first_bytes, open_plain};
use crate::shell::places::Places;
use crate::state::Fault;
use crate::update::manifest::{self, HEADER_BYTES, Manifest};
use crate::update::offered::{Offered, Origin};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Most disks and partitions that are looked at.
const BLOCKS: usize = 128;
/// Kernel names of what is no disk of its own, or waits for one that is not there.
const PASSED: [&str; 6] = ["loop", "ram", "zram", "dm-", "nbd", "fd"];

/// Updates on disks, and on those configuration disks whose first bytes of an update were read.
pub fn lying(places: &Places, labelled: &[(&str, Vec<u8>)]) -> Vec<Offered> {
    let labelled = labelled.iter().map(|(label, head)| {
        let origin = Origin::Label((*label).to_owned());
        offered(places, origin, head)
    });
    let names = fs::read_dir(&places.blocks).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !PASSED.iter().any(|passed| name.starts_with(passed)))
        .take(BLOCKS)
        .collect();
    names.sort();
    let raw = names.into_iter().filter_map(|name| {
        let file = open_disk(&places.devices.join(&name));
        let head = file.and_then(|file| first_bytes(&file, HEADER_BYTES));
        let head = head.ok().filter(|head| manifest::is_begun(head))?;
        Some(offered(places, Origin::Device(name), &head))
    });
    labelled.chain(raw).collect()
}

/// The update that the owner handed over, if there is one. Whatever else lies there counts as one
/// that is refused.
pub fn handed(places: &Places) -> Option<Offered> {
    let read = open_plain(&places.handed()).and_then(|file| first_bytes(&file, HEADER_BYTES));
    match read {
        Ok(head) => Some(offered(places, Origin::Owner, &head)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Offered {
            origin: Origin::Owner,
            id: String::new(),
            manifest: Err(fault(&UpdateError::File(error))),
        }),
    }
}

/// A disk, or a plain file in the place of one, as tests have it. Not by `O_NONBLOCK`: that opens
/// an empty drive as well, and each read of it is a line of the kernel's on the console.
fn open_disk(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = options.read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_block_device() || kind.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no disk")),
    }
}

fn offered(places: &Places, origin: Origin, head: &[u8]) -> Offered {
    let read = run::trusted(places)
        .and_then(|trusted| Manifest::read(head, &trusted).map_err(UpdateError::Header));
    let length = read.as_ref().ok().map(|(_, length)| *length);
    Offered {
        origin,
        id: manifest::id(head, length),
        manifest: read
            .map(|(manifest, _)| manifest)
            .map_err(|error| fault(&error)),
    }
}

fn fault(error: &UpdateError) -> Fault {
    Fault::new(error.to_string(), error.hint())
}

/// Checks and writes the update with this id that lies there. The owner's is removed, whatever came
/// of it.
pub fn take(places: &Places, origin: &Origin, id: &str) -> Result<(), Failure> {
    let update = |path: &Path| {
        let written = run::update(places, path, By::Agent(id), |_| {});
        let failed = |error: UpdateError| Failure::own(error.to_string(), error.hint());
        written.map(drop).map_err(failed)
    };
    match origin {
        Origin::Device(name) => update(&places.devices.join(name)),
        Origin::Label(label) => disks::with_update(places, label, update)
            .unwrap_or_else(|why| Err(Failure::own(why, "attach the disk anew"))),
        Origin::Owner => {
            let taken = update(&places.handed());
            // One that stays is refused at the next look, and removed then.
            drop(forget(places));
            taken
        }
    }
}

/// Removes the update that the owner handed over.
pub fn forget(places: &Places) -> io::Result<()> {
    match fs::remove_file(places.handed()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
