//! Contracts: a batch of jobs that a provider promises to run.

use crate::api::types::amount;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// This node's part in a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContractRole {
    /// It pays.
    Client,
    /// It runs the jobs.
    Provider,
    /// Nothing.
    None,
}

/// A contract on the ledger. `GET /contracts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contract {
    /// Its id.
    pub contract: OrderId,
    /// Name of the class.
    pub class: String,
    /// Who pays.
    pub client: AccountId,
    /// The provider, which runs the jobs.
    pub provider: AccountId,
    /// This node's part in it.
    pub role: ContractRole,
    /// Whether the provider has signed.
    pub signed: bool,
    /// Whether no more jobs can come.
    pub closed: bool,
    /// Jobs in all.
    pub jobs: u32,
    /// Jobs requested so far.
    pub requested: u32,
    /// Jobs done.
    pub completed: u32,
    /// Jobs timed out.
    pub failed: u32,
    /// Jobs that an order of the provider serves now.
    pub served: u32,
    /// Seconds that a job takes.
    pub job_seconds: u64,
    /// The pay of a job.
    #[serde(with = "amount")]
    pub value: Credits,
    /// The provider's debt for a job that is not done.
    #[serde(with = "amount")]
    pub penalty: Credits,
    /// Seconds for which a job keeps its value.
    pub hold_seconds: u64,
    /// Seconds in which the value then falls to nothing.
    pub decay_seconds: u64,
    /// Alpha, parts per million.
    pub alpha_ppm: u32,
    /// Beta, sixteenths.
    pub beta16: u32,
    /// First slot for requests.
    pub first_slot: u64,
    /// Last slot for requests.
    pub last_slot: u64,
    /// Last height at which it may be signed.
    pub stands_until: u64,
    /// Locked by the client.
    #[serde(with = "amount")]
    pub escrow: Credits,
    /// Staked by the provider.
    #[serde(with = "amount")]
    pub bond: Credits,
    /// The sum of the single payments of the jobs done.
    #[serde(with = "amount")]
    pub earned: Credits,
    /// The provider's debt so far.
    #[serde(with = "amount")]
    pub owed: Credits,
}

/// A party's entry about a contract. `POST /contracts/{id}/{word}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractWord {
    /// The provider signs.
    Sign,
    /// The client requests no more jobs, or takes the proposal back.
    Close,
}
