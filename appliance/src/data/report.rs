//! What became of the data partition: a small file for the agent.

use crate::seen::Data;
use crate::shell::files::read_bounded;
use crate::state::Fault;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file, in the run folder.
pub const NAME: &str = "data.json";
/// Largest one read.
const BYTES: u64 = 16 * 1024;

/// The report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Whether it is mounted.
    pub mounted: bool,
    /// Why not, or what else is to be known; may be empty.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Report {
    /// All is well.
    pub fn mounted(note: impl Into<String>) -> Report {
        Report {
            mounted: true,
            reason: note.into(),
            hint: String::new(),
        }
    }
    /// It is not to be used.
    pub fn refused(fault: Fault) -> Report {
        Report {
            mounted: false,
            reason: fault.reason,
            hint: fault.hint,
        }
    }
}

/// The partition as the agent sees it: as reported, and with the room that was measured on the
/// mounted folder, in free and all bytes.
pub fn seen(file: &Path, room: Option<(u64, u64)>) -> Data {
    const HINT: &str = "its host can have a shell (docs/appliance.md): journalctl -u \
                        gridbay-appliance-data";
    let bytes = read_bounded(file, BYTES).ok();
    let report = bytes.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
    match (report, room) {
        (None, _) => Data::Broken(Fault::new("the data partition was not prepared", HINT)),
        (Some(report), _) if !report.mounted => {
            Data::Broken(Fault::new(report.reason, report.hint))
        }
        (Some(_), None) => Data::Broken(Fault::new("the data partition is not mounted", HINT)),
        (Some(_), Some((free, total))) => Data::Mounted { free, total },
    }
}
