//! Why a job is in its state: every condition with its figures, one sentence, and what would help.
//!
//! The figures are those of the ledger at this moment: they say what the next clearing will find, not
//! what the last one found.

mod checks;
mod deadline;
mod lost;
mod words;

use super::failure::internal;
use super::job::{find, situation};
use super::ledger::spendable;
use super::market::{Market, class_named, held};
use super::order::job_id;
use super::plan::reserve::bid_per_node;
use super::price::limit_hourly;
use super::{Answer, NodeBackend};
use crate::api::ApiError;
use crate::api::types::{JobId, JobReason, JobState, Why};
use checks::checks;
use deadline::Promise;
use gridbay_core::Core;
use gridbay_core::agent::Phase;
use gridbay_core::buy::{BidTerms, BuyTerms, DeadlineWish, NewOrder, ShareTerms, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_core::key::OrderKey;
use gridbay_ledger::State;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::{BuyPart, Step, entry_of};
use gridbay_protocol::units::{Credits, Price};
use std::ops::ControlFlow;
use words::{remedies, summary};

/// What an explanation is made from.
#[derive(Clone, Debug)]
struct Facts {
    state: JobState,
    reason: Option<JobReason>,
    class: String,
    /// Nodes asked for, and the fewest that are of use.
    nodes: u32,
    fewest: u32,
    offered: u32,
    free: u32,
    /// Class by class, if they are several.
    parts: Vec<Part>,
    /// The class of which it found too few units when it was last decided on, if they are several.
    short: Option<String>,
    /// Whether all of it is paid or locked beforehand: a buy, a reservation, or a job by a deadline.
    is_buy: bool,
    /// Last height at which a buy that waits for units may be served.
    waits_until: Option<u64>,
    /// Slot from which it is reserved.
    booked_from: Option<u64>,
    /// Per node-hour: the order's limit, what the sellers ask of it, the last clearing's mean.
    limit: Credits,
    asked: Option<Credits>,
    last: Option<Credits>,
    /// What the next slot (or the whole buy) locks, what is locked, what can be spent.
    needed: Credits,
    locked: Credits,
    spendable: Credits,
    /// What was paid, and the most that may be.
    paid: Credits,
    budget: Credits,
    height: u64,
    round: u64,
    slot: u64,
    sealed_in: Option<u64>,
    /// Validators that acknowledged the entry it waits for, and all of them.
    acknowledged: Option<(usize, usize)>,
    closes_at: u64,
    /// Ranks: all, begun, done.
    ranks: (u32, usize, usize),
    /// Why the ledger did not take its entry, in a word.
    refusal: Option<String>,
    /// The last clearing that it lost.
    lost: Option<Defeat>,
    /// Of a job by a deadline.
    deadline: Option<Promise>,
}

/// Nodes of one class of several.
#[derive(Clone, Debug)]
struct Part {
    class: String,
    nodes: u32,
    offered: u32,
    free: u32,
    /// What sellers ask per slot for all of them.
    asked: Option<Credits>,
}

/// A clearing that was lost; prices per node-hour.
#[derive(Clone, Copy, Debug)]
struct Defeat {
    height: u64,
    rule: Rule,
    bid: Credits,
    least: u32,
    passed_over: Option<Credits>,
    would_win: Option<Credits>,
}

impl NodeBackend {
    pub(super) async fn explain(&self, id: JobId) -> Answer<Why> {
        let looked = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            let (facts, class) = facts(core, agent)?;
            Ok::<(OrderKey, Facts, _, _), ApiError>((key, facts, class, agent.id))
        });
        let (key, mut facts, class, order) = looked.await??;
        facts.last = self.board.last(&class).map(|last| last.price);
        if let Some(order) = order.filter(|_| facts.reason == Some(JobReason::Outbid)) {
            facts.lost = self.last_defeat(class, order).await?;
        }
        Ok(Why {
            id: job_id(&key),
            state: facts.state,
            reason: facts.reason,
            refusal: facts.refusal.clone(),
            summary: summary(&facts),
            checks: checks(&facts),
            remedies: remedies(&facts),
        })
    }

    /// The last clearing of a class that an order took part in, if it lost it.
    async fn last_defeat(&self, class: ClassId, order: OrderId) -> Answer<Option<Defeat>> {
        let record = self.look_back(class, |record| {
            match record.bids.iter().any(|bid| bid.order == order) {
                true => ControlFlow::Break(record),
                false => ControlFlow::Continue(()),
            }
        });
        let Some(record) = record.await? else {
            return Ok(None);
        };
        let policy = self.query(|core| core.state().policy().clone()).await?;
        let (heights, slot_ms) = (policy.calendar.slot_heights(), policy.slot_ms());
        let looked = move || lost::lost(&record, &order, heights);
        let looked = tokio::task::spawn_blocking(looked).await;
        let looked = looked.map_err(|error| internal("clearing again", error))?;
        Ok(looked.map(|lost| Defeat {
            height: lost.height,
            rule: lost.rule,
            bid: limit_hourly(lost.bid, slot_ms),
            least: lost.least,
            passed_over: lost.passed_over.map(|p| limit_hourly(p, slot_ms)),
            would_win: lost.would_win.map(|p| limit_hourly(p, slot_ms)),
        }))
    }
}

