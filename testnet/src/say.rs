//! Lines for people. A reader who went away is no reason to stop cleaning up, so failures to
//! write are passed over.

use std::io::{self, Write as _};
use std::time::Instant;

/// A line on standard output.
pub(crate) fn line(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// A line on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Progress: one line per event, with the seconds since the start.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    start: Instant,
    shown: bool,
}

impl Progress {
    /// Starts the clock; lines go to standard error.
    pub fn new() -> Progress {
        Progress {
            start: Instant::now(),
            shown: true,
        }
    }
    /// The same without lines.
    pub fn silent() -> Progress {
        Progress {
            shown: false,
            ..Progress::new()
        }
    }
    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
    /// Tells an event.
    pub fn tell(&self, event: &str) {
        if self.shown {
            note(&format!("[{:6.1}s] {event}", self.seconds()));
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}
