//! Run folders: where everything of a run lies.
//!
//! ```text
//! runs/<name>/run.json                 processes and paths of the run
//! runs/<name>/nodes/<node>/            data folder of a node, private to its owner
//! runs/<name>/nodes/<node>.log         what its process printed
//! ```
//!
//! Runs lie in `runs` of the current folder. Where that cannot be written, or is so deep that a
//! node's socket would get a longer path than a socket can have, they lie in the system's folder
//! for temporary files.

use anyhow::{Context as _, bail};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the path of a run folder at the most: a socket's path has 107, of which the part from
/// `nodes` on needs up to 37.
const PATH_BYTES: usize = 70;
/// Characters of a run's name at the most.
const NAME_CHARS: usize = 24;

/// A run's folder: absolute, without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// Makes the folder of a new run.
    pub fn create(name: &str) -> anyhow::Result<RunFolder> {
        check_name(name)?;
        let mut problem = None;
        for base in bases() {
            match RunFolder::create_in(&base, name) {
                Ok(folder) => return Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let path = base.join(name);
                    bail!(
                        "run `{name}` exists in {}; end it with: gridbay-testnet down --name {name}",
                        path.display()
                    );
                }
                Err(error) => problem = Some((base, error)),
            }
        }
        let (base, error) = problem.context("there is no folder for runs")?;
        Err(error).with_context(|| format!("no run folder in {}", base.display()))
    }
    /// Makes it below `base`, which is made if need be.
    pub fn create_in(base: &Path, name: &str) -> io::Result<RunFolder> {
        fs::create_dir_all(base)?;
        let path = base.canonicalize()?.join(name);
        if path.as_os_str().len() > PATH_BYTES {
            // Leaves no trace of a try that came to nothing.
            let _ = fs::remove_dir(base);
            return Err(io::Error::new(
                io::ErrorKind::InvalidFilename,
                format!("{} is too long for a socket's path", path.display()),
            ));
        }
        fs::create_dir(&path)?;
        fs::create_dir(path.join("nodes"))?;
        Ok(RunFolder(path))
    }
    /// The folder of a run that exists.
    pub fn open(name: &str) -> anyhow::Result<RunFolder> {
        check_name(name)?;
        let found = bases().into_iter().map(|base| base.join(name));
        let found = found.filter_map(|path| path.canonicalize().ok());
        let mut runs = found.filter(|path| path.join("nodes").is_dir());
        match runs.next() {
            Some(path) => Ok(RunFolder(path)),
            None => bail!("there is no run `{name}` in {}", shown(&bases())),
        }
    }
    /// Names of the runs that exist.
    pub fn names() -> Vec<String> {
        let entries = bases()
            .into_iter()
            .filter_map(|base| fs::read_dir(base).ok());
        let runs = entries.flatten().filter_map(Result::ok);
        let runs = runs.filter(|entry| entry.path().join("nodes").is_dir());
        let mut names: Vec<String> = runs
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names.dedup();
        names
    }
    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }
    /// Data folder of a node.
    pub fn data(&self, node: &str) -> PathBuf {
        self.0.join("nodes").join(node)
    }
    /// Log of a node.
    pub fn log(&self, node: &str) -> PathBuf {
        self.0.join("nodes").join(format!("{node}.log"))
    }
    /// Processes and paths of the run.
    pub fn record(&self) -> PathBuf {
        self.0.join("run.json")
    }
    /// Removes it with all that is in it, and the folder of runs if that was the last.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                open_up(&self.0)?;
                fs::remove_dir_all(&self.0)?;
            }
            _ => {}
        }
        if let Some(base) = self.0.parent().filter(|base| base.ends_with("runs")) {
            // Fails, as it should, while there are other runs.
            let _ = fs::remove_dir(base);
        }
        Ok(())
    }
}

/// A job may have closed its own folders to their owner.
fn open_up(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if fs::symlink_metadata(path)?.is_dir() {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(path)? {
            open_up(&entry?.path())?;
        }
    }
    Ok(())
}

/// Where runs may lie, the preferred place first.
fn bases() -> Vec<PathBuf> {
    let here = env::current_dir().map(|dir| dir.join("runs"));
    let elsewhere = env::temp_dir().join("gridbay").join("runs");
    here.into_iter().chain([elsewhere]).collect()
}

fn shown(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    paths.join(" or ")
}

fn check_name(name: &str) -> anyhow::Result<()> {
    let good = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if name.is_empty() || name.len() > NAME_CHARS || !name.bytes().all(good) {
        bail!("`{name}` is no name of a run: want 1 to {NAME_CHARS} letters, digits, - and _");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder_of_runs() {
        for good in ["demo", "a-1_B", &"x".repeat(NAME_CHARS)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", "a b", ".x", &"x".repeat(NAME_CHARS + 1)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_is_made_once_and_removed_whole() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("runs");
        let run = RunFolder::create_in(&base, "a").unwrap();
        let again = RunFolder::create_in(&base, "a").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        fs::create_dir(run.data("v1")).unwrap();
        run.remove().unwrap();
        assert!(!base.exists());
    }

    #[test]
    fn a_path_too_long_for_a_socket_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("x".repeat(PATH_BYTES));
        assert!(RunFolder::create_in(&base, "a").is_err());
        assert!(!base.exists());
    }
}
