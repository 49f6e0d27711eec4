//! Bids that were not opened.

use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A bid that was not opened. It is in the book no more; its deposit waits for an appeal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unopened {
    /// Its owner.
    pub account: AccountId,
    /// The class.
    pub class: ClassId,
    /// Round of the commitment.
    pub round: u64,
    /// The seal.
    pub seal: Hash32,
    /// It asked for at most `2^bracket` units.
    pub bracket: u8,
    /// As in [`super::Stage::Sealed`], over all blocks in which it could have been opened.
    pub reach: Option<Credits>,
    /// Last height of an appeal.
    pub until: u64,
}
