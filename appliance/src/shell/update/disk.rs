//! The machine's disk, as an update is written to it.
//!
//! 1. The root partition of the slot that does not run is opened for this process alone; the kernel
//!    refuses that for a partition that is mounted.
//! 2. Kernels, initial RAM disks and the boot settings are files that are there already. They are
//!    written in place and never grow.
//! 3. To forget what memory holds, the kernel is asked to drop all clean pages.

use super::is_device;
use super::partition::Partition;
use crate::shell::places::Places;
use crate::update::install::{Disk, Place};
use crate::update::manifest::Part;
use crate::update::slot::Slot;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The files of the boot partition alone.
pub struct BootFiles(Partition);

impl BootFiles {
    /// Mounts the boot partition at a folder of this name.
    pub fn open(places: &Places, name: &str, write: bool) -> io::Result<BootFiles> {
        Partition::mount(places, name, write).map(BootFiles)
    }
    /// Unmounts it, and tells whether that went well.
    pub fn close(self) -> io::Result<()> {
        self.0.close()
    }
    fn path(&self, place: Place) -> PathBuf {
        match place {
            Place::Part(slot, part) => self.0.at().join(slot.name()).join(part.name()),
            Place::Env => self.0.at().join("grub/env"),
        }
    }
    fn open_file(&self, place: Place, write: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let path = self.path(place);
        let file = options.read(true).write(write).custom_flags(flags);
        let file = file.open(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is no plain file")),
        }
    }
}

impl Disk for BootFiles {
    fn room(&mut self, place: Place) -> io::Result<u64> {
        Ok(self.open_file(place, false)?.metadata()?.len())
    }
    fn write(&mut self, place: Place, at: u64, bytes: &[u8]) -> io::Result<()> {
        fits(self.room(place)?, at, bytes)?;
        self.open_file(place, true)?.write_all_at(bytes, at)
    }
    fn read(&mut self, place: Place, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.open_file(place, false)?.read_exact_at(bytes, at)
    }
    fn sync(&mut self, place: Place) -> io::Result<()> {
        self.open_file(place, true)?.sync_all()
    }
    fn forget(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The boot partition's files, and the root partition of one slot.
pub struct System {
    files: BootFiles,
    root: File,
    slot: Slot,
    /// Whether it is a device: a plain file, as tests have it, has no memory to forget.
    device: bool,
}

impl System {
    /// For the slot that does not run.
    pub fn open(places: &Places, running: Slot) -> io::Result<System> {
        let slot = running.other();
        let path = places.partitions.join(slot.label());
        let root = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_EXCL | libc::O_CLOEXEC)
            .open(&path)
            .map_err(|error| {
                let error = format!("{}: {error}", path.display());
                io::Error::other(error)
            })?;
        Ok(System {
            files: BootFiles::open(places, "boot-update", true)?,
            device: is_device(&path) && !root.metadata()?.is_file(),
            root,
            slot,
        })
    }
    /// Unmounts the boot partition, and tells whether that went well.
    pub fn close(self) -> io::Result<()> {
        self.files.close()
    }
    /// The root partition; that of another slot is never touched.
    fn root(&self, slot: Slot) -> io::Result<&File> {
        match slot == self.slot {
            true => Ok(&self.root),
            false => Err(io::Error::other("that slot is not opened")),
        }
    }
}

impl Disk for System {
    fn room(&mut self, place: Place) -> io::Result<u64> {
        match place {
            Place::Part(slot, Part::Root) => self.root(slot)?.seek(SeekFrom::End(0)),
            _ => self.files.room(place),
        }
    }
    fn write(&mut self, place: Place, at: u64, bytes: &[u8]) -> io::Result<()> {
        match place {
            Place::Part(slot, Part::Root) => {
                fits(self.room(place)?, at, bytes)?;
                self.root(slot)?.write_all_at(bytes, at)
            }
            _ => self.files.write(place, at, bytes),
        }
    }
    fn read(&mut self, place: Place, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        match place {
            Place::Part(slot, Part::Root) => self.root(slot)?.read_exact_at(bytes, at),
            _ => self.files.read(place, at, bytes),
        }
    }
    fn sync(&mut self, place: Place) -> io::Result<()> {
        match place {
            Place::Part(slot, Part::Root) => self.root(slot)?.sync_all(),
            _ => self.files.sync(place),
        }
    }
    fn forget(&mut self) -> io::Result<()> {
        match self.device {
            true => fs::write(DROP_CACHES, "1"),
            false => Ok(()),
        }
    }
}

fn fits(room: u64, at: u64, bytes: &[u8]) -> io::Result<()> {
    let end = at.saturating_add(bytes.len() as u64);
    match end <= room {
        true => Ok(()),
        false => Err(io::Error::other(format!("it has {room} bytes, not {end}"))),
    }
}
