//! The JSON of an order under contract.

use crate::api::types::amount;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The demands of an order under contract on its provider, beside the number of jobs and the time
/// of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContractHow {
    /// The provider that is to run the jobs: the name of a member, or the id of an account.
    pub provider: String,
    /// The pay of a job that is done in time.
    #[serde(with = "amount")]
    pub value: Credits,
    /// The provider's debt for a job that is not done.
    #[serde(with = "amount")]
    pub penalty: Credits,
    /// Seconds after its request for which a job keeps its value.
    pub hold_seconds: u32,
    /// Seconds in which the value then falls to nothing, and goes on falling to minus the penalty.
    pub decay_seconds: u32,
    /// Alpha, parts per million: the worth of all jobs together, in parts of the sum of their
    /// values.
    pub alpha_ppm: u32,
    /// Beta, sixteenths: how much it matters that most are done.
    pub beta16: u32,
    /// Seconds for which jobs can be requested.
    pub window_seconds: u32,
}
