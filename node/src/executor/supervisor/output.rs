//! A job's output stream: from its pipe to a file, up to a cap.
//!
//! Beyond the cap the pipe is still emptied, so that a talkative job is neither stopped nor ended.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::executor::sandbox::sys;

/// Bytes taken from a pipe at a time: the default capacity of a pipe.
const CHUNK: usize = 64 * 1024;
/// Chunks that a pipe can hold at the end: more than its largest capacity, 1 MiB.
const MAX_LEFT: usize = 64;

/// One stream.
pub(super) struct Stream {
    pipe: File,
    file: File,
    room: u64,
    dropped: u64,
    open: bool,
}

impl Stream {
    /// Reads from `pipe`, appends to the file at `path`, keeps at most `cap` bytes.
    pub(super) fn new(pipe: OwnedFd, path: &Path, cap: u64) -> io::Result<Self> {
        sys::set_nonblocking(pipe.as_fd())?;
        let file = File::options().append(true).open(path)?;
        Ok(Self {
            pipe: File::from(pipe),
            file,
            room: cap,
            dropped: 0,
            open: true,
        })
    }

    /// The pipe to wait for, until it was closed at the other end.
    pub(super) fn waits_on(&self) -> Option<BorrowedFd<'_>> {
        self.open.then(|| self.pipe.as_fd())
    }

    /// Bytes that were not kept.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Moves one chunk. False if there was none.
    pub(super) fn advance(&mut self) -> bool {
        if !self.open {
            return false;
        }
        let mut buffer = [0; CHUNK];
        match self.pipe.read(&mut buffer) {
            Ok(0) => {
                self.open = false;
                false
            }
            Ok(count) => {
                self.keep(buffer.get(..count).unwrap_or_default());
                true
            }
            Err(e) => e.kind() == io::ErrorKind::Interrupted,
        }
    }

    /// Moves what is left in the pipe. Bounded, in case somebody still writes.
    pub(super) fn drain(&mut self) {
        for _ in 0..MAX_LEFT {
            if !self.advance() {
                break;
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let kept = usize::try_from(self.room).map_or(bytes.len(), |room| room.min(bytes.len()));
        let (keep, mut drop) = (bytes.get(..kept).unwrap_or_default(), bytes.len() - kept);
        // A full disk must not hold up the job: output that cannot be written counts as dropped.
        if self.file.write_all(keep).is_ok() {
            self.room -= kept as u64;
        } else {
            self.room = 0;
            drop = bytes.len();
        }
        self.dropped = self.dropped.saturating_add(drop as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::OFlag;
    use std::time::{Duration, Instant};

    #[test]
    fn the_cap_cuts_at_the_byte_and_counts_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        File::create(&path).unwrap();
        let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC).unwrap();
        let mut stream = Stream::new(read, &path, 5).unwrap();
        let mut write = File::from(write);
        assert!(!stream.advance());
        write.write_all(b"abc").unwrap();
        stream.drain();
        write.write_all(b"defgh").unwrap();
        drop(write);
        // A process that another test is starting holds a copy of the pipe's end until its exec.
        let patience = Instant::now() + Duration::from_secs(20);
        while stream.waits_on().is_some() && Instant::now() < patience {
            stream.drain();
        }
        assert!(stream.waits_on().is_none());
        assert_eq!(std::fs::read(&path).unwrap(), b"abcde");
        assert_eq!(stream.dropped(), 3);
    }
}
