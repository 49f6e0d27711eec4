//! `run.json`: the data by which another process shows a run or ends it.

use super::folder::RunFolder;
use super::process::Process;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the program that started it.
    pub version: String,
    /// Name.
    pub name: String,
    /// The laboratory's own process, while it watches over the run.
    pub lab: Option<Process>,
    /// Nodes, in the order in which they were started.
    pub nodes: Vec<NodeRecord>,
}

/// A node of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Name.
    pub name: String,
    /// `validator` or `buyer`.
    pub role: String,
    /// Transport key, hex.
    pub node: String,
    /// Addresses it listens on.
    pub listen: Vec<String>,
    /// API socket.
    pub socket: PathBuf,
    /// Data folder.
    pub data: PathBuf,
    /// Its output.
    pub log: PathBuf,
    /// Its process; `None` while it is down.
    pub process: Option<Process>,
}

impl RunRecord {
    /// Reads the record of a run.
    pub fn read(folder: &RunFolder) -> anyhow::Result<RunRecord> {
        let path = folder.record();
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
    }
    /// Writes it; readers see the old or the new one, whole.
    pub fn write(&self, folder: &RunFolder) -> anyhow::Result<()> {
        let path = folder.record();
        let fresh = path.with_extension("new");
        let text = serde_json::to_vec_pretty(self)?;
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create_in(dir.path(), "a").unwrap();
        assert!(RunRecord::read(&folder).is_err());
        let record = RunRecord {
            version: "0".into(),
            name: "a".into(),
            lab: Process::look(std::process::id() as i32),
            nodes: vec![],
        };
        record.write(&folder).unwrap();
        assert_eq!(RunRecord::read(&folder).unwrap(), record);
    }
}
