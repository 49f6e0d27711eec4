//! Pools as JSON.

use crate::api::types::{JobId, amount};
use gridbay_protocol::ids::{AccountId, OfferId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An offer whose units are shared. `GET /pools`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolView {
    /// The offer.
    pub offer: OfferId,
    /// Seller's number of it.
    pub label: u32,
    /// Seller.
    pub account: AccountId,
    /// Name of the seller, if a member.
    pub name: Option<String>,
    /// Whether this node is the seller.
    pub own: bool,
    /// Name of the class.
    pub class: String,
    /// The slot that is shared next.
    pub slot: u64,
    /// Units to share in it.
    pub units: u32,
    /// Least price per node-hour.
    #[serde(with = "amount")]
    pub reserve: Credits,
    /// The most that the users of one member may hold of each resource, in millionths.
    pub cap_ppm: u32,
    /// How far budgets decide, in sixteenths: 0 for equal shares, 16 in proportion to them.
    pub sixteenths: u32,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Claims on it.
    pub claims: Vec<PoolClaim>,
}

/// A claim on a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolClaim {
    /// Its order.
    pub order: OrderId,
    /// The job, if it is this node's.
    pub job: Option<JobId>,
    /// That job's name.
    pub name: Option<String>,
    /// Name of the member that answers for its account.
    pub sponsor: Option<String>,
    /// Most credits per hour for all of its share.
    #[serde(with = "amount")]
    pub rate: Credits,
    /// Its ranks.
    pub tasks: u32,
    /// Units that it holds in the running slot.
    pub running: u32,
    /// Nodes' worth of processors that its share of the running slot comes to, in thousandths.
    pub processors_milli: u64,
    /// Its share of each resource in the next slot as claims stand now, in millionths; empty if the
    /// pool has nothing to share then.
    pub shares_ppm: Vec<u32>,
}
