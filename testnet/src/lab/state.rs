//! The record of a lab on disk, by which another process can change the lab, and remove it when its
//! maker is gone.
//!
//! ```text
//! /run/gridbay-lab/<name>/lab.json      this record
//! /run/gridbay-lab/<name>/delay.*       socket and log of the delay process, where there is one
//! ```
//!
//! 1. The record is written before anything is made, so whatever a killed lab left is named in it.
//! 2. Once a namespace is made, its identity is recorded: a namespace that somebody else made later
//!    under the same name is not touched.
//! 3. Changes are read, made and written under one lock for all labs of the machine.
//! 4. The folder lies where a restart of the machine empties it, as it removes the namespaces.

use super::impair::Impairment;
use super::netns::Identity;
use super::plan::{FIRST, Turn};
use super::topology::Topology;
use crate::network::Process;
use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

const BASE: &str = "/run/gridbay-lab";
/// Characters of a lab's name at the most.
const NAME_CHARS: usize = 10;

/// A lab as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Version of the program that made it.
    pub(super) version: String,
    /// Tells it from earlier and later labs of the same name.
    pub(super) token: String,
    /// The topology's text.
    pub(super) topology: String,
    /// Machines, each with its namespace's identity once it was made.
    pub(super) machines: BTreeMap<String, Option<Identity>>,
    /// Whether it was set up to the end.
    pub(super) ready: bool,
    /// Whether the kernel delays packets by itself.
    pub(super) netem: bool,
    /// Links and hosts whose address or mappings changed.
    pub(super) turns: BTreeMap<String, Turn>,
    /// Cables that suffer, by the name of the host or router at their end.
    pub(super) cables: BTreeMap<String, Impairment>,
    /// The process that ends with the lab, and ends it.
    pub(super) lab: Option<Process>,
    /// The delay process.
    pub(super) delay: Option<Process>,
}

impl State {
    /// A lab about to be made; `lab` is its process.
    pub(super) fn new(topology: &Topology, token: String, lab: Option<Process>) -> State {
        State {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token,
            topology: topology.source().to_owned(),
            machines: topology.machines().into_iter().map(|m| (m, None)).collect(),
            ready: false,
            netem: false,
            turns: BTreeMap::new(),
            cables: BTreeMap::new(),
            lab,
            delay: None,
        }
    }
    /// Reads a lab's record; `None` if there is no such lab.
    pub(super) fn read(name: &str) -> anyhow::Result<Option<State>> {
        let path = folder(name)?.join("lab.json");
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
    /// Writes it; readers see the old or the new one, whole.
    pub(super) fn write(&self, name: &str) -> anyhow::Result<()> {
        let path = folder(name)?.join("lab.json");
        let fresh = path.with_extension("new");
        fs::write(&fresh, serde_json::to_vec_pretty(self)?)
            .and_then(|()| fs::rename(&fresh, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
    /// Its topology, checked again.
    pub(super) fn topology(&self) -> anyhow::Result<Topology> {
        Topology::parse(&self.topology).context("the lab's record is damaged")
    }
    /// How often a link's or host's address changed, and the zone of a link's router.
    pub(super) fn turn(&self, name: &str) -> Turn {
        self.turns.get(name).copied().unwrap_or(FIRST)
    }
    /// The impairment of a cable.
    pub(super) fn cable(&self, name: &str) -> Impairment {
        self.cables.get(name).copied().unwrap_or_default()
    }
}

/// A lab's folder. Names are checked, so that they name nothing else.
pub(super) fn folder(name: &str) -> anyhow::Result<PathBuf> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || name.len() > NAME_CHARS || !name.chars().all(good) {
        bail!(
            "`{name}` is no name of a lab: want 1 to {NAME_CHARS} of a-z and 0-9, a letter first"
        );
    }
    Ok(Path::new(BASE).join(name))
}

/// Makes the folder of a new lab; `false` if there is one.
pub(super) fn create_folder(name: &str) -> anyhow::Result<bool> {
    let folder = folder(name)?;
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot make {}", folder.display())),
    }
}

/// Removes a lab's folder, and the folder of labs if that was the last. The caller holds the lock.
pub(super) fn remove_folder(name: &str) -> anyhow::Result<()> {
    let folder = folder(name)?;
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", folder.display()));
        }
        _ => {}
    }
    // Fails, as it should, while there are other labs.
    let _ = fs::remove_dir(BASE);
    Ok(())
}

/// Names of the labs that are recorded.
pub(super) fn names() -> Vec<String> {
    let entries = fs::read_dir(BASE).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| folder(name).is_ok())
        .collect();
    names.sort();
    names
}

/// `; there are: a, b`.
pub(super) fn others() -> String {
    match names().as_slice() {
        [] => "; no lab is up".to_owned(),
        names => format!("; there are: {}", names.join(", ")),
    }
}

/// The lock under which records change; it opens when it goes out of scope.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take() -> anyhow::Result<Lock> {
        loop {
            let mut builder = fs::DirBuilder::new();
            builder.mode(0o700).recursive(true).create(BASE)?;
            let file = File::open(BASE)?;
            file.lock()?;
            // Its last holder may have removed the folder; then it locks nothing any more.
            let is_there = fs::metadata(BASE).is_ok_and(|now| {
                let held = file.metadata();
                held.is_ok_and(|held| (held.dev(), held.ino()) == (now.dev(), now.ino()))
            });
            if is_there {
                return Ok(Lock { _file: file });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_labs_stay_inside_their_folder() {
        for good in ["lab", "a1", "abcdefghij"] {
            assert!(folder(good).is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", "a-b", "1a", "Lab", "abcdefghijk"] {
            assert!(folder(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_record_survives_its_text() {
        let topology = Topology::every_kind();
        let mut state = State::new(&topology, "7".into(), None);
        state.cables.insert("cone".into(), Impairment::default());
        state.turns.insert("cone".into(), FIRST);
        state
            .machines
            .insert("wan".into(), Identity::of(Path::new("/")));
        let text = serde_json::to_string(&state).unwrap();
        let read: State = serde_json::from_str(&text).unwrap();
        assert_eq!(read, state);
        assert_eq!(read.topology().unwrap(), topology);
    }
}
