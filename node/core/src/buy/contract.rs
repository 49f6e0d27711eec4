//! Orders of many jobs under one contract: the proposal. The agent's entries while the contract
//! stands are in `buyer::jobs`.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_ledger::{ContractRefusal, Refusal};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::order::{ContractTerms, Flaw, JobTerms};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Terms of a contract; class and number of jobs are the order's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractWish {
    /// The provider that is to run the jobs.
    pub provider: AccountId,
    /// Each of them; of one unit.
    pub job: JobTerms,
    /// Alpha, parts per million.
    pub alpha_ppm: u32,
    /// Beta, sixteenths.
    pub beta16: u32,
    /// Slots after the running one in which jobs may be requested.
    pub window: u32,
    /// Heights for the provider to sign.
    pub patience: u64,
}

impl ContractWish {
    fn proposal(&self, at: &Attempt) -> ContractTerms {
        ContractTerms {
            first: at.slot,
            last: at.slot.saturating_add(self.window.into()),
            stands_until: at.height.saturating_add(self.patience),
            ..self.terms(at.class, at.tasks)
        }
    }
    /// The terms for so many jobs; the time of the proposal is 0 in them.
    pub fn terms(&self, class: ClassId, jobs: u32) -> ContractTerms {
        ContractTerms {
            provider: self.provider,
            class,
            first: 0,
            last: self.window.into(),
            jobs,
            job: self.job,
            alpha_ppm: self.alpha_ppm,
            beta16: self.beta16,
            stands_until: self.patience,
        }
    }
}

impl Buys for ContractWish {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Proposed(self.proposal(at))
    }
    /// The most that all its jobs can cost.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        let terms = self.proposal(at);
        let account = desk.signer.account;
        if terms.job.units != 1 || terms.job.slots != at.slots {
            return Err(Refused::invalid(
                Flaw::Units.word(),
                "a job of a contract takes one unit",
                "split it into jobs of one unit",
            ));
        }
        terms
            .check()
            .map_err(|fault| Refused::invalid(fault.word(), &fault.to_string(), fault.hint()))?;
        let refusal = if terms.provider == account {
            Some(ContractRefusal::WithOneself(account))
        } else if desk.state.account(&terms.provider).is_none() {
            Some(ContractRefusal::NoProvider(terms.provider))
        } else {
            None
        };
        match (refusal, terms.lock()) {
            (Some(refusal), _) => Err(Refused::by_ledger(&refusal.into())),
            (None, Some(lock)) => Ok(lock),
            (None, None) => Err(Refused::by_ledger(&Refusal::Overflow)),
        }
    }
    fn task_salt(&self, work_salt: [u8; 32], task: u32) -> [u8; 32] {
        hash(Domain::Agent, &[&work_salt, &task.to_be_bytes()])
    }
}
