//! The node's keys: made on the node, kept in its data folder, never shown.
//!
//! | file | what it signs |
//! |---|---|
//! | `keys/account.key` | entries: orders, offers, transfers, invitations |
//! | `keys/transport.key` | the overlay's handshakes |
//! | `keys/validator.key` | proposals and votes; founding members only |
//! | `keys/beacon.key` | nothing: secret at the start of the validator's hash chain |
//!
//! Each file holds 32 random bytes as 64 hex digits and a line end. They are separate so that each
//! can be replaced, or kept elsewhere, alone. No key is ever taken from or put into an argument, an
//! environment variable or a log.

mod file;

pub use file::{private_folder, read_secret, write_secret};

use gridbay_protocol::ids::{bytes_from_hex, to_hex};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::io;
use std::path::{Path, PathBuf};

/// Why keys could not be made or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum KeyFileError {
    /// There is no such file.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// A secret is never overwritten.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// Not 64 hex digits in a regular file.
    #[error("{} is not a key file: want 64 hex digits", .0.display())]
    Broken(PathBuf),
    /// Others may read it.
    #[error("{} has mode {mode:o}: others can read it", path.display())]
    Loose {
        /// The file or folder.
        path: PathBuf,
        mode: u32,
    },
    /// It belongs to somebody else.
    #[error("{} belongs to user {owner}", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        owner: u32,
    },
    /// The disk refused.
    #[error("{}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("no random bytes from the system")]
    Randomness,
}

/// The secrets of a node by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// Signs entries.
    Account,
    /// Authenticates connections.
    Transport,
    /// Signs votes and proposals.
    Validator,
    /// Start of the beacon chain.
    Beacon,
}

impl KeyName {
    /// The keys of every node.
    pub const NODE: [KeyName; 2] = [KeyName::Account, KeyName::Transport];
    /// The further keys of a validator.
    pub const VALIDATOR: [KeyName; 2] = [KeyName::Validator, KeyName::Beacon];

    fn file(self) -> &'static str {
        match self {
            KeyName::Account => "account.key",
            KeyName::Transport => "transport.key",
            KeyName::Validator => "validator.key",
            KeyName::Beacon => "beacon.key",
        }
    }
}

/// The key folder of a node.
#[derive(Clone, Debug)]
pub struct KeyFolder(PathBuf);

impl KeyFolder {
    /// The folder at `path`, made with mode 0700 if need be.
    pub fn open(path: &Path) -> Result<KeyFolder, KeyFileError> {
        private_folder(path)?;
        Ok(KeyFolder(path.to_owned()))
    }
    /// Makes those of `names` that do not exist yet; others stay as they are.
    pub fn create_missing(&self, names: &[KeyName]) -> Result<(), KeyFileError> {
        for name in names {
            let path = self.path(*name);
            if !path.try_exists().unwrap_or(true) {
                write_secret(&path, format!("{}\n", to_hex(&random()?)))?;
            }
        }
        Ok(())
    }
    /// Reads all keys. Validator and beacon are there together or not at all.
    pub fn load(&self) -> Result<NodeKeys, KeyFileError> {
        let is_validator = KeyName::VALIDATOR
            .iter()
            .any(|name| self.path(*name).try_exists().unwrap_or(true));
        let validator = if is_validator {
            Some(ValidatorKeys {
                key: SecretKey::from_seed(&self.read(KeyName::Validator)?),
                beacon_secret: self.read(KeyName::Beacon)?,
            })
        } else {
            None
        };
        Ok(NodeKeys {
            account: SecretKey::from_seed(&self.read(KeyName::Account)?),
            transport: SecretKey::from_seed(&self.read(KeyName::Transport)?),
            validator,
        })
    }
    fn path(&self, name: KeyName) -> PathBuf {
        self.0.join(name.file())
    }
    fn read(&self, name: KeyName) -> Result<[u8; 32], KeyFileError> {
        let path = self.path(name);
        let text = read_secret(&path)?;
        bytes_from_hex(text.trim_end()).map_err(|_| KeyFileError::Broken(path))
    }
}

/// All keys of a node.
#[derive(Clone, Debug)]
pub struct NodeKeys {
    /// Signs entries.
    pub account: SecretKey,
    /// Authenticates connections.
    pub transport: SecretKey,
    /// A validator's secrets.
    pub validator: Option<ValidatorKeys>,
}

impl NodeKeys {
    /// Public half of the transport key: the node's name on the network.
    pub fn node(&self) -> PublicKey {
        self.transport.public()
    }
}

/// The secrets of a validator.
#[derive(Clone)]
pub struct ValidatorKeys {
    /// Signs votes and proposals.
    pub key: SecretKey,
    /// Start of the beacon chain.
    pub beacon_secret: [u8; 32],
}

impl std::fmt::Debug for ValidatorKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValidatorKeys")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// 32 bytes from the system's generator.
pub fn random() -> Result<[u8; 32], KeyFileError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| KeyFileError::Randomness)?;
    Ok(bytes)
}
