//! Faults found before: a plan each, kept in `regressions/`, that must pass for ever.

use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One fault that was found and mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// The failure and its cause, in a sentence or two.
    pub fault: String,
    /// The smallest plan that showed it.
    pub plan: Plan,
}

/// A file that is no regression.
#[derive(Debug, thiserror::Error)]
pub enum RegressionError {
    /// It cannot be read.
    #[error("cannot read {0}")]
    Read(PathBuf, #[source] std::io::Error),
    /// It holds something else.
    #[error("{0} holds no regression")]
    Parse(PathBuf, #[source] serde_json::Error),
}

/// Reads one file.
///
/// # Errors
/// It cannot be read, or holds something else.
pub fn read(path: &Path) -> Result<Regression, RegressionError> {
    let text = std::fs::read_to_string(path).map_err(|e| RegressionError::Read(path.into(), e))?;
    serde_json::from_str(&text).map_err(|e| RegressionError::Parse(path.into(), e))
}

/// All files of a folder, by name.
///
/// # Errors
/// The folder cannot be listed.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, RegressionError> {
    let failed = |e| RegressionError::Read(folder.into(), e);
    let mut files = Vec::new();
    for item in std::fs::read_dir(folder).map_err(failed)? {
        let path = item.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
