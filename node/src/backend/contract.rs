//! Contracts: planning an order under one, listing them, and what parties say.
//!
//! Times become whole slots: that of a job and the window rounded up, the hold rounded down, for the user counts on
//! it; but a hold is never shorter than the job takes when it is served at once, which is its slots.

use super::failure::{no_account, not_found, usage};
use super::market::{Market, class_name};
use super::plan::{Plan, slots};
use super::price::limit_hourly;
use super::{Answer, NodeBackend};
use crate::api::ApiError;
use crate::api::types::{Contract, ContractHow, ContractRole, ContractWord, How, Want};
use gridbay_core::Core;
use gridbay_core::buy::{ContractWish, Terms};
use gridbay_core::input::Command;
use gridbay_ledger::State;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractEntry, ContractTerms, JobTerms};
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

/// Plans an order under contract: `want.nodes` jobs of `want.seconds` each.
pub(super) fn plan(
    want: &Want,
    how: &ContractHow,
    market: &Market,
    provider: AccountId,
) -> Answer<Plan> {
    let (slots, policy) = (slots(want, market)?, &market.policy);
    let slot_ms = policy.slot_ms().max(1);
    let of = |seconds: u32| u64::from(seconds) * 1_000;
    let whole = |slots: u64| u32::try_from(slots).unwrap_or(u32::MAX);
    let wish = ContractWish {
        provider,
        job: JobTerms {
            units: 1,
            slots,
            value: how.value,
            hold: whole(of(how.hold_seconds) / slot_ms).max(slots),
            decay: whole(of(how.decay_seconds).div_ceil(slot_ms)).max(1),
            penalty: how.penalty,
        },
        alpha_ppm: how.alpha_ppm,
        beta16: how.beta16,
        window: whole(of(how.window_seconds).div_ceil(slot_ms)),
        patience: (SIGN_MS / policy.block_interval_ms.max(1)).clamp(1, limits::ORDER_WINDOW - 1),
    };
    let terms = terms(&wish, market, want.nodes);
    let bad = |fault: &dyn std::fmt::Display| {
        usage(
            fault.to_string(),
            "see the limits in docs/mechanisms/contract.md",
        )
    };
    terms.check().map_err(|fault| bad(&fault))?;
    let most = terms.lock().unwrap_or(Credits::MAX);
    if want.budget.is_some_and(|budget| budget < most) {
        let hint = "raise --budget, or lower --value, --alpha or --jobs";
        return Err(usage(format!("all jobs together can cost {most}"), hint));
    }
    let per_slot = Price(how.value.micros() / u64::from(slots));
    Ok(Plan {
        terms: Terms::Contract(wish),
        slots,
        max_price: limit_hourly(per_slot, slot_ms),
        most,
        likely: None,
        needed_now: most,
        deadline: None,
        posted: None,
    })
}

