//! Events of contracts: signed, a job decided, settled, lapsed.

use crate::ids::{AccountId, OrderId};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// An event in the life of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ContractEvent {
    /// The provider signed.
    Signed {
        /// The contract.
        contract: OrderId,
        /// The client.
        client: AccountId,
        /// The provider.
        provider: AccountId,
        /// Staked by the provider.
        bond: Credits,
    },
    /// A job is done, or has failed.
    Decided(JobRecord),
    /// All is decided and paid.
    Settled(Settlement),
    /// It ended without having been signed.
    Lapsed {
        /// The contract.
        contract: OrderId,
        /// Whether the client took it back.
        withdrawn: bool,
    },
}

impl ContractEvent {
    /// The contract.
    pub fn contract(&self) -> &OrderId {
        match self {
            ContractEvent::Signed { contract, .. } | ContractEvent::Lapsed { contract, .. } => {
                contract
            }
            ContractEvent::Decided(job) => &job.contract,
            ContractEvent::Settled(settled) => &settled.contract,
        }
    }
    /// Client and provider, where it names them.
    pub fn parties(&self) -> Option<[AccountId; 2]> {
        match self {
            ContractEvent::Signed {
                client, provider, ..
            } => Some([*client, *provider]),
            ContractEvent::Settled(settled) => Some([settled.client, settled.provider]),
            ContractEvent::Decided(_) | ContractEvent::Lapsed { .. } => None,
        }
    }
}

/// How a job of a contract ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The contract.
    pub contract: OrderId,
    /// The job.
    pub job: OrderId,
    /// Its number, from 0.
    pub number: u32,
    /// Slot of the request.
    pub arrival: u64,
    /// Slots from then to its end.
    pub after: u64,
    /// Whether it is done.
    pub done: bool,
    /// Its pay on its own.
    pub pays: Credits,
    /// The provider's debt for it.
    pub owes: Credits,
}

/// How a contract was settled: `pays = floor(earned * f(completed / requested))`, and all that is
/// owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settlement {
    /// The contract.
    pub contract: OrderId,
    /// Who pays.
    pub client: AccountId,
    /// The account that is paid.
    pub provider: AccountId,
    /// Alpha, parts per million.
    pub alpha_ppm: u32,
    /// Beta, sixteenths.
    pub beta16: u32,
    /// Jobs requested.
    pub requested: u32,
    /// Jobs done.
    pub completed: u32,
    /// Sum of what jobs pay on their own.
    pub earned: Credits,
    /// From the client to the provider.
    pub pays: Credits,
    /// From the provider's stake to the client.
    pub owed: Credits,
}
