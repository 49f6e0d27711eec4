//! The terms of a contract: as many jobs as nodes are asked for, each on one node.
//!
//! Times become whole slots: that of a job and the window rounded up, the hold rounded down, for
//! the user counts on it; but a hold is never shorter than the job takes when it is served at once,
//! which is its slots.

use super::ContractHow;
use crate::backend::failure::{not_found, usage};
use crate::market::Market;
use crate::market::desk::Answer;
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan, Said, Shelf};
use gridbay_core::buy::{ContractWish, Terms};
use gridbay_ledger::State;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractTerms, JobTerms};
use gridbay_protocol::units::{Credits, Price};

/// Milliseconds for the provider to sign.
const SIGN_MS: u64 = 60_000;

/// The provider that a user means.
pub(super) fn provider(state: &State, name: &str) -> Answer<AccountId> {
    let mut accounts = state.accounts().map(|(id, _)| *id);
    let named = accounts.find(|id| {
        state.member_name(id) == Some(name) || (name.len() == 64 && id.to_hex() == name)
    });
    named.ok_or_else(|| {
        not_found(
            format!("no provider `{name}`"),
            "give the name of a member, or the 64 digits of an account",
        )
    })
}

impl ContractHow {
    /// Plans an order under contract with a provider.
    pub(super) fn planned(&self, market: &Market, provider: AccountId, ask: &Ask) -> Answer<Plan> {
        let policy = &market.policy;
        // The provider buys units for the whole of a job.
        let slots = ask.slots(market, policy.max_firm_slots)?;
        let slot_ms = policy.slot_ms().max(1);
        let of = |seconds: u32| u64::from(seconds) * 1_000;
        let whole = |slots: u64| u32::try_from(slots).unwrap_or(u32::MAX);
        let wish = ContractWish {
            provider,
            job: JobTerms {
                units: 1,
                slots,
                value: self.value,
                hold: whole(of(self.hold_seconds) / slot_ms).max(slots),
                decay: whole(of(self.decay_seconds).div_ceil(slot_ms)).max(1),
                penalty: self.penalty,
            },
            alpha_ppm: self.alpha_ppm,
            beta16: self.beta16,
            window: whole(of(self.window_seconds).div_ceil(slot_ms)),
            patience: (SIGN_MS / policy.block_interval_ms.max(1))
                .clamp(1, limits::ORDER_WINDOW - 1),
        };
        let terms = proposed(&wish, market, ask.nodes);
        let bad = |fault: &dyn std::fmt::Display| {
            usage(
                fault.to_string(),
                "see the limits in docs/mechanisms/contract.md",
            )
        };
        terms.check().map_err(|fault| bad(&fault))?;
        let most = terms.lock().unwrap_or(Credits::MAX);
        if ask.budget.is_some_and(|budget| budget < most) {
            let hint = "raise --budget, or lower --value, --alpha or --jobs";
            return Err(usage(format!("all jobs together can cost {most}"), hint));
        }
        let per_slot = Price(self.value.micros() / u64::from(slots));
        Ok(Plan {
            terms: Terms::Contract(wish),
            slots,
            max_price: limit_hourly(per_slot, slot_ms),
            most,
            likely: None,
            needed_now: most,
            worth: None,
            shelf: Shelf::of(market),
            said: Said::Nothing,
        })
    }
}

/// The proposal that would be made, but for its time.
pub(super) fn proposed(wish: &ContractWish, market: &Market, jobs: u32) -> ContractTerms {
    ContractTerms {
        provider: wish.provider,
        class: market.id,
        first: 0,
        last: wish.window.into(),
        jobs,
        job: wish.job,
        alpha_ppm: wish.alpha_ppm,
        beta16: wish.beta16,
        stands_until: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;
    use crate::market::tests::market;

    fn how(change: impl FnOnce(&mut ContractHow)) -> ContractHow {
        let mut how = ContractHow {
            provider: "b".into(),
            value: "2".parse().unwrap(),
            penalty: "0.5".parse().unwrap(),
            hold_seconds: 31,
            decay_seconds: 31,
            alpha_ppm: 1_500_000,
            beta16: 32,
            window_seconds: 61,
        };
        change(&mut how);
        how
    }
    fn ask(jobs: u32, budget: Option<Credits>) -> Ask {
        Ask {
            nodes: jobs,
            max_price: None,
            seconds: 5,
            budget,
        }
    }

    #[test]
    fn times_become_slots_and_the_most_is_all_jobs_in_time() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let how = how(|_| ());
        let planned = how
            .planned(&market, AccountId([2; 32]), &ask(10, None))
            .unwrap();
        assert_eq!(planned.slots, 3, "slots of two seconds");
        assert_eq!(
            planned.most,
            "30".parse().unwrap(),
            "half more for all of them"
        );
        assert_eq!((planned.needed_now, planned.likely), (planned.most, None));
        let Terms::Contract(wish) = planned.terms else {
            panic!("a contract")
        };
        assert_eq!((wish.job.hold, wish.job.decay, wish.window), (15, 16, 31));
        let shown = ContractHow::of(&wish, 2_000);
        assert_eq!((shown.hold_seconds, shown.window_seconds), (30, 62));
    }

    #[test]
    fn faults_are_told_before_anything_is_sent() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let faulty = |jobs: u32, change: fn(&mut ContractHow)| {
            let how = how(change);
            how.planned(&market, AccountId([2; 32]), &ask(jobs, None))
                .unwrap_err()
        };
        let faults = [
            (faulty(0, |_| ()), "0 jobs"),
            (faulty(5_000, |_| ()), "5000 jobs"),
            (faulty(1, |h| h.value = Credits::ZERO), "a job worth 0"),
            (faulty(1, |h| h.alpha_ppm = 0), "alpha"),
            (faulty(1, |h| h.beta16 = 300), "beta"),
            (faulty(1, |h| h.penalty = Credits::MAX), "a penalty"),
        ];
        for (error, part) in faults {
            assert_eq!(error.code, ErrorCode::Usage);
            assert!(error.message.contains(part), "{}", error.message);
        }
        let poor = ask(10, Some("29".parse().unwrap()));
        let error = how(|_| ()).planned(&market, AccountId([2; 32]), &poor);
        let error = error.unwrap_err();
        assert!(error.message.contains("can cost 30"), "{}", error.message);
    }
}
