//! Opening a core's parts from the data folder: at the start, and again after the disk failed.
//!
//! All that is read from the ledger's folder counts as safe from then on. A process that was killed
//! may have left bytes that no sync covered, and after a failed sync the system may have forgotten
//! that bytes still have to be written. So before the ledger is opened,
//!
//! 1. after a failed sync, the file concerned is copied, synced and put in place of the old one;
//! 2. every file is synced.

use super::timed::Timed;
use super::unwritten::Unwritten;
use crate::body::BodyError;
use crate::body::halt::Reopen;
use crate::body::jobs::Jobs;
use crate::body::room;
use crate::config::Home;
use crate::keys::NodeKeys;
use crate::store::orders::{OrderStore, private_folder};
use gridbay_core::Parts;
use gridbay_core::provider::ProviderTerms;
use gridbay_host::disk::{Disk, DiskError, RealDisk};
use gridbay_host::{Fault, Host, HostConfig, Stages};
use gridbay_protocol::beacon::{CHAIN_STEPS, Chain};
use gridbay_protocol::genesis::Genesis;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// Bytes that must fit beside the longest file before a full disk counts as cured: some blocks'
/// worth.
const ROOM: usize = 1 << 20;
/// Name of the file that the room is tried with.
const PROBE: &str = "room.new";

/// Opens the parts of one data folder.
pub(super) struct Opening {
    pub(super) home: Home,
    pub(super) keys: Arc<NodeKeys>,
    pub(super) genesis: Genesis,
    pub(super) orders: OrderStore,
    pub(super) jobs: Jobs,
    pub(super) provider: Option<ProviderTerms>,
    /// Times the ledger and its disk.
    pub(super) stages: Stages,
}

impl Opening {
    fn ledger(&self) -> PathBuf {
        self.home.path().join("ledger")
    }
}

impl Reopen for Opening {
    fn try_disk(&mut self, failed: &BodyError) -> Result<(), BodyError> {
        let ledger = self.ledger();
        let home = self.home.path();
        room::release(home)
            .map_err(|e| disk("give back the reserve of", &home.to_string_lossy(), e))?;
        if let BodyError::Fault(Fault::Disk(error)) = failed
            && error.operation == "sync"
        {
            rewrite(&ledger.join(&error.file)).map_err(|e| disk("rewrite", &error.file, e))?;
        }
        for folder in [ledger.as_path(), self.home.path()] {
            find_room(folder, &ledger)
                .map_err(|e| disk("write to", &folder.to_string_lossy(), e))?;
        }
        Ok(())
    }

    fn open(&mut self) -> Result<Parts, BodyError> {
        let ledger = self.ledger();
        private_folder(&ledger).map_err(|e| disk("make", &ledger.to_string_lossy(), e))?;
        sync_all(&ledger).map_err(|e| disk("sync", &ledger.to_string_lossy(), e))?;
        let disk = Timed {
            disk: RealDisk::open(&ledger).map_err(Fault::Disk)?,
            stages: self.stages.clone(),
        };
        self.parts(Box::new(disk), Some(ledger.join("index")))
    }

    fn look(&mut self) -> Result<Parts, BodyError> {
        let real = RealDisk::open(&self.ledger()).map_err(Fault::Disk)?;
        self.parts(Box::new(Unwritten(real)), None)
    }
}

impl Opening {
    fn parts(&self, disk: Box<dyn Disk>, index: Option<PathBuf>) -> Result<Parts, BodyError> {
        let validator = self.keys.validator.as_ref();
        let config = HostConfig {
            genesis: self.genesis.clone(),
            key: validator.map(|v| v.key.clone()),
            chain: validator.map(|v| Chain::new(&v.beacon_secret, CHAIN_STEPS)),
            index,
        };
        let mut host = Host::open(config, disk)?;
        host.measure(self.stages.clone());
        host.use_cores(thread::available_parallelism().map_or(1, usize::from));
        Ok(Parts {
            host,
            account_key: self.keys.account.clone(),
            node: self.keys.node(),
            orders: self.orders.load().map_err(kept("the orders"))?,
            jobs: self.jobs.recover().map_err(kept("the jobs"))?,
            provider: self.provider.clone(),
        })
    }
}

fn disk(operation: &'static str, file: &str, source: io::Error) -> BodyError {
    BodyError::Fault(Fault::Disk(DiskError {
        operation,
        file: file.to_owned(),
        source,
    }))
}

fn kept(what: &'static str) -> impl Fn(io::Error) -> BodyError {
    move |source| BodyError::Disk { what, source }
}

/// The regular files of a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// Makes safe what lies in a folder.
fn sync_all(folder: &Path) -> io::Result<()> {
    for path in files(folder)? {
        File::open(path)?.sync_all()?;
    }
    File::open(folder)?.sync_all()
}

/// Writes a file anew: all its readable bytes are then on the disk for certain.
fn rewrite(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|_| path.is_file()) else {
        return Ok(());
    };
    let copy = path.with_extension("copy");
    fs::copy(path, &copy)?;
    File::open(&copy)?.sync_all()?;
    fs::rename(&copy, path)?;
    File::open(folder)?.sync_all()
}

/// Tries whether `folder` takes a file that is some room longer than the longest one of the ledger:
/// a disk can be full for long files alone.
fn find_room(folder: &Path, ledger: &Path) -> io::Result<()> {
    let lengths = files(ledger)?;
    let lengths = lengths.iter().filter_map(|path| fs::metadata(path).ok());
    let longest = lengths.map(|meta| meta.len()).max().unwrap_or(0);
    let path = folder.join(PROBE);
    let probe = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)?;
    let tried = probe
        .write_all_at(&vec![0x5a; ROOM], longest)
        .and_then(|()| probe.sync_all());
    let removed = fs::remove_file(&path);
    tried.and(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_room_has_room_and_keeps_nothing_of_the_try() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("blocks"), [7; 1_000]).unwrap();
        sync_all(dir.path()).unwrap();
        find_room(dir.path(), dir.path()).unwrap();
        assert_eq!(files(dir.path()).unwrap(), [dir.path().join("blocks")]);
        let gone = dir.path().join("gone");
        assert!(find_room(&gone, dir.path()).is_err());
    }

    #[test]
    fn a_file_written_anew_is_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        fs::write(&path, b"statements").unwrap();
        rewrite(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"statements");
        assert_eq!(files(dir.path()).unwrap(), [path]);
        rewrite(&dir.path().join("none")).unwrap();
    }
}
