//! The boot partition, mounted for a moment.
//!
//! 1. It is mounted as FAT without programs, devices or rights of others, and read-only unless it
//!    is to be written.
//! 2. Somebody else may have it for a moment: it is tried again for some seconds.
//! 3. What an earlier process left mounted is unmounted first.

use super::is_device;
use crate::shell::command::Command;
use crate::shell::places::Places;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Longest time to mount or unmount, which writes what is left.
const MOUNT: Duration = Duration::from_secs(60);
/// How often it is tried, and the time between.
const TIMES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(300);

/// The mounted partition. It is unmounted at the end of this value.
pub struct Partition {
    at: PathBuf,
    mounted: bool,
}

impl Partition {
    /// Mounts it at a folder of this name. One that is a folder, as tests have it, is taken as it
    /// is.
    pub fn mount(places: &Places, name: &str, write: bool) -> io::Result<Partition> {
        let device = places.boot();
        if device.is_dir() {
            return Ok(Partition {
                at: device,
                mounted: false,
            });
        }
        if !is_device(&device) {
            let error = format!("there is no {}", device.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, error));
        }
        let at = places.run.join(name);
        fs::create_dir_all(&at)?;
        if places.is_mounted(&at) {
            unmount(&at)?;
        }
        let options = format!("{},nosuid,nodev,noexec", if write { "rw" } else { "ro" });
        let mut last = String::new();
        for _ in 0..TIMES {
            let mount = Command::new("mount").args(["-t", "vfat", "-o", &options]);
            match mount.path(&device).path(&at).output(MOUNT) {
                Ok(_) => return Ok(Partition { at, mounted: true }),
                Err(failure) => last = failure.why,
            }
            sleep(BETWEEN);
        }
        let error = format!("the boot partition was not mounted: {last}");
        Err(io::Error::other(error))
    }
    /// Its folder.
    pub fn at(&self) -> &Path {
        &self.at
    }
    /// Unmounts it, and tells whether that went well.
    pub fn close(mut self) -> io::Result<()> {
        match std::mem::take(&mut self.mounted) {
            true => unmount(&self.at),
            false => Ok(()),
        }
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        if self.mounted {
            // `close` tells of a failure; a drop cannot.
            drop(unmount(&self.at));
        }
    }
}

fn unmount(at: &Path) -> io::Result<()> {
    let ended = Command::new("umount").path(at).output(MOUNT);
    ended.map(drop).map_err(|failure| {
        let error = format!("the boot partition was not unmounted: {}", failure.why);
        io::Error::other(error)
    })
}
