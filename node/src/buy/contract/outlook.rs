//! A batch of jobs under contract: the provider's cost of units, and so the least pay.
//!
//! Every node of the wish becomes a job of its own, for the same time and by the same end. A
//! provider rents a unit for each, for its slots and the rest of the one in which it begins; at
//! today's asked prices that is the least worth of a job. The batch pays the budget, or that rent
//! and a quarter of it on top; the rest above the rent is the provider's margin.
//!
//! Others' terms for signing are not known. So odds are given only where the rent is not covered,
//! and where this node itself provides: then by its own terms and beside its signed contracts, as
//! if the batch were proposed to it.

use super::plan::proposed;
use super::{ContractHow, NAME};
use crate::api::types::{Prospect, Wish};
use crate::api::{ApiError, ErrorCode};
use crate::buy::wish::{ask, unsold, unsuitable};
use crate::market::Market;
use crate::market::desk::{Answer, Desk};
use crate::order::plan::Ask;
use gridbay_core::buy::Terms;
use gridbay_ledger::State;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// The prospect of a batch for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    let (state, market, account) = (at.state(), &at.market, at.account()?);
    let jobs = u64::from(wish.nodes).max(1);
    let ask = Ask {
        budget: None,
        ..ask(wish)
    };
    let rent = rent(&ask, market)?;
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
        mechanism: NAME.to_owned(),
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
    let how = batch(wish, each, &account);
    let terms = proposal(state, &how, &ask, market, account)?;
    let (odds, said) = match at.core.provider() {
        None => (None, "whether it signs is its own to know"),
        Some(own) if own.would_sign(state, &account, &terms) => {
            (Some(100), "this node would sign it")
        }
        Some(_) => (Some(0), "this node would not sign it"),
    };
    Ok(answer(Some(pays), odds, format!("{note}; {said}")))
}

/// Jobs of such a value, with what `gridbay run` takes if nothing else is said.
fn batch(wish: &Wish, value: Credits, provider: &AccountId) -> ContractHow {
    let hold_seconds = wish
        .within_seconds
        .unwrap_or(wish.seconds.saturating_mul(2));
    ContractHow {
        provider: provider.to_hex(),
        value,
        penalty: Credits::ZERO,
        hold_seconds,
        decay_seconds: wish.seconds,
        alpha_ppm: 1_000_000,
        beta16: 16,
        window_seconds: hold_seconds,
    }
}

/// The provider's cost of a job's unit, in micro-credits.
fn rent(ask: &Ask, market: &Market) -> Answer<u64> {
    let most = market.policy.max_firm_slots;
    let slots = ask.slots(market, most).map_err(unsuitable)?;
    let asked = market
        .asked(ask.nodes)
        .ok_or_else(|| unsold(format!("no {} units are sold for a price asked", ask.nodes)))?;
    let each = asked.micros().div_ceil(u64::from(ask.nodes).max(1));
    Ok(each.saturating_mul(u64::from(slots) + 1))
}

/// The proposal that would be made now.
fn proposal(
    state: &State,
    how: &ContractHow,
    ask: &Ask,
    market: &Market,
    provider: AccountId,
) -> Answer<ContractTerms> {
    let plan = how.planned(market, provider, ask).map_err(unsuitable)?;
    let Terms::Contract(wish) = plan.terms else {
        let why = "this is no contract";
        return Err(ApiError::new(ErrorCode::Usage, why, "report this"));
    };
    let first = state.calendar().slot(state.height() + 1);
    Ok(ContractTerms {
        first,
        last: first.saturating_add(u64::from(wish.window)),
        ..proposed(&wish, market, ask.nodes)
    })
}

/// The account that has signed most contracts that are live: a member by name, others by account.
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
