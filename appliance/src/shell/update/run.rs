//! An update from a file or a disk to the slot that does not run: by the owner's command, or by the
//! agent.
//!
//! The file may be a stranger's, who changes it meanwhile. Its header is read once. What is written
//! is held against the hashes of that header twice: as it comes from the file, and as it is read
//! back from the disk.

use super::disk::System;
use super::{boot_id, keep, record, running};
use crate::shell::files::{first_bytes, read_bounded};
use crate::shell::places::Places;
use crate::shell::system::image;
use crate::status::{self, Status};
use crate::update::check::{self, Here, Refusal};
use crate::update::install::{self, Disk as _, InstallError, Place};
use crate::update::keys::{self, KeyError};
use crate::update::manifest::{self, HEADER_BYTES, HeaderError, Manifest, PARTS};
use crate::update::record::{Record, Stage};
use crate::update::slot::Slot;
use ed25519_dalek::VerifyingKey;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Largest list of keys read.
const KEYS_BYTES: u64 = 64 * 1024;

/// Why an update was not written.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It cannot be read.
    #[error("the update cannot be read: {0}")]
    File(io::Error),
    /// It is neither a file nor a disk.
    #[error("the update is neither a file nor a disk")]
    Kind,
    /// It is not as long as its header says.
    #[error("the update has {found} bytes and should have {wanted}")]
    Length {
        /// Its bytes.
        found: u64,
        /// By its header.
        wanted: u64,
    },
    /// The image's keys cannot be read.
    #[error("this image's update keys cannot be used: {0}")]
    Keys(String),
    /// Its header is not taken.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// This system was not started from one of two slots.
    #[error("this system was not started by the appliance's boot loader")]
    NoSlot,
    /// It is not the one that the agent decided on.
    #[error("it is another update than a moment ago")]
    Changed,
    /// The machine's partitions cannot be used.
    #[error("the machine's partitions cannot be used: {0}")]
    Partitions(io::Error),
    /// It is refused for what it is.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// It was not recorded.
    #[error("the data partition takes no record: {0}")]
    Record(io::Error),
    /// It was not written.
    #[error("{0}; the running system starts again")]
    Install(#[from] InstallError),
}

impl UpdateError {
    /// What the owner can do.
    pub fn hint(&self) -> &'static str {
        match self {
            UpdateError::File(_) | UpdateError::Kind => {
                "name the file, or the disk such as /dev/vdb"
            }
            UpdateError::Length { .. } => "copy it whole",
            UpdateError::Header(HeaderError::NoKeys) | UpdateError::Keys(_) => {
                "build an image with appliance/build --key FILE, and begin with it"
            }
            UpdateError::Header(HeaderError::Version) => "update to a version between the two",
            UpdateError::Header(HeaderError::Signature) => {
                "build it with the key that this image was built with (--key FILE --update)"
            }
            UpdateError::Header(_) => "take it from where it was built",
            UpdateError::Changed => "leave it as it is until it was taken",
            UpdateError::NoSlot => "start the machine from its own disk",
            UpdateError::Partitions(_) => {
                "see that no other update runs, and to the machine's disk"
            }
            UpdateError::Refused(refusal) => refusal.hint(),
            UpdateError::Record(_) => "see gridbay-appliance status",
            UpdateError::Install(InstallError::Hash { .. } | InstallError::Source { .. }) => {
                "copy it whole"
            }
            UpdateError::Install(_) => "see to the machine's disk",
        }
    }
}

/// The hand that writes an update.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// Somebody at the machine.
    Command {
        /// Whether it may be older than the running system.
        allow_older: bool,
    },
    /// The agent, which decided on the update with this id.
    Agent(&'a str),
}

/// The keys whose updates this image takes.
pub fn trusted(places: &Places) -> Result<Vec<VerifyingKey>, UpdateError> {
    read_bounded(&places.update_keys, KEYS_BYTES)
        .map_err(|error| error.to_string())
        .and_then(|text| keys::trusted(&text).map_err(|error: KeyError| error.to_string()))
        .map_err(UpdateError::Keys)
}

