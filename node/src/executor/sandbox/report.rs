//! Reports of a sandbox's processes to their supervisor: one line of JSON per event, on a pipe.
//!
//! Each line is shorter than `PIPE_BUF`, so lines of two writers never mix. The job itself has no
//! access to the pipe: the write end closes when it is executed.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

/// Longest line that is sent; longer messages are cut.
const MAX_MESSAGE: usize = 512;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The sandbox stands; the job is about to be executed.
    Ready {
        /// Landlock is in force.
        landlock: bool,
    },
    /// The next thing that happens is the job's first instruction.
    Exec {
        /// Wall clock, milliseconds since 1970.
        realtime_ms: u64,
        /// Monotonic clock, microseconds.
        monotonic_us: u64,
    },
    /// A step of the set-up failed.
    Failed(String),
    /// The job ended with this wait status, as `waitpid` encodes it.
    Ended(Ending),
}

/// A process's own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// Returned a code.
    Exited(i32),
    /// Ended by a signal.
    Signaled(i32),
}

/// The sending end.
pub(crate) struct Reporter(File);

impl Reporter {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self(File::from(pipe))
    }

    /// Sends one event. Fails once the supervisor is gone.
    pub(crate) fn send(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }

    /// Sends why the set-up failed; there is nobody else to tell if that fails too.
    pub(crate) fn fail(&mut self, message: &str) {
        let message = message.chars().take(MAX_MESSAGE).collect();
        let _ = self.send(&Report::Failed(message));
    }

    pub(crate) fn pipe(&self) -> &File {
        &self.0
    }
}

/// Collects bytes and cuts them into events.
#[derive(Debug, Default)]
pub(crate) struct Inbox(Vec<u8>);

impl Inbox {
    /// Adds `bytes` and returns the events that are now complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Report> {
        self.0.extend_from_slice(bytes);
        let Some(last) = self.0.iter().rposition(|b| *b == b'\n') else {
            return Vec::new();
        };
        let lines: Vec<u8> = self.0.drain(..=last).collect();
        lines
            .split(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_arrive_whole_however_they_are_cut() {
        let events = [
            Report::Ready { landlock: true },
            Report::Exec {
                realtime_ms: 1,
                monotonic_us: 2,
            },
            Report::Failed("no\nspace".into()),
            Report::Ended(Ending::Signaled(9)),
        ];
        let bytes: Vec<u8> = events
            .iter()
            .flat_map(|e| [serde_json::to_vec(e).unwrap(), b"\n".to_vec()].concat())
            .collect();
        for size in [1, 7, bytes.len()] {
            let mut inbox = Inbox::default();
            let got: Vec<Report> = bytes.chunks(size).flat_map(|c| inbox.push(c)).collect();
            assert_eq!(got, events);
        }
    }
}