/// What the order itself says, in the ledger's units.
struct Asks {
    is_buy: bool,
    fewest: u32,
    limit: Price,
    needed: Credits,
    budget: Credits,
    /// What sellers ask of it.
    price: Option<Price>,
}

fn asks(order: &NewOrder, market: &Market, parts: &[Part]) -> Asks {
    match &order.terms {
        Terms::Sealed(BidTerms {
            steps, min, budget, ..
        }) => Asks {
            is_buy: false,
            fewest: *min,
            limit: steps.iter().map(|s| s.price).max().unwrap_or_default(),
            needed: slot_at_bid(steps).unwrap_or(Credits::MAX),
            budget: *budget,
            price: market.reserve_of(*min),
        },
        Terms::Reserve(reserve) => {
            let units: u32 = reserve.groups.iter().map(|g| g.units).sum();
            Asks {
                is_buy: true,
                fewest: units,
                limit: bid_per_node(reserve.value, units, order.slots),
                needed: reserve.value,
                budget: reserve.value,
                price: Some(market.reference),
            }
        }
        Terms::Buy(terms) => asks_of_buy(terms, order.slots, market, parts),
        Terms::Posted(terms) => {
            let slot = terms.limit.times(u64::from(terms.units));
            at_once(terms.limit, slot.unwrap_or(Credits::MAX))
        }
        Terms::Deadline(DeadlineWish {
            unit_slots, pmax, ..
        }) => at_once(Price(pmax.micros() / (*unit_slots).max(1)), *pmax),
        // All of it is locked once it is proposed; what the provider pays for units is its own affair.
        Terms::Contract(wish) => {
            let limit = Price(wish.job.value.micros() / u64::from(order.slots).max(1));
            at_once(
                limit,
                wish.terms(order.class, order.tasks)
                    .lock()
                    .unwrap_or(Credits::MAX),
            )
        }
        // A claim states no price: what the reserve asks of its rate is in the quote.
        Terms::Share(ShareTerms { rate, budget, .. }) => Asks {
            is_buy: false,
            fewest: 1,
            limit: Price(rate.micros()),
            needed: *rate,
            budget: *budget,
            price: None,
        },
    }
}

/// A buy of one class or several is limited by what it may cost a slot.
fn asks_of_buy(terms: &BuyTerms, slots: u32, market: &Market, parts: &[Part]) -> Asks {
    let units: u32 = terms.parts.iter().map(|part| part.units).sum();
    let asked = match parts {
        [] => market.asked(units),
        parts => {
            let asked = parts.iter().map(|part| part.asked);
            let asked = asked.collect::<Option<Vec<_>>>();
            asked.and_then(Credits::sum)
        }
    };
    let most = terms.limit.checked_mul(u64::from(slots) + 1);
    let most = most.unwrap_or(Credits::MAX);
    let per_unit = |sum: Credits| Price(sum.micros() / u64::from(units).max(1));
    Asks {
        is_buy: true,
        fewest: units,
        limit: per_unit(terms.limit),
        needed: most,
        budget: most,
        price: asked.map(per_unit),
    }
}

/// What is paid for a slot at the bid.
fn slot_at_bid(steps: &[Step]) -> Option<Credits> {
    let parts = steps.iter().map(|s| s.price.times(u64::from(s.units)));
    parts.collect::<Option<Vec<_>>>().and_then(Credits::sum)
}

/// For one who locks all that it can cost, whatever sellers ask.
fn at_once(limit: Price, most: Credits) -> Asks {
    Asks {
        is_buy: true,
        fewest: 1,
        limit,
        needed: most,
        budget: most,
        price: None,
    }
}

