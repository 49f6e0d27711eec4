//! Troubles: faults of a node that still runs, for people and programs.
//!
//! The core thread publishes the list; status, metrics and refusals show it. A node with a trouble
//! that [halts](Kind::halts) acknowledges nothing.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use utoipa::ToSchema;

/// Advice about a disk.
pub(crate) const DISK_HINT: &str = "free some space or repair the disk: the node tries again every few seconds and goes on by itself";
/// Advice about a disk that is nearly full.
const ROOM_HINT: &str = "free some space: offers are held back and nothing is started meanwhile, and come back by themselves";
/// Advice about a clock.
const CLOCK_HINT: &str = "set the clock right, best by a time service such as chrony or systemd-timesyncd: the node goes on by itself at the next block";

/// Advice about a solver.
const SOLVER_HINT: &str = "try the program of solver.program by hand in the folder solver of the node, or set it to off: reservations are decided by the rule alone meanwhile";

named! {
    /// The kind of trouble.
    pub enum Kind {
        /// The disk is full or fails.
        Disk = "disk",
        /// The disk is nearly full.
        Room = "room",
        /// The clock is wrong.
        Clock = "clock",
        /// The configured solver does not help.
        Solver = "solver",
    }
}

impl Kind {
    /// Whether the node's ledger is closed because of it. A wrong clock only makes it refuse its
    /// users' commands and promise no entry: it follows, serves and votes. Without its solver it
    /// does all that others do, and with little room all but sell.
    pub fn halts(self) -> bool {
        match self {
            Kind::Disk => true,
            Kind::Room | Kind::Clock | Kind::Solver => false,
        }
    }
}

/// A trouble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Trouble {
    /// Kind.
    pub kind: Kind,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// The trouble, in one line.
    pub what: String,
    /// Advice, in one line.
    pub hint: String,
}

impl Trouble {
    /// The disk failed now.
    pub(crate) fn disk(error: &dyn std::error::Error) -> Trouble {
        Trouble::now(Kind::Disk, causes(error), DISK_HINT)
    }
    /// The disk was found nearly full now: so many bytes free, of so many, of which some are kept.
    pub(crate) fn room(free: u64, whole: u64, kept: u64) -> Trouble {
        let what = format!(
            "the disk is nearly full: {} free of {}, {} are kept for the ledger",
            bytes(free),
            bytes(whole),
            bytes(kept)
        );
        Trouble::now(Kind::Room, what, ROOM_HINT)
    }
    /// The same trouble with the figures of now.
    pub(crate) fn with_room(self, free: u64, whole: u64, kept: u64) -> Trouble {
        Trouble {
            since_ms: self.since_ms,
            ..Trouble::room(free, whole, kept)
        }
    }
    /// The clock was found wrong now.
    pub(crate) fn clock(error: &gridbay_host::Trouble) -> Trouble {
        Trouble::now(Kind::Clock, error.to_string(), CLOCK_HINT)
    }
    /// The solver failed now.
    pub(crate) fn solver(program: &Path, error: &dyn std::error::Error) -> Trouble {
        let what = format!(
            "the solver {} does not help: {}",
            program.display(),
            causes(error)
        );
        Trouble::now(Kind::Solver, what, SOLVER_HINT)
    }
    fn now(kind: Kind, what: String, hint: &str) -> Trouble {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Trouble {
            kind,
            since_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            what,
            hint: hint.to_owned(),
        }
    }
}

/// Bytes for people: whole GiB where that says enough, else MiB.
fn bytes(count: u64) -> String {
    let mib = count >> 20;
    match mib {
        mib if mib >= 10 << 10 || (mib > 0 && mib.is_multiple_of(1 << 10)) => {
            format!("{} GiB", mib >> 10)
        }
        mib => format!("{mib} MiB"),
    }
}

/// An error with all its causes, in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::BodyError;

    #[test]
    fn a_disk_nearly_full_is_told_in_figures_and_halts_nothing() {
        let (mib, gib) = (1 << 20, 1 << 30);
        let trouble = Trouble::room(127 * mib, gib, 128 * mib);
        assert_eq!(
            trouble.what,
            "the disk is nearly full: 127 MiB free of 1 GiB, 128 MiB are kept for the ledger"
        );
        assert!(!trouble.kind.halts() && trouble.hint.starts_with("free some space"));
        let later = Trouble {
            since_ms: 7,
            ..trouble
        };
        let later = later.with_room(0, 1_500 * mib, 40 * gib);
        assert_eq!(later.since_ms, 7);
        assert!(
            later
                .what
                .contains(": 0 MiB free of 1500 MiB, 40 GiB are kept")
        );
    }

    #[test]
    fn a_trouble_names_all_causes_and_what_to_do() {
        let error = BodyError::Disk {
            what: "an order's record",
            source: std::io::Error::from_raw_os_error(libc::ENOSPC),
        };
        let trouble = Trouble::disk(&error);
        assert!(trouble.what.starts_with("cannot keep an order's record: "));
        assert!(trouble.what.contains("No space left"), "{}", trouble.what);
        assert!(trouble.kind.halts() && trouble.hint.contains("goes on by itself"));
        let json = serde_json::to_value(&trouble).unwrap();
        assert_eq!(json["kind"], trouble.kind.name());
    }
}
