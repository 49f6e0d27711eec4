//! Claims on pools: the choice of pool and weights, and the grant that it would give now.
//!
//! 1. Without a pool named, those of the class that sell and have room are compared (the first
//!    [`POOLS`] of them), and the one that would give most units is taken.
//! 2. Without weights, past runs of the same program tell (`gridbay_core::buyer`); if they do not,
//!    all resources weigh the same.
//! 3. The quote runs the ledger's own rule on the claims that stand now and this one, over all
//!    draws.

use super::{Claim, ResourceShare, ShareOutlook};
use crate::api::{ApiError, ErrorCode};
use crate::backend::failure::{not_found, usage};
use crate::market::desk::{Answer, Desk};
use crate::offer::named::offer_meant;
use crate::order::plan::{Ask, Plan, Said, Shelf, patience, too_much};
use gridbay_core::buy::{ShareTerms, Terms};
use gridbay_ledger::State;
use gridbay_protocol::class::{Class, ClassKey, Resource};
use gridbay_protocol::ids::{AccountId, OfferId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::share::BUDGET_END;
use gridbay_protocol::record::share::{Outlook, Sharing, SharingClaim};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Pools that are compared at the most.
const POOLS: usize = 16;
/// The order in a sharing that stands for the one to be placed: behind all others.
const OWN: OrderId = OrderId([0xff; 32]);
/// Weight of each resource if nothing else is known.
const ALIKE: u32 = 1;

/// A pool, the claims on it, and one to come.
#[derive(Clone, Debug)]
struct Pool {
    class: ClassKey,
    /// With the claim to come as [`OWN`].
    sharing: Sharing,
    weights: Vec<u32>,
    learnt: bool,
    outlook: Option<Outlook>,
}

/// The pool that a claim means, as it stands.
fn look(at: &Desk<'_>, claim: &Claim, tasks: u32) -> Answer<Pool> {
    let (state, class, account) = (at.state(), at.class, at.account()?);
    let slot_ms = state.policy().slot_ms();
    let rate = Price::from_hourly(claim.rate, slot_ms).ok_or_else(too_much)?;
    let rate = Credits::from_micros(rate.0).filter(|r| (1..BUDGET_END).contains(&r.micros()));
    let rate = rate.ok_or_else(|| {
        let hint = "name a rate of a few credits an hour";
        usage(format!("{} credits an hour", claim.rate), hint)
    })?;
    let (weights, learnt) = weights(at, claim)?;
    let own = SharingClaim {
        order: OWN,
        sponsor: state.account(&account).map_or(account, |a| a.sponsor),
        rate,
        utility: claim.utility,
        weights: weights.clone(),
        tasks,
    };
    let pool = |offer: &OfferId| {
        let mut sharing = state.pool(offer)?;
        sharing.claims.push(own.clone());
        let outlook = sharing.outlook(&OWN);
        Some(Pool {
            class: class.key.clone(),
            sharing,
            weights: weights.clone(),
            learnt,
            outlook,
        })
    };
    if let Some(named) = &claim.offer {
        let offer = &offer_meant(state, named)?;
        let of_class = |p: &Pool| p.sharing.class == class.key.id();
        let found = pool(offer).filter(of_class);
        return found.ok_or_else(|| {
            let what = format!("no pool {offer} of class {}", class.name);
            not_found(
                what,
                "`gridbay offer list` shows offers with their mechanism",
            )
        });
    }
    let pools = open_pools(state, class, &account);
    let pools = pools.iter().take(POOLS).filter_map(pool);
    let gives = |p: &Pool| p.outlook.as_ref().map_or(0, |o| o.units);
    // The first of those that give most: `max_by_key` would take the last.
    let best = pools.reduce(|best, next| {
        if gives(&next) > gives(&best) {
            next
        } else {
            best
        }
    });
    best.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NoMatch,
            format!("no pool of class {} has room for a claim", class.name),
            "bid instead, or see gridbay offer list",
        )
    })
}

