//! Hires at posted prices.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::order::{Flaw, Hire};
use gridbay_protocol::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// Terms of a hire; slots are the order's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostedTerms {
    /// Units, all or none: one for each task.
    pub units: u32,
    /// The most that each unit may cost per slot.
    pub limit: Price,
}

impl PostedTerms {
    fn hire(&self, at: &Attempt) -> Hire {
        Hire {
            class: at.class,
            units: self.units,
            slots: at.slots,
            limit: self.limit,
            work: at.work,
        }
    }
}

impl Buys for PostedTerms {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Open(EntryBody::Posted(self.hire(at)))
    }
    /// Its slots and the rest of the running one at the limit.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        let hire = self.hire(at);
        hire.check().map_err(Refused::flawed)?;
        if desk.state.class(&hire.class).is_none() {
            return Err(Refused::no_class(hire.class));
        }
        if hire.units != at.tasks {
            return Err(Refused::flawed(Flaw::Units));
        }
        Ok(hire.lock().unwrap_or(Credits::MAX))
    }
    fn needs(&self, class: ClassId) -> Vec<(ClassId, u32)> {
        vec![(class, self.units)]
    }
}
