//! Seals: a commitment in one round, its opening in the next.

use super::bid::Bid;
use crate::ids::{ClassId, EntryId, Hash32};
use serde::{Deserialize, Serialize};

/// A sealed bid: binds the account to open it in the next round or lose the deposit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The class, needed for deposit and quota.
    pub class: ClassId,
    /// The seal.
    pub seal: Hash32,
    /// Size bracket: the bid asks for at most `2^bracket` units, 0 to [`BRACKET`](crate::limits::BRACKET).
    pub bracket: u8,
}

/// Opens a commitment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The entry that committed.
    pub commit: EntryId,
    /// The bid.
    pub bid: Bid,
    /// The salt of the seal.
    #[serde(with = "crate::ids::byte_array")]
    pub salt: [u8; 32],
}
