//! `invite.toml`: what an owner tells an appliance.
//!
//! 1. The file is TOML of at most [`FILE_BYTES`], or the text of an invitation alone.
//! 2. `invitation` is the token of `gridbay invite`; it may be left out once the node has joined.
//! 3. `name` is the node's name: letters, digits and hyphens, as a host has.
//! 4. `bootstrap` lists addresses of nodes to start from, each with `/p2p/`.
//! 5. `owner` is the key by which the owner's node controls this one, as `gridbay appliance key`
//!    prints it there; without it nobody does.
//! 6. `reset` is the key of a node, as its console shows it: the machine of that node is erased.
//! 7. `[sell]` says what to sell: `class`, `units`, `reserve_vcpu`, `reserve_memory`,
//!    `reserve_disk`, `price`, `buy`, and `off = true` to sell nothing.
//! 8. Any other key is refused by its name, so that a slip of the pen is no silent default.
//! 9. No error quotes a value of `invitation`.

mod read;
mod value;

pub use value::{Credits, Token};

use std::fmt;

/// Largest `invite.toml` taken.
pub const FILE_BYTES: usize = 64 * 1024;
/// Largest `network.network` taken.
pub const NETWORK_BYTES: usize = 16 * 1024;
/// Memory that is never sold unless the owner says so: the system and the node need it.
pub const RESERVE_MEMORY_MIB: u64 = 256;

/// What an owner told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The invitation.
    pub invitation: Option<Token>,
    /// The node's name.
    pub name: Option<String>,
    /// Nodes to start from.
    pub bootstrap: Vec<String>,
    /// Key by which it is controlled from afar.
    pub owner: Option<String>,
    /// Key of the node that is to be erased.
    pub reset: Option<String>,
    /// What to sell.
    pub sell: Sell,
}

/// What to sell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sell {
    /// Class; `None` for the one that fits best.
    pub class: Option<String>,
    /// Units; `None` for as many as fit.
    pub units: Option<u32>,
    /// Processors that are not sold.
    pub reserve_vcpu: u32,
    /// Memory that is not sold.
    pub reserve_memory_mib: u64,
    /// Disk that is not sold; `None` for a part of the disk.
    pub reserve_disk_mib: Option<u64>,
    /// Least price, per node-hour; `None` for the market's.
    pub price: Option<Credits>,
    /// Buy-it-now price, per node-hour.
    pub buy: Option<Credits>,
    /// Sells nothing.
    pub off: bool,
}

impl Default for Sell {
    fn default() -> Sell {
        Sell {
            class: None,
            units: None,
            reserve_vcpu: 0,
            reserve_memory_mib: RESERVE_MEMORY_MIB,
            reserve_disk_mib: None,
            price: None,
            buy: None,
            off: false,
        }
    }
}

/// The files of one place.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// `invite.toml`, or what stands for it.
    pub invite: Option<Vec<u8>>,
    /// `network.network`.
    pub network: Option<Vec<u8>>,
}

/// The files hold a secret.
impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |file: &Option<Vec<u8>>| file.as_ref().map(Vec::len);
        let (invite, network) = (size(&self.invite), size(&self.network));
        write!(f, "Files({invite:?}, {network:?} bytes)")
    }
}

/// Why a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is too large.
    #[error("invite.toml has more than {most} bytes")]
    TooLarge {
        /// Largest file taken.
        most: usize,
    },
    /// It is no text.
    #[error("invite.toml is no UTF-8 text")]
    NotText,
    /// It is no TOML.
    #[error("invite.toml, line {line}: {problem}")]
    Syntax {
        /// Line, from 1 on.
        line: usize,
        /// What the parser says.
        problem: String,
    },
    /// It has a key that means nothing.
    #[error("invite.toml has the unknown key `{key}`")]
    Unknown {
        /// The key.
        key: String,
    },
    /// A value cannot be used.
    #[error("invite.toml, `{key}`: {problem}")]
    Value {
        /// The key.
        key: &'static str,
        /// The fault of its value.
        problem: String,
    },
}

impl ConfigError {
    /// What the owner can do.
    pub fn hint(&self) -> &'static str {
        match self {
            ConfigError::TooLarge { .. } | ConfigError::NotText => {
                "write the disk anew: gridbay invite --image FILE"
            }
            ConfigError::Syntax { .. } => "mend that line on the disk, or write the disk anew",
            ConfigError::Unknown { .. } => {
                "known are invitation, name, bootstrap, owner, reset, and in [sell] class, units, \
                 reserve_vcpu, reserve_memory, reserve_disk, price, buy, off"
            }
            ConfigError::Value {
                key: "invitation", ..
            } => "ask the inviter for a new one and copy it whole",
            ConfigError::Value { .. } => "mend that value on the disk",
        }
    }
}

#[cfg(test)]
mod tests;