/// Checks an update and writes it; answers what was written. `tell` gets a line at each step.
pub fn update(
    places: &Places,
    path: &Path,
    by: By<'_>,
    mut tell: impl FnMut(&str),
) -> Result<Manifest, UpdateError> {
    let trusted = trusted(places)?;
    let (mut file, length) = open(path, by)?;
    let head = first_bytes(&file, HEADER_BYTES).map_err(UpdateError::File)?;
    let (manifest, start) = Manifest::read(&head, &trusted)?;
    let id = manifest::id(&head, Some(start));
    let allow_older = match by {
        By::Command { allow_older } => allow_older,
        By::Agent(wanted) if wanted == id => false,
        By::Agent(_) => return Err(UpdateError::Changed),
    };
    let start = start as u64;
    let wanted = start.saturating_add(manifest.bytes());
    if !length.holds(wanted) {
        let found = length.bytes();
        return Err(UpdateError::Length { found, wanted });
    }
    let rewind = |file: &mut File| file.seek(SeekFrom::Start(start)).map(drop);
    rewind(&mut file).map_err(UpdateError::File)?;
    install::check(&manifest, &mut file)?;
    tell(&format!("version {} is whole and signed", manifest.version));
    let slot = running(places).ok_or(UpdateError::NoSlot)?;
    let mut system = System::open(places, slot).map_err(UpdateError::Partitions)?;
    let here = here(places, &mut system, slot).map_err(UpdateError::Partitions)?;
    let env = check::admit(&manifest, &here, allow_older)?;
    let before = Status::read(&places.run.join(status::NAME)).unwrap_or_default();
    let begun = Record {
        id,
        boot: boot_id(places),
        by_agent: matches!(by, By::Agent(_)),
        left: record(places).unwrap_or_default().left,
        ..Record::begun(&manifest.version, slot.other(), &before.state)
    };
    keep(places, &begun).map_err(UpdateError::Record)?;
    rewind(&mut file).map_err(UpdateError::File)?;
    install::install(&mut system, &manifest, &mut file, (slot, env))?;
    system.close().map_err(UpdateError::Partitions)?;
    keep(places, &begun.at(Stage::Written)).map_err(UpdateError::Record)?;
    tell(&format!("written to slot {}", slot.other().name()));
    Ok(manifest)
}

fn here(places: &Places, system: &mut System, running: Slot) -> io::Result<Here> {
    let image = image(places);
    let mut room = [0; 3];
    for (part, room) in PARTS.into_iter().zip(&mut room) {
        *room = system.room(Place::Part(running.other(), part))?;
    }
    Ok(Here {
        flavour: image.flavour,
        built: image.built,
        running,
        env: install::env(system)?,
        room,
    })
}

/// How long an update is.
enum Length {
    /// A file, which ends with it.
    File(u64),
    /// A disk, which may go on.
    Disk(u64),
}

impl Length {
    fn bytes(&self) -> u64 {
        match *self {
            Length::File(bytes) | Length::Disk(bytes) => bytes,
        }
    }
    fn holds(&self, wanted: u64) -> bool {
        match *self {
            Length::File(bytes) => bytes == wanted,
            Length::Disk(bytes) => bytes >= wanted,
        }
    }
}

/// Opens a file or a disk. The agent follows no link: the file may be the node's, the disk
/// anybody's.
fn open(path: &Path, by: By<'_>) -> Result<(File, Length), UpdateError> {
    let links = match by {
        By::Command { .. } => 0,
        By::Agent(_) => libc::O_NOFOLLOW,
    };
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(links | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path);
    let mut file = opened.map_err(UpdateError::File)?;
    let kind = file.metadata().map_err(UpdateError::File)?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return Err(UpdateError::Kind);
    }
    let bytes = file.seek(SeekFrom::End(0)).map_err(UpdateError::File)?;
    file.rewind().map_err(UpdateError::File)?;
    let length = match kind.is_file() {
        true => Length::File(bytes),
        false => Length::Disk(bytes),
    };
    Ok((file, length))
}
