//! One planted fault: a name, the mistake, and the patch that makes it.

use diffy::Patch;
use std::io;
use std::path::{Path, PathBuf};

/// Where the patches lie, below the root of the sources.
const FOLDER: &str = "testnet/sim/planted";
/// Begins the part of a patch that is about one file.
const FILE: &str = "--- a/";

/// A fault. Its file is called `NAME.patch`: what is wrong in a sentence or two, an empty line, and
/// a unified diff whose paths begin at the root of the sources.
#[derive(Debug)]
pub struct Fault {
    /// Its name, after the mistake.
    pub name: String,
    /// The mistake.
    pub what: String,
    /// Patched files, and the diff of each.
    parts: Vec<(PathBuf, String)>,
}

/// Why a fault cannot be planted.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// A file or folder cannot be read or written.
    #[error("cannot read or write {0}")]
    File(PathBuf, #[source] io::Error),
    /// A patch is no unified diff.
    #[error("{0}.patch is no patch")]
    Shape(String, #[source] diffy::ParsePatchError),
    /// The code that a patch changes has changed itself.
    #[error("{fault}.patch does not apply to {file}: change it as the code has changed")]
    Stale {
        /// The fault.
        fault: String,
        /// The file that it was to change.
        file: PathBuf,
        /// The part that does not apply.
        source: diffy::ApplyError,
    },
    /// Nothing is called so.
    #[error("no fault is called {0}; `sim hunt --list` names all")]
    Unknown(String),
}

impl Fault {
    /// All faults of the sources at `root`, by name.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read.
    pub fn all(root: &Path) -> Result<Vec<Fault>, FaultError> {
        let folder = root.join(FOLDER);
        let failed = |e| FaultError::File(folder.clone(), e);
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|e| FaultError::File(path.clone(), e))?;
            let name = path.file_stem().unwrap_or_default();
            all.push(Fault::read(&name.to_string_lossy(), &text));
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
    fn read(name: &str, text: &str) -> Fault {
        let first = text.find(FILE).unwrap_or(text.len());
        let (what, diffs) = text.split_at(first);
        let parts = diffs.split(FILE).skip(1).map(|diff| {
            let path = diff.lines().next().unwrap_or_default();
            (PathBuf::from(path), format!("{FILE}{diff}"))
        });
        Fault {
            name: name.to_owned(),
            what: what.split_whitespace().collect::<Vec<_>>().join(" "),
            parts: parts.collect(),
        }
    }
    /// The files that it changes.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|(path, _)| path.as_path())
    }
    /// Its files of the sources at `root` as they are with the fault. Writes nothing.
    ///
    /// # Errors
    /// A file cannot be read, or the patch does not apply to it.
    pub fn apply(&self, root: &Path) -> Result<Vec<(PathBuf, String)>, FaultError> {
        let patched = self.parts.iter().map(|(file, diff)| {
            let path = root.join(file);
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|e| FaultError::File(path, e))?;
            let patch = Patch::from_str(diff);
            let patch = patch.map_err(|e| FaultError::Shape(self.name.clone(), e))?;
            let text = diffy::apply(&text, &patch).map_err(|source| FaultError::Stale {
                fault: self.name.clone(),
                file: file.clone(),
                source,
            })?;
            Ok((file.clone(), text))
        });
        patched.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::tree;
    use std::collections::BTreeSet;

    #[test]
    fn every_fault_applies_to_the_sources_and_says_what_is_wrong() {
        let root = tree::root();
        let all = Fault::all(&root).unwrap();
        assert!(all.len() >= 94, "only {} faults", all.len());
        for fault in &all {
            let name = &fault.name;
            assert!(fault.what.ends_with('.'), "{name} says: {}", fault.what);
            let patched = fault.apply(&root).unwrap_or_else(|e| panic!("{e}"));
            assert!(!patched.is_empty(), "{name} changes nothing");
            for (file, text) in patched {
                let sound = std::fs::read_to_string(root.join(&file)).unwrap();
                assert_ne!(sound, text, "{name} leaves {} as it is", file.display());
            }
        }
    }

    #[test]
    fn the_page_of_planted_faults_has_a_row_for_each() {
        let root = tree::root();
        let page = std::fs::read_to_string(root.join("docs/planted.md")).unwrap();
        let rows = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let rows: BTreeSet<&str> = rows
            .filter(|name| name.starts_with(char::is_uppercase))
            .collect();
        let all = Fault::all(&root).unwrap();
        let names: BTreeSet<&str> = all.iter().map(|fault| fault.name.as_str()).collect();
        assert_eq!(rows, names);
    }
}
