//! The choice of the proposals to sign.
//!
//! 1. The proposal is of a class of this provider, for jobs of one unit and no longer than a
//!    purchase may be, and the stake can be paid.
//! 2. Its load: `jobs * slots` unit-slots over the slots from the first request to the end of a
//!    last one that runs at once. The mean is that by the slot; the variance that of as many jobs
//!    that come at random times.
//! 3. Its value per slot: all that it can pay, by the slot.
//! 4. The mechanism decides, beside the signed contracts of that class, with as many units as the
//!    provider counts on, at the cost it reckons with. A contract must bring more than its load
//!    costs.
//! 5. A contract that gives way is not served any more; its penalties are owed.

use super::Provider;
use crate::signer::Signer;
use gridbay_ledger::{Contract, State};
use gridbay_protocol::ids::{AccountId, ClassId, OrderId};
use gridbay_protocol::mechanism::contract::limits::SPAN_MAX;
use gridbay_protocol::mechanism::contract::{
    self as mechanism, Answer, Batch, CostPolicy, Error, Period, admit_contract,
};
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;

type Load = mechanism::Contract<OrderId>;

/// Proposals of a class that are weighed after one block.
const WEIGHED: usize = 64;

impl Provider {
    /// The proposals to sign now.
    pub(super) fn sign(&mut self, state: &State, signer: &Signer<'_>) -> Vec<OrderId> {
        let own = state.contracts_of(&signer.account);
        let own = own.filter(|(_, c)| c.terms.provider == signer.account);
        let (signed, offered): (Vec<_>, Vec<_>) = own.partition(|(_, c)| c.progress.is_some());
        let longest = state.policy().max_firm_slots;
        let mut free = spendable(state, signer);
        let mut chosen = Vec::new();
        for class in self.terms.classes.clone() {
            let of_class = |(_, c): &&(&OrderId, &Contract)| c.terms.class == class;
            let stands = |(id, c): &(&OrderId, &Contract)| {
                (!self.abandoned.contains(id)).then(|| load(id, c))
            };
            let mut standing: Vec<Load> =
                signed.iter().filter(of_class).filter_map(stands).collect();
            let mut coming: Vec<_> = offered.iter().filter(of_class).collect();
            coming.sort_unstable_by_key(|(id, c)| (c.terms.first, **id));
            // Some in each block, by turns: proposals cost others little.
            if coming.len() > WEIGHED {
                let turn = (state.height() as usize).wrapping_mul(WEIGHED) % coming.len();
                coming.rotate_left(turn);
            }
            coming.truncate(WEIGHED);
            for (id, contract) in coming {
                let bond = contract.terms.bond().unwrap_or(Credits::MAX);
                let job = &contract.terms.job;
                let suits = job.units == 1 && job.slots <= longest;
                if !suits || bond > free {
                    continue;
                }
                let load = load(id, contract);
                if self.admits(state, &class, &load, &mut standing) {
                    free = free.saturating_sub(bond);
                    standing.push(load);
                    chosen.push(**id);
                }
            }
        }
        chosen
    }

    /// Whether it would sign such a proposal now, were its stake paid: by steps 1 to 4, beside what
    /// it has signed.
    pub fn would_sign(&self, state: &State, account: &AccountId, terms: &ContractTerms) -> bool {
        let job = &terms.job;
        let suits = job.units == 1
            && job.slots <= state.policy().max_firm_slots
            && self.terms.classes.contains(&terms.class);
        let own = state.contracts_of(account).filter(|(id, c)| {
            c.terms.provider == *account
                && c.progress.is_some()
                && c.terms.class == terms.class
                && !self.abandoned.contains(id)
        });
        let standing: Vec<Load> = own.map(|(id, c)| load(id, c)).collect();
        let proposed = Contract {
            client: *account,
            terms: terms.clone(),
            progress: None,
        };
        let load = load(&OrderId([0; 32]), &proposed);
        let answer = self.weigh(state, &load, &standing);
        suits && matches!(answer, Ok(Answer::Signed | Answer::InPlaceOf(_)))
    }

    /// Step 4.
    fn weigh(
        &self,
        state: &State,
        load: &Load,
        standing: &[Load],
    ) -> Result<Answer<OrderId>, Error<OrderId>> {
        let now = state.calendar().slot(state.height() + 1);
        let provider = mechanism::Provider {
            policy: self.terms.policy.at(now),
            cost_policy: CostPolicy::Variable,
            supply: vec![Period {
                start: load.start.min(now),
                len: SPAN_MAX,
                cpus: self.terms.units,
                cost: self.terms.cost.0,
            }],
        };
        admit_contract(&provider, load, standing)
    }

    /// Steps 4 and 5.
    fn admits(
        &mut self,
        state: &State,
        class: &ClassId,
        load: &Load,
        standing: &mut Vec<Load>,
    ) -> bool {
        match self.weigh(state, load, standing) {
            Ok(Answer::Signed) => true,
            Ok(Answer::InPlaceOf(victim)) => {
                tracing::info!(contract = %load.id, %victim, "a better contract takes its place");
                standing.retain(|other| other.id != victim);
                self.abandoned.insert(victim);
                true
            }
            Ok(Answer::Refused(why)) => {
                tracing::debug!(contract = %load.id, ?why, "a contract is not signed");
                false
            }
            Err(error) => {
                tracing::warn!(contract = %load.id, %class, %error, "a contract is not signed");
                false
            }
        }
    }
}

/// Steps 2 and 3.
fn load(id: &OrderId, contract: &Contract) -> Load {
    let (terms, progress) = (&contract.terms, contract.progress);
    let closed = progress.filter(|p| p.closed);
    let jobs = closed.map_or(terms.jobs, |p| p.requested);
    let slots = u128::from(terms.job.slots);
    let end = terms.last + 1 + u64::from(terms.job.slots);
    let len = u128::from(end - terms.first);
    let work = u128::from(jobs) * slots;
    let spread = 1_000_000 * work * (len - slots) / (len * len);
    let most = terms.lock().unwrap_or(Credits::MAX);
    Load {
        id: *id,
        start: terms.first,
        end,
        mean: (1_000 * work).div_ceil(len) as u64,
        var: spread as u64,
        value: (u128::from(most.micros()) / len) as u64,
        batch: Batch {
            jobs: jobs.max(1),
            aggregate: terms.aggregate(),
            penalty: terms.job.penalty.micros(),
            completed: progress.map_or(0, |p| p.completed),
            dropped: progress.map_or(0, |p| p.failed),
            earned: progress.map_or(0, |p| p.earned.micros()),
            owed: progress.map_or(0, |p| p.owed.micros()),
        },
    }
}

/// The money that the account can pay.
pub(super) fn spendable(state: &State, signer: &Signer<'_>) -> Credits {
    let purse = state.purse(&Purse::Account(signer.account));
    let line = state.account(&signer.account).map(|a| a.credit_line);
    let sum = i128::from(purse) + i128::from(line.unwrap_or_default().micros());
    u128::try_from(sum)
        .ok()
        .and_then(Credits::from_wide)
        .unwrap_or_default()
}