/// Pools of a class that sell, have room, and hold no claim of the account, ascending.
fn open_pools(state: &State, class: &Class, account: &AccountId) -> Vec<OfferId> {
    let id = class.key.id();
    let sells = state.offers();
    let sells = sells.filter(|(_, o)| o.terms.class == id && o.pool().is_some());
    let mut claims: BTreeMap<OfferId, (usize, bool)> =
        sells.map(|(offer, _)| (*offer, (0, false))).collect();
    for (_, order) in state.orders() {
        let claim = order.share().map(|s| s.claim.offer);
        if let Some((count, own)) = claim.and_then(|offer| claims.get_mut(&offer)) {
            *count += 1;
            *own |= order.account == *account;
        }
    }
    let open = claims.into_iter();
    let open = open.filter(|(_, (count, own))| *count < limits::CLAIMS_PER_POOL && !own);
    open.map(|(offer, _)| offer).collect()
}

/// The weights of the class's resources, and whether they were learnt.
fn weights(at: &Desk<'_>, claim: &Claim) -> Answer<(Vec<u32>, bool)> {
    let class = at.class;
    let resources: Vec<Resource> = class.key.resources().collect();
    let Some(named) = &claim.weights else {
        let program = claim.program.as_deref().unwrap_or_default();
        let (id, types) = (class.key.id(), resources.len());
        let learnt = at.core.buyer().learnt(&id, program, claim.utility, types);
        return Ok(match learnt {
            Some(weights) => (weights, true),
            None => (vec![ALIKE; types], false),
        });
    };
    let known = |name: &&String| !resources.iter().any(|r| r.name() == name.as_str());
    if let Some(name) = named.keys().find(known) {
        let names: Vec<&str> = resources.iter().map(|r| r.name()).collect();
        let hint = format!("class {} has {}", class.name, names.join(", "));
        return Err(usage(format!("no resource `{name}`"), hint));
    }
    let weight = |r: &Resource| named.get(r.name()).copied().unwrap_or(0);
    let weights: Vec<u32> = resources.iter().map(weight).collect();
    if weights.first().is_none_or(|w| *w == 0) {
        let hint = "nothing runs without a processor: as in --weights cpu=2,memory=1";
        return Err(usage("processors without a weight", hint));
    }
    Ok((weights, false))
}

impl Claim {
    /// Plans a claim.
    pub(super) fn planned(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        let pool = look(at, self, ask.nodes)?;
        let slots = ask.slots(&at.market, limits::ORDER_SLOTS)?;
        ask.in_range()?;
        let own = pool.sharing.claims.last();
        let rate = own.map_or(Credits::ZERO, |own| own.rate);
        let all = rate.checked_mul(u64::from(slots)).ok_or_else(too_much)?;
        let budget = ask.budget.unwrap_or(all);
        if budget < rate {
            let what = format!("a budget of {budget} credits");
            return Err(usage(what, format!("one slot at this rate costs {rate}")));
        }
        let most = all.min(budget);
        let likely = pool.outlook.as_ref();
        let likely = likely.and_then(|o| o.pay.checked_mul(u64::from(slots)));
        Ok(Plan {
            terms: Terms::Share(ShareTerms {
                offer: pool.sharing.offer,
                rate,
                utility: self.utility,
                weights: pool.weights.clone(),
                budget,
                patience: patience(&at.market),
            }),
            slots,
            max_price: self.rate,
            most,
            likely: likely.map(|likely| likely.min(most)),
            needed_now: rate,
            worth: None,
            shelf: Shelf::of(&at.market),
            said: Said::Pool(would_get(&pool)),
        })
    }
}

/// The grant that a claim would get now, for a quote.
fn would_get(pool: &Pool) -> ShareOutlook {
    let shares = pool.outlook.as_ref().map_or(&[][..], |o| &o.shares);
    let resources = pool.class.resources().enumerate();
    let resource = |(index, resource): (usize, Resource)| ResourceShare {
        resource: resource.name().to_owned(),
        weight: pool.weights.get(index).copied().unwrap_or(0),
        share_ppm: shares.get(index).map_or(0, |s| ppm(*s)),
    };
    ShareOutlook {
        offer: pool.sharing.offer,
        units: pool.sharing.units,
        claims: u32::try_from(pool.sharing.claims.len() - 1).unwrap_or(u32::MAX),
        learnt: pool.learnt,
        nodes_milli: pool.outlook.as_ref().map_or(0, |o| o.units),
        resources: resources.map(resource).collect(),
    }
}

/// A Q32 share in millionths.
fn ppm(share: u64) -> u32 {
    ((u128::from(share) * 1_000_000) >> 32) as u32
}