/// What would be proposed, but for its time.
pub(super) fn terms(wish: &ContractWish, market: &Market, jobs: u32) -> ContractTerms {
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

/// How an order under contract gets its nodes, as the API says it.
pub(super) fn how(wish: &ContractWish, slot_ms: u64) -> How {
    let seconds =
        |slots: u32| u32::try_from(u64::from(slots) * slot_ms / 1_000).unwrap_or(u32::MAX);
    How::Contract(ContractHow {
        provider: wish.provider.to_hex(),
        value: wish.job.value,
        penalty: wish.job.penalty,
        hold_seconds: seconds(wish.job.hold),
        decay_seconds: seconds(wish.job.decay),
        alpha_ppm: wish.alpha_ppm,
        beta16: wish.beta16,
        window_seconds: seconds(wish.window),
    })
}

impl NodeBackend {
    /// All contracts on the ledger.
    pub async fn contracts(&self) -> Answer<Vec<Contract>> {
        self.query(|core| {
            let all = core.state().contracts().map(|(id, _)| *id);
            all.filter_map(|id| view(core, &id)).collect()
        })
        .await
    }

    /// Says something about a contract; answers once it is on the ledger.
    pub async fn say(&self, contract: OrderId, word: ContractWord) -> Answer<Contract> {
        self.acknowledges()?;
        let looked = self.query(move |core| {
            core.account().ok_or_else(no_account)?;
            view(core, &contract).ok_or_else(|| {
                not_found(
                    format!("no contract {contract}"),
                    "see gridbay contract list",
                )
            })
        });
        let before: Contract = looked.await?.map_err(|error: ApiError| error)?;
        let entry = match word {
            ContractWord::Sign => ContractEntry::Sign { contract },
            ContractWord::Close => ContractEntry::Close { contract },
        };
        self.on_the_ledger(Command::Contract(entry)).await?;
        let after = self.query(move |core| view(core, &contract)).await?;
        // A proposal that was taken back, or a contract without open jobs, is gone.
        Ok(after.unwrap_or(Contract {
            closed: true,
            ..before
        }))
    }
}

fn view(core: &Core, id: &OrderId) -> Option<Contract> {
    let (state, own) = (core.state(), core.account());
    let found = state.contract(id)?;
    let (terms, progress) = (&found.terms, found.progress);
    let policy: &Policy = state.policy();
    let seconds = |slots: u32| u64::from(slots) * policy.slot_ms() / 1_000;
    let served = state.contract_jobs(id).filter(|(_, j)| j.order.is_some());
    Some(Contract {
        contract: *id,
        class: class_name(state, &terms.class),
        client: found.client,
        provider: terms.provider,
        role: if own == Some(found.client) {
            ContractRole::Client
        } else if own == Some(terms.provider) {
            ContractRole::Provider
        } else {
            ContractRole::None
        },
        signed: progress.is_some(),
        closed: progress.is_some_and(|p| p.closed),
        jobs: terms.jobs,
        requested: progress.map_or(0, |p| p.requested),
        completed: progress.map_or(0, |p| p.completed),
        failed: progress.map_or(0, |p| p.failed),
        served: u32::try_from(served.count()).unwrap_or(u32::MAX),
        job_seconds: seconds(terms.job.slots),
        value: terms.job.value,
        penalty: terms.job.penalty,
        hold_seconds: seconds(terms.job.hold),
        decay_seconds: seconds(terms.job.decay),
        alpha_ppm: terms.alpha_ppm,
        beta16: terms.beta16,
        first_slot: terms.first,
        last_slot: terms.last,
        stands_until: terms.stands_until,
        escrow: state.escrow(id),
        bond: state.bond(id),
        earned: progress.map_or(Credits::ZERO, |p| p.earned),
        owed: progress.map_or(Credits::ZERO, |p| p.owed),
    })
}

#[cfg(test)]
mod tests {
    use super::super::market::tests::market;
    use super::*;
    use crate::api::ErrorCode;

    fn want(jobs: u32, change: impl FnOnce(&mut ContractHow)) -> (Want, ContractHow) {
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
        let want = Want {
            class: None,
            nodes: jobs,
            max_price: None,
            seconds: 5,
            budget: None,
            how: How::Contract(how.clone()),
        };
        (want, how)
    }

    #[test]
    fn times_become_slots_and_the_most_is_all_jobs_in_time() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let (want, how) = want(10, |_| ());
        let planned = plan(&want, &how, &market, AccountId([2; 32])).unwrap();
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
        let shown = super::how(&wish, 2_000);
        let How::Contract(shown) = shown else {
            panic!("a contract")
        };
        assert_eq!((shown.hold_seconds, shown.window_seconds), (30, 62));
    }

    #[test]
    fn faults_are_told_before_anything_is_sent() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let faulty = |jobs: u32, change: fn(&mut ContractHow)| {
            let (want, how) = want(jobs, change);
            plan(&want, &how, &market, AccountId([2; 32])).unwrap_err()
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
        let (mut poor, how) = want(10, |_| ());
        poor.budget = Some("29".parse().unwrap());
        let error = plan(&poor, &how, &market, AccountId([2; 32])).unwrap_err();
        assert!(error.message.contains("can cost 30"), "{}", error.message);
    }
}
