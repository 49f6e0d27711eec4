//! Contracts and their jobs as the ledger keeps them.

use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A live contract, named by the entry that proposed it. The client's money lies in its escrow
/// purse, the provider's in its bond purse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The account that proposed it and pays.
    pub client: AccountId,
    /// The terms proposed; they name the provider.
    pub terms: ContractTerms,
    /// How far it has come; `None` until the provider signs.
    pub progress: Option<Progress>,
}

/// How far a signed contract has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Height at which it was signed.
    pub signed: u64,
    /// Whether no more jobs can come, even if fewer than all were requested.
    pub closed: bool,
    /// Jobs requested.
    pub requested: u32,
    /// Jobs done.
    pub completed: u32,
    /// Jobs timed out.
    pub failed: u32,
    /// Sum of what jobs pay on their own.
    pub earned: Credits,
    /// Sum of what the provider owes.
    pub owed: Credits,
}

impl Progress {
    /// Of a contract signed at this height.
    pub(crate) fn signed_at(height: u64) -> Progress {
        Progress {
            signed: height,
            closed: false,
            requested: 0,
            completed: 0,
            failed: 0,
            earned: Credits::ZERO,
            owed: Credits::ZERO,
        }
    }
    /// Jobs requested and not decided.
    pub fn open(&self) -> u32 {
        self.requested - self.completed - self.failed
    }
}

impl Contract {
    /// Jobs that the client may still request, whatever slot it is.
    pub fn left(&self) -> u32 {
        match &self.progress {
            Some(progress) if !progress.closed => self.terms.jobs - progress.requested,
            _ => 0,
        }
    }
}

/// A requested job that is not decided, named by the entry that requested it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractJob {
    /// Its number among the contract's, from 0.
    pub number: u32,
    /// Slot in which it was requested.
    pub arrival: u64,
    /// Salted hash of what is to run.
    pub work: Hash32,
    /// Slots that count for it so far.
    pub served: u32,
    /// The order that serves it.
    pub order: Option<OrderId>,
}

/// The job that an order serves. The user of its lease is then the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    /// The contract.
    pub contract: OrderId,
    /// The job.
    pub job: OrderId,
    /// Height at which the provider said so.
    pub since: u64,
}

impl Serving {
    /// The job's place in its table.
    pub fn key(&self) -> (OrderId, OrderId) {
        (self.contract, self.job)
    }
}

/// How many contracts and promised jobs an account has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    /// Live contracts as client, signed or not.
    pub(crate) contracts: u32,
    /// Jobs of contracts signed as provider.
    pub(crate) jobs: u32,
}
