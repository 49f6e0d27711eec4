//! The record of the last update: a small file on the data partition, which both systems read.
//!
//! The boot settings say which system is on trial. The record says what the owner is told about it,
//! and what the machine was like before. Nothing that keeps a machine bootable rests on it.

use super::slot::Slot;
use crate::text::clean;
use serde::{Deserialize, Serialize};

/// Name of the file, in the agent's folder.
pub const NAME: &str = "update.json";
/// Largest one read.
pub const BYTES: u64 = 4096;
/// Longest word in it.
const WORD: usize = 64;
/// Most updates that it knows as left. Where there are so many, the agent tries no other.
pub const LEFT: usize = 16;

/// How far an update has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Its parts are being written.
    #[default]
    Begun,
    /// It is written, and starts next.
    Written,
    /// It works, and is the system of this machine.
    Committed,
    /// It did not become ready.
    Left,
    /// The boot loader did not start it.
    Unstarted,
}

impl Stage {
    /// Whether the update was left.
    pub fn is_left(self) -> bool {
        matches!(self, Stage::Left | Stage::Unstarted)
    }
}

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The update's version.
    pub version: String,
    /// The letter of the slot that it was written to.
    pub slot: String,
    /// The machine's state before, in one word.
    pub before: String,
    /// How far it has come.
    pub stage: Stage,
    /// The hash of its header in hex; empty in the record of an earlier agent.
    pub id: String,
    /// The boot in which it was written, as the kernel names it; empty in the record of an earlier
    /// agent.
    pub boot: String,
    /// Whether the agent took it by itself, and so reboots for it.
    pub by_agent: bool,
    /// The hashes of those that were left since one was taken.
    pub left: Vec<String>,
}

impl Record {
    /// A record at its beginning.
    pub fn begun(version: &str, slot: Slot, before: &str) -> Record {
        Record {
            version: version.to_owned(),
            slot: slot.name().to_owned(),
            before: before.to_owned(),
            stage: Stage::Begun,
            ..Record::default()
        }
    }
    /// The same at another stage.
    pub fn at(&self, stage: Stage) -> Record {
        let mut left = self.left.clone();
        match stage {
            stage if stage.is_left() && !self.id.is_empty() && !left.contains(&self.id) => {
                left.push(self.id.clone());
            }
            // What was left by an earlier system may do on this one.
            Stage::Committed => left.clear(),
            _ => {}
        }
        Record {
            stage,
            left,
            ..self.clone()
        }
    }
    /// Whether this update was tried and is not to be tried again. One that was begun and not
    /// written was not tried.
    pub fn was_tried(&self, id: &str) -> bool {
        let last = self.id == id && self.stage != Stage::Begun;
        last || self.left.iter().any(|left| left == id) || self.left.len() >= LEFT
    }
    /// Reads one; nothing if it is none.
    pub fn read(bytes: &[u8]) -> Option<Record> {
        let record: Record = serde_json::from_slice(bytes).ok()?;
        Some(Record {
            version: clean(&record.version, WORD),
            slot: clean(&record.slot, WORD),
            before: clean(&record.before, WORD),
            stage: record.stage,
            id: clean(&record.id, WORD),
            boot: clean(&record.boot, WORD),
            by_agent: record.by_agent,
            left: (record.left.iter().take(LEFT))
                .map(|id| clean(id, WORD))
                .collect(),
        })
    }
}
