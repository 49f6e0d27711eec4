//! A batch of jobs under contract: what a provider has to pay for units, so what it must be paid at least.
//!
//! Every node of the wish becomes a job of its own, for the same time and by the same end. A provider rents a unit for each,
//! for its slots and the rest of the one in which it begins; at today's asked prices that is the least that a job must be
//! worth. The batch pays the budget, or that rent and a quarter of it on top; what remains above the rent is the
//! provider's margin.
//!
//! On what terms others sign is theirs to know, so odds are given only where the rent is not covered, and where this node
//! itself provides: then by its own terms and beside what it has signed, for whoever would propose the batch to it.

use super::super::contract;
use super::super::failure::no_account;
use super::super::market::{Market, class_named, held};
use super::super::plan::slots;
use super::super::{Answer, NodeBackend};
use super::want;
use crate::api::types::{ContractHow, How, Prospect, Want, Wish};
use crate::api::{ApiError, ErrorCode};
use gridbay_core::Core;
use gridbay_core::buy::Terms;
use gridbay_ledger::State;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

impl NodeBackend {
    pub(super) async fn contract_prospect(&self, wish: &Wish) -> Answer<Prospect> {
        let wish = wish.clone();
        self.query(move |core| prospect(core, &wish)).await?
    }
}

fn prospect(core: &Core, wish: &Wish) -> Answer<Prospect> {
    let state = core.state();
    let account = core.account().ok_or_else(no_account)?;
    let class = class_named(state, wish.class.as_deref())?;
    let market = Market::of(state, class, &held(state));
    let jobs = u64::from(wish.nodes).max(1);
    let batch = |value| batch(wish, value, &account);
    let rent = rent(&batch(Credits::ZERO).0, &market)?;
    let value = match wish.budget {
        Some(budget) => budget.micros() / jobs,
        None => rent.saturating_add(rent.div_ceil(4)),
    };
    let money = |micros| Credits::from_micros(micros).unwrap_or(Credits::MAX);
    let all = |each: u64| money(each.saturating_mul(jobs));
    let (cost, pays, each) = (all(rent), all(value), money(value));
    let provider = signer(state, &account).unwrap_or_else(|| "NAME".to_owned());
    let seconds = wish.seconds;
    let answer = |likely, odds, note| Prospect {
        mechanism: "contract".to_owned(),
        likely,
        most: Some(pays),
        odds,
        note,
        options: format!("--provider {provider} --jobs {jobs} --time {seconds}s --value {each}"),
    };
    if value <= rent {
        let note = format!("a provider pays {cost} for units and would earn nothing");
        return Ok(answer(None, Some(0), note));
    }
    let margin = all(value - rent);
    let note = format!("as {jobs} jobs; a provider pays {cost} for units now and keeps {margin}");
    let (want, how) = batch(each);
    let terms = proposal(state, &want, &how, &market, account)?;
    let (odds, said) = match core.provider() {
        None => (None, "whether it signs is its own to know"),
        Some(own) if own.would_sign(state, &account, &terms) => {
            (Some(100), "this node would sign it")
        }
        Some(_) => (Some(0), "this node would not sign it"),
    };
    Ok(answer(Some(pays), odds, format!("{note}; {said}")))
}

/// The wish as jobs of such a value, with what `gridbay run` takes if nothing else is said.
fn batch(wish: &Wish, value: Credits, provider: &AccountId) -> (Want, ContractHow) {
    let hold_seconds = wish
        .within_seconds
        .unwrap_or(wish.seconds.saturating_mul(2));
    let how = ContractHow {
        provider: provider.to_hex(),
        value,
        penalty: Credits::ZERO,
        hold_seconds,
        decay_seconds: wish.seconds,
        alpha_ppm: 1_000_000,
        beta16: 16,
        window_seconds: hold_seconds,
    };
    let want = Want {
        budget: None,
        ..want(wish, How::Contract(how.clone()))
    };
    (want, how)
}

/// What the unit of a job costs its provider, in micro-credits.
fn rent(want: &Want, market: &Market) -> Answer<u64> {
    let slots = slots(want, market).map_err(unsuitable)?;
    let asked = market.asked(want.nodes).ok_or_else(|| {
        let why = format!("no {} units are sold for a price asked", want.nodes);
        ApiError::new(ErrorCode::NoMatch, why, "see gridbay offer list")
    })?;
    let each = asked.micros().div_ceil(u64::from(want.nodes).max(1));
    Ok(each.saturating_mul(u64::from(slots) + 1))
}

/// What would be proposed now.
fn proposal(
    state: &State,
    want: &Want,
    how: &ContractHow,
    market: &Market,
    provider: AccountId,
) -> Answer<ContractTerms> {
    let plan = contract::plan(want, how, market, provider).map_err(unsuitable)?;
    let Terms::Contract(wish) = plan.terms else {
        let why = "this is no contract";
        return Err(ApiError::new(ErrorCode::Usage, why, "report this"));
    };
    let first = state.calendar().slot(state.height() + 1);
    Ok(ContractTerms {
        first,
        last: first.saturating_add(u64::from(wish.window)),
        ..contract::terms(&wish, market, want.nodes)
    })
}

/// Who has signed most contracts that are live: a member by name, others by account.
fn signer(state: &State, own: &AccountId) -> Option<String> {
    let mut signed: BTreeMap<AccountId, u32> = BTreeMap::new();
    for (_, found) in state.contracts().filter(|(_, c)| c.progress.is_some()) {
        *signed.entry(found.terms.provider).or_default() += 1;
    }
    let others = signed.iter().filter(|(id, _)| *id != own);
    let (most, _) = others.max_by_key(|(_, n)| **n)?;
    let name = state.member_name(most).map(str::to_owned);
    Some(name.unwrap_or_else(|| most.to_hex()))
}

/// What is too much or too long for a contract may be right for others.
fn unsuitable(error: ApiError) -> ApiError {
    match error.code {
        ErrorCode::Usage => ApiError {
            code: ErrorCode::NoMatch,
            ..error
        },
        _ => error,
    }
}
