//! Claims on pools as the ledger keeps them.

use gridbay_protocol::order::Claim;
use gridbay_protocol::sharing::Portion;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A claim on a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareOrder {
    /// What was asked.
    pub claim: Claim,
    /// What it may use in the running slot; `None` without a lease.
    pub portion: Option<Portion>,
    /// Paid so far, less refunds.
    pub paid: Credits,
    /// Full slots used.
    pub slots_used: u32,
}
