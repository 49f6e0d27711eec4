//! A machine's disk with a cache, so that a power cut loses what the machine did not flush.
//!
//! 1. QEMU's own writes stay in this system's memory when QEMU is killed, flushed or not. So its
//!    disk is here, in a thread of its own, and QEMU is the client of it ([`nbd`]).
//! 2. The disk remembers each write until a flush, and what it replaced ([`disk`]).
//! 3. QEMU's end is the power cut: a seed decides for each remembered write whether it is kept, is
//!    lost, or is torn.
//! 4. A machine that flushes all it writes has nothing open at most moments. So half of the cuts
//!    wait for the next flush of something, and come before it.

mod disk;
mod nbd;

use crate::kill::rng::Rng;
use anyhow::Context as _;
use disk::Disk;
pub(super) use disk::Lost;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// QEMU's words for the disk with the id `d0`, whose socket is its standard input.
pub(super) const WORDS: &str = "-blockdev driver=nbd,node-name=d0,server.type=fd,server.str=0";

/// For a machine to flush something, before a cut comes all the same.
const FLUSH: Duration = Duration::from_secs(2);

/// A disk that serves one machine from its start to its end.
pub(super) struct Cache {
    serves: JoinHandle<io::Result<Lost>>,
    /// Whether the next flush of something is not answered any more.
    armed: Arc<AtomicBool>,
    /// Told once the disk answers no more.
    off: Receiver<()>,
    aims: bool,
}

impl Cache {
    /// Serves a file of whole sectors, and the machine's end of the line.
    ///
    /// # Errors
    /// The file does not open.
    pub(super) fn serve(file: &Path, mut rng: Rng) -> anyhow::Result<(Cache, OwnedFd)> {
        let disk = Disk::open(file);
        let mut disk = disk.with_context(|| file.display().to_string())?;
        let (mut line, theirs) = UnixStream::pair()?;
        let armed = Arc::new(AtomicBool::new(false));
        let (aims, strikes) = (rng.below(2) == 0, armed.clone());
        let (tell, off) = mpsc::channel();
        let serves = thread::spawn(move || {
            nbd::serve(&mut line, &mut disk, &strikes)?;
            let lost = disk.cut(&mut rng);
            // Nobody waits for it where QEMU ended first, and then nothing more comes either.
            let _ = tell.send(());
            let _ = io::copy(&mut line, &mut io::sink());
            lost
        });
        let cache = Cache {
            serves,
            armed,
            off,
            aims,
        };
        Ok((cache, theirs.into()))
    }

    /// Waits for the moment at which the machine is to be killed.
    pub(super) fn aim(&self) {
        if self.aims {
            self.armed.store(true, Ordering::Relaxed);
            // A machine that flushes nothing is killed all the same.
            let _ = self.off.recv_timeout(FLUSH);
        }
    }

    /// Waits until the machine, which was killed, is gone and the file is as the cut leaves it.
    ///
    /// # Errors
    /// The file was not read or written, or QEMU did not speak as it should.
    pub(super) fn ended(self) -> anyhow::Result<Lost> {
        let ended = self.serves.join();
        let ended =
            ended.map_err(|_| anyhow::anyhow!("the thread of a machine's disk panicked"))?;
        ended.context("a machine's disk")
    }
}