fn facts(core: &Core, agent: &OrderAgent) -> Answer<(Facts, gridbay_protocol::ids::ClassId)> {
    let (state, order) = (core.state(), agent.order());
    let name = super::market::class_name(state, &order.class);
    let class = class_named(state, Some(&name))?;
    let market = Market::of(state, class, &held(state));
    let (policy, height) = (state.policy(), state.height());
    let slot_ms = policy.slot_ms();
    let parts = parts(state, order);
    let asks = asks(order, &market, &parts);
    let (now, reason) = situation(state, agent).judge();
    let round = policy.calendar.round(height.saturating_add(1));
    let facts = Facts {
        state: now,
        reason,
        class: name,
        nodes: order.tasks,
        fewest: asks.fewest,
        offered: match &parts[..] {
            [] => market.supply(),
            parts => parts.iter().map(|p| p.offered.min(p.nodes)).sum(),
        },
        free: match &parts[..] {
            [] => market.free(),
            parts => parts.iter().map(|p| p.free.min(p.nodes)).sum(),
        },
        parts,
        short: short(state, agent),
        is_buy: asks.is_buy,
        waits_until: waits_until(state, agent),
        booked_from: match agent.seen {
            Seen::Booked(slot) => Some(slot),
            _ => None,
        },
        limit: limit_hourly(asks.limit, slot_ms),
        asked: asks
            .price
            .or(deadline::reserve(state, order))
            .map(|price| limit_hourly(price, slot_ms)),
        last: None,
        needed: asks.needed,
        locked: agent.id.map_or(Credits::ZERO, |id| state.escrow(&id)),
        spendable: core
            .account()
            .map_or(Credits::ZERO, |account| spendable(state, &account)),
        paid: agent.paid(),
        budget: asks.budget,
        height,
        round,
        slot: policy.calendar.slot(height.saturating_add(1)),
        sealed_in: match agent.seen {
            Seen::Sealed(round) => Some(round),
            _ => None,
        },
        acknowledged: acknowledged(core, agent),
        closes_at: policy.calendar.last_of_round(round),
        ranks: ranks(agent),
        refusal: match agent.finish() {
            Some(Finish::Refused(word)) => Some(word.clone()),
            _ => agent.refusal().map(str::to_owned),
        },
        lost: None,
        deadline: deadline::promise(core, agent),
    };
    Ok((facts, order.class))
}

/// How many ranks there are, run or ran, and are done.
fn ranks(agent: &OrderAgent) -> (u32, usize, usize) {
    let begun = |p: Phase| matches!(p, Phase::Running { .. } | Phase::Ended { .. });
    let runs = agent.tasks.runs.values().filter(|r| begun(r.phase));
    let done = agent.tasks.records.iter().filter(|t| t.done.is_some());
    (agent.order().tasks, runs.count(), done.count())
}

/// The nodes of each class of a buy of several.
fn parts(state: &State, order: &NewOrder) -> Vec<Part> {
    let Terms::Buy(BuyTerms { parts, .. }) = &order.terms else {
        return Vec::new();
    };
    let held = held(state);
    let part = |part: &BuyPart| {
        let market = Market::of(state, state.class(&part.class)?, &held);
        Some(Part {
            class: market.name.clone(),
            nodes: part.units,
            offered: market.supply(),
            free: market.can_be_bought(),
            asked: market.asked(part.units),
        })
    };
    match parts.len() {
        0 | 1 => Vec::new(),
        _ => parts.iter().filter_map(part).collect(),
    }
}

/// Of which class it found too few units: when it ended, or as it waits.
fn short(state: &State, agent: &OrderAgent) -> Option<String> {
    let waits = |id| state.order(&id)?.buy()?.short;
    let class = agent.short().or(agent.id.and_then(waits))?;
    Some(super::market::class_name(state, &class))
}

fn waits_until(state: &State, agent: &OrderAgent) -> Option<u64> {
    let buy = state.order(&agent.id?)?.buy()?;
    buy.waits.then_some(buy.buy.stands_until)
}

/// Validators that acknowledged the entry that the order waits for, and all of them; `None` if it waits for none.
fn acknowledged(core: &Core, agent: &OrderAgent) -> Option<(usize, usize)> {
    if agent.finish().is_some() {
        return None;
    }
    let entry = match agent.seen {
        Seen::Absent => entry_of(&agent.id?),
        Seen::Sealed(_) => agent.sent_opening()?.entry,
        Seen::Unopened
        | Seen::Standing
        | Seen::Booked(_)
        | Seen::Running(_)
        | Seen::Proposed
        | Seen::Contract => return None,
    };
    let all = core.state().validators().members().len();
    Some((core.host().receipts(&entry).len(), all))
}
