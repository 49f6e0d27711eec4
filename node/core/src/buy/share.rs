//! Claims on pools.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use crate::wallet;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::Claim;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Terms of a claim; tasks and slots are the order's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareTerms {
    /// The pool.
    pub offer: OfferId,
    /// Most to pay per slot.
    pub rate: Credits,
    /// How the job's utility depends on its shares.
    pub utility: Utility,
    /// Worth of each resource of the class.
    pub weights: Vec<u32>,
    /// Most to pay over the whole order.
    pub budget: Credits,
    /// Heights to stand without running before giving up.
    pub patience: u64,
}

impl Buys for ShareTerms {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Open(EntryBody::Share(Claim {
            offer: self.offer,
            rate: self.rate,
            utility: self.utility,
            weights: self.weights.clone(),
            tasks: at.tasks,
            slots: at.slots,
            budget: self.budget,
            stands_until: at.valid_until.saturating_add(self.patience),
            work: at.work,
        }))
    }
    /// Its rate, if the ledger would take it now: it is open and comes once, so the owner can know.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        if let Asked::Open(body) = self.asked(at) {
            let entry = desk.signer.sign(desk.state, body, at.valid_until);
            let entry = Arc::new(wallet::authentic(desk.state, entry)?);
            let admitted = desk.state.admit(&entry);
            admitted.map_err(|refusal| Refused::by_ledger(&refusal))?;
        }
        Ok(self.rate)
    }
}
