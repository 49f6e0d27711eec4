//! A buyer's order as it is kept on disk: what cannot be told from the ledger.
//!
//! Where the order stands (committed, standing, running) is always read from the ledger's state, so
//! that a restart resumes exactly where the network is. Kept here are the secrets (salts), the job's
//! text and how far its tasks have come.

use super::OrderKey;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{ClassId, OfferId};
use gridbay_protocol::job::{JobExit, JobSpec};
use gridbay_protocol::order::{Bid, Step};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Bytes of a record at the most.
pub const RECORD_BYTES: usize = 1024 * 1024;

/// How units are bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terms {
    /// A sealed bid.
    Sealed {
        /// Marginal values.
        steps: Vec<Step>,
        /// Fewest units of use.
        min: u32,
        /// Most to pay over the whole order.
        budget: Credits,
        /// Heights to stand without running before giving up.
        patience: u64,
    },
    /// Buy-it-now.
    Buy {
        /// Units.
        units: u32,
        /// Most to pay per slot for all units.
        limit: Credits,
        /// Offers to buy from, ascending; empty for any.
        offers: Vec<OfferId>,
    },
}

/// A new order as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// Its local id, from fresh randomness.
    pub key: OrderKey,
    /// Fresh randomness: all salts are derived from it.
    #[serde(with = "gridbay_protocol::ids::byte_array")]
    pub entropy: [u8; 32],
    /// Name for people.
    pub name: String,
    /// When the API accepted it, milliseconds since 1970.
    pub accepted_ms: u64,
    /// Class.
    pub class: ClassId,
    /// Terms.
    pub terms: Terms,
    /// Slots to run at the most.
    pub slots: u32,
    /// Number of tasks: units asked for.
    pub tasks: u32,
    /// The job.
    pub spec: JobSpec,
}

/// How far one task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRecord {
    /// Starts so far; the next run has this attempt number.
    pub attempt: u32,
    /// Runs lost by a seller's fault.
    pub lost: u32,
    /// How it ended, once it did and its output is here.
    pub done: Option<JobExit>,
    /// First instruction of the last run, milliseconds since 1970; 0 if none.
    pub started_ms: u64,
    /// End of the last run.
    pub ended_ms: u64,
}

impl Record {
    /// The record of a new order: nothing sent yet.
    pub fn new(order: NewOrder) -> Record {
        let tasks = vec![TaskRecord::default(); order.tasks as usize];
        Record {
            order,
            attempt: 0,
            valid_until: 0,
            bid: None,
            included: false,
            paid: Credits::ZERO,
            cancelling: false,
            tasks,
            finish: None,
        }
    }
    /// Parses what [`crate::effect::Effect::SaveOrder`] had kept.
    pub fn decode(bytes: &[u8]) -> Result<Record, CodecError> {
        codec::decode(bytes, RECORD_BYTES)
    }
    /// Salt of the work hash.
    pub fn work_salt(&self) -> [u8; 32] {
        hash(Domain::Agent, &[&self.order.entropy, b"work"])
    }
    /// Salt of this attempt's seal.
    pub fn seal_salt(&self) -> [u8; 32] {
        hash(
            Domain::Agent,
            &[&self.order.entropy, b"seal", &self.attempt.to_be_bytes()],
        )
    }
}

/// Why the buyer's side of an order is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// All tasks ended.
    Done,
    /// The user cancelled it.
    Cancelled,
    /// The ledger ended it; the word is the reason.
    Ended(String),
    /// The ledger refused it; the word is the reason.
    Refused(String),
}

/// The record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The order.
    pub order: NewOrder,
    /// Counts the commitments or buys sent.
    pub attempt: u32,
    /// Last height at which the entry of this attempt may be included.
    pub valid_until: u64,
    /// The bid sealed by this attempt.
    pub bid: Option<Bid>,
    /// Whether the entry of this attempt was seen in the ledger.
    pub included: bool,
    /// Charged less refunded, as far as seen.
    pub paid: Credits,
    /// Whether the user has cancelled it.
    pub cancelling: bool,
    /// The tasks.
    pub tasks: Vec<TaskRecord>,
    /// Set when it is over.
    pub finish: Option<Finish>,
}
