//! The data folder: where everything of a node lies.

use std::env;
use std::path::{Path, PathBuf};

/// A node runs in a folder already.
#[derive(Debug, thiserror::Error)]
#[error("a node runs already in {}", .0.display())]
pub struct Taken(pub PathBuf);

/// Paths in a data folder. Nothing is touched by asking for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The folder at `path`; a relative path counts from the current folder, once and for all.
    pub fn new(path: impl Into<PathBuf>) -> Home {
        let path = path.into();
        Home(std::path::absolute(&path).unwrap_or(path))
    }
    /// `.gridbay` in the user's home folder; `None` if the user has none.
    pub fn default_path() -> Option<PathBuf> {
        env::var_os("HOME")
            .filter(|home| !home.is_empty())
            .map(|home| Path::new(&home).join(".gridbay"))
    }
    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }
    /// Configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.0.join("gridbay.toml")
    }
    /// Key folder.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }
    /// Genesis of the network: canonical bytes.
    pub fn genesis(&self) -> PathBuf {
        self.0.join("genesis.cbor")
    }
    /// Invitation in text form, mode 0600: its token is a secret until it is used.
    pub fn invitation(&self) -> PathBuf {
        self.0.join("invitation")
    }
    /// Nodes met in earlier runs, a text line each.
    pub fn peers(&self) -> PathBuf {
        self.0.join("peers")
    }
    /// Peers that the owner blocked or trusts, a text line each.
    pub fn marks(&self) -> PathBuf {
        self.0.join("marks")
    }
    /// Those whom the owner admits to clusters.
    pub fn guests(&self) -> PathBuf {
        self.0.join("guests.json")
    }
    /// Unix socket of the API, unless configured elsewhere.
    pub fn socket(&self) -> PathBuf {
        self.0.join("api.sock")
    }
    /// File that a running node keeps locked.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }
    /// Tokens of programs, by their hashes.
    pub fn tokens(&self) -> PathBuf {
        self.0.join("tokens")
    }
    /// Users and projects.
    pub fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }
    /// Token of the API's TCP side.
    pub fn token(&self) -> PathBuf {
        self.0.join("api.token")
    }
}
