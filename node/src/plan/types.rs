//! Plans as JSON.

use crate::api::types::{JobId, amount};
use gridbay_protocol::ids::{AccountId, OfferId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The plan of an offer that takes jobs by deadlines, as it is served now. `GET /plans`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanView {
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
    /// The running slot, with which the plan begins.
    pub slot: u64,
    /// Nominal length of a slot.
    pub slot_ms: u64,
    /// Units of each slot.
    pub units: u32,
    /// Taken jobs, in the order in which they run.
    pub jobs: Vec<PlanJob>,
}

/// A taken job in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanJob {
    /// Its order.
    pub order: OrderId,
    /// The job, if it is this node's.
    pub job: Option<JobId>,
    /// That job's name.
    pub name: Option<String>,
    /// Work left when the running slot began, units times slots.
    pub left: u64,
    /// Units in the running slot.
    pub units: u32,
    /// First slot in which it has units.
    pub first_slot: u64,
    /// Slot in which it is done.
    pub done_slot: u64,
    /// Last slot in which it is paid in full.
    pub soft_slot: u64,
    /// Last slot in which it is paid at all.
    pub hard_slot: u64,
    /// Its price if it is done as planned.
    #[serde(with = "amount")]
    pub pay: Credits,
    /// The seller's stake on it.
    #[serde(with = "amount")]
    pub bond: Credits,
}
