//! Flaws of an entry's bytes or values that show without the ledger.

use crate::codec::CodecError;
use crate::ids::NetworkId;
use crate::order::{ContractFault, Flaw};
use crate::told::Told;

/// Why bytes are no well-formed entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not the canonical bytes of a signed entry.
    #[error("malformed entry")]
    Bytes(#[from] CodecError),
    /// For another network.
    #[error("an entry for network {0}")]
    Network(NetworkId),
    /// A value out of range; names the kind of entry.
    #[error("a {0} entry with values out of range")]
    Range(&'static str),
    /// An order that makes no sense.
    #[error("a {kind} entry: {flaw}")]
    Order {
        /// Kind of the entry.
        kind: &'static str,
        /// Why.
        flaw: Flaw,
    },
    /// A proposal of a contract that nobody could fulfil or compute.
    #[error("the terms of a contract")]
    Contract(#[from] ContractFault),
}

impl Malformed {
    /// Its own words, with what they tell people; those of orders and contracts are theirs.
    pub const WORDS: &[Told] = &[
        Told::new(
            "bytes",
            "Not the canonical bytes of an entry",
            "sign it with this program",
        ),
        Told::new(
            "network",
            "An entry for another network",
            "join that network",
        ),
        Told::new(
            "range",
            "A value out of range in an entry that is no order",
            "check it against the limits",
        ),
    ];
    /// The way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Malformed::Order { flaw, .. } => flaw.told().hint,
            Malformed::Contract(fault) => fault.hint(),
            own => {
                let told = Self::WORDS.iter().find(|told| told.word == own.word());
                told.map_or("", |told| told.hint)
            }
        }
    }
    /// The reason in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Malformed::Bytes(_) => "bytes",
            Malformed::Network(_) => "network",
            Malformed::Range(_) => "range",
            Malformed::Order { flaw, .. } => flaw.word(),
            Malformed::Contract(fault) => fault.word(),
        }
    }
}
