//! A copy of the sources, in which faults are planted.

use super::{Fault, FaultError};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that a build of the simulator and the packages' tests need: cargo reads the manifest
/// of every package, also of those that it does not build.
const SOURCES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "appliance",
    "docs",
    "ledger",
    "node",
    "protocol",
    "testnet",
];
/// Folders of other programs.
const FOREIGN: &[&str] = &["node_modules", "target"];

/// Where these sources lie.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A copy of the sources at [`root`].
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    copy: PathBuf,
}

impl Tree {
    /// Makes `copy` equal to the sources. Files that are equal already keep their times, so that
    /// cargo does not build them again.
    ///
    /// # Errors
    /// A file cannot be read, written or removed.
    pub(crate) fn of(root: &Path, copy: &Path) -> Result<Tree, FaultError> {
        let failed = |e| FaultError::File(copy.to_owned(), e);
        fs::create_dir_all(copy).map_err(failed)?;
        for name in SOURCES {
            mirror(&root.join(name), &copy.join(name)).map_err(failed)?;
        }
        Ok(Tree {
            root: root.to_owned(),
            copy: copy.to_owned(),
        })
    }
    /// Where the copy lies.
    pub(crate) fn path(&self) -> &Path {
        &self.copy
    }
    /// Plants a fault beside those that are planted already.
    ///
    /// # Errors
    /// Its patch does not apply, or a file cannot be written.
    pub(crate) fn plant(&self, fault: &Fault) -> Result<(), FaultError> {
        for (file, text) in fault.apply(&self.copy)? {
            let path = self.copy.join(file);
            fs::write(&path, text).map_err(|e| FaultError::File(path, e))?;
        }
        Ok(())
    }
    /// Takes the faults out of a fault's files.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub(crate) fn mend(&self, fault: &Fault) -> Result<(), FaultError> {
        for file in fault.files() {
            let (from, to) = (self.root.join(file), self.copy.join(file));
            mirror(&from, &to).map_err(|e| FaultError::File(to, e))?;
        }
        Ok(())
    }
}

/// Makes one file or folder equal to another.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_file() {
        let bytes = fs::read(from)?;
        if fs::read(to).ok().as_ref() != Some(&bytes) {
            fs::write(to, bytes)?;
        }
        return Ok(());
    }
    fs::create_dir_all(to)?;
    let mut here = BTreeSet::<OsString>::new();
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if !FOREIGN.iter().any(|foreign| name == *foreign) {
            mirror(&from.join(&name), &to.join(&name))?;
            here.insert(name);
        }
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if here.contains(&entry.file_name()) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_copied() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let (_, rest) = manifest.split_once("members = [").unwrap();
        let (members, _) = rest.split_once(']').unwrap();
        let folders = members
            .split('"')
            .skip(1)
            .step_by(2)
            .map(|member| member.split('/').next().unwrap())
            .collect::<BTreeSet<_>>();
        assert!(folders.contains("node"));
        for folder in folders {
            assert!(SOURCES.contains(&folder), "{folder} is not copied");
        }
    }
}
