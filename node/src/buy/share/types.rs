//! The JSON of claims on pools.

use crate::api::types::amount;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The terms of a claim on a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The pool, by its offer's id or how that begins; `None` for the one of the class that gives
    /// most.
    #[serde(default)]
    pub offer: Option<String>,
    /// Most per hour, for all that it gets.
    #[serde(with = "amount")]
    pub rate: Credits,
    /// How the job's utility depends on its shares.
    pub utility: Utility,
    /// Worth of the resources by name (`cpu`, `memory`, `disk`, `gpu`), those not named nothing;
    /// `None` for what past runs of the program tell, or else all alike.
    #[serde(default)]
    pub weights: Option<BTreeMap<String, u32>>,
    /// The program whose past runs tell.
    #[serde(default)]
    pub program: Option<String>,
}

/// The grant that a claim on a pool would get, by the ledger's rule on the claims that stand now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShareOutlook {
    /// The pool.
    pub offer: OfferId,
    /// Its units.
    pub units: u32,
    /// Claims of others on it.
    pub claims: u32,
    /// Whether the weights were learnt from past runs.
    pub learnt: bool,
    /// Nodes to run on at a time, the mean over the slots, in thousandths.
    pub nodes_milli: u64,
    /// The resources of the pool.
    pub resources: Vec<ResourceShare>,
}

/// A claim's share of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResourceShare {
    /// Name.
    pub resource: String,
    /// Its worth to the job.
    pub weight: u32,
    /// Share of the pool's, millionths.
    pub share_ppm: u32,
}

/// The allowance of a claim on a pool in the running slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShareNow {
    /// Ranks that run at a time.
    pub nodes: u32,
    /// Nodes' worth of processors that its share comes to, in thousandths: what its ranks weigh
    /// together.
    pub processors_milli: u64,
    /// Memory of each rank in MiB.
    pub memory_mib: u64,
    /// Disk of each rank in MiB.
    pub disk_mib: u64,
}
