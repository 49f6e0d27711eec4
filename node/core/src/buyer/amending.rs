//! An amendment under way, as the record keeps it.

use super::appeal::Opening;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::order::{Amendment, Step};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// The new bid of an order, until the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amending {
    /// Marginal values.
    pub steps: Vec<Step>,
    /// Most to pay over the whole order.
    pub budget: Credits,
    /// Commitments of it that came to nothing.
    pub failed: u32,
    /// The commitment under way, perhaps of an earlier wish.
    pub sent: Option<SentAmendment>,
}

/// A sealed amendment under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentAmendment {
    /// Counts the amendments that the order has sent, from 1: each has a salt of its own.
    pub number: u32,
    /// The contents that were sealed.
    pub amendment: Amendment,
    /// The entry that commits it.
    pub commit: EntryId,
    /// Its last height.
    pub valid_until: u64,
    /// Whether it was seen in the ledger.
    pub included: bool,
    /// Its opening, once it was sent.
    pub opening: Option<Opening>,
}
