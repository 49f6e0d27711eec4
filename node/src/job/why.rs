//! Why a job is in its state: every condition with its figures, one sentence, and changes that
//! would help.
//!
//! The figures are those of the ledger at this moment: they show the input of the next clearing,
//! not that of the last one.

mod checks;
mod words;

use super::handle::find;
use super::state::situation;
use crate::api::Answer;
use crate::api::ApiError;
use crate::api::types::{JobId, JobReason, JobState, Why};
use crate::backend::NodeBackend;
use crate::backend::failure::internal;
use crate::buy::way::{Standing, Words};
use crate::buy::{self, lost};
use crate::market::price::limit_hourly;
use crate::market::{self, Market, class_named, held};
use crate::order::handle::job_id;
use checks::checks;
use gridbay_core::Core;
use gridbay_core::agent::Phase;
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::entry_of;
use gridbay_protocol::units::Credits;
use std::ops::ControlFlow;
use words::{remedies, summary};

/// The facts of an explanation.
#[derive(Clone, Debug)]
struct Facts {
    job: String,
    state: JobState,
    reason: Option<JobReason>,
    class: String,
    /// Nodes asked for, and the fewest that are of use.
    nodes: u32,
    fewest: u32,
    offered: u32,
    free: u32,
    /// Whether all of it is paid or locked beforehand: a buy, a reservation, or a job by a
    /// deadline.
    prepaid: bool,
    /// Slot from which it is reserved.
    booked_from: Option<u64>,
    /// Per node-hour: the order's limit, what the sellers ask of it, the last clearing's mean.
    limit: Credits,
    asked: Option<Credits>,
    last: Option<Credits>,
    /// The lock of the next slot (or of the whole buy), the money locked, and the money that can be
    /// spent.
    needed: Credits,
    locked: Credits,
    spendable: Credits,
    /// The payments so far, and the most that may be paid.
    paid: Credits,
    budget: Credits,
    height: u64,
    round: u64,
    slot: u64,
    sealed_in: Option<u64>,
    /// Validators that acknowledged the entry it waits for, and all of them.
    acknowledged: Option<(usize, usize)>,
    closes_at: u64,
    closes_ms: u64,
    /// Ranks: all, begun, done.
    ranks: (u32, usize, usize),
    /// Ranks that ended, and whose output is on its way.
    collecting: usize,
    /// Bytes of output that were dropped.
    dropped: u64,
    /// Why the ledger did not take its entry, in a word.
    refusal: Option<String>,
    /// The last clearing that it lost.
    lost: Option<Defeat>,
    /// The outcomes that only orders of its way can have.
    words: Words,
    /// The job's id, if its bid stands and can be amended.
    amendable: Option<String>,
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
    /// Why a job is in its state.
    pub async fn why(&self, id: JobId) -> Answer<Why> {
        let looked = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            let (mut facts, class) = facts(core, &job_id(&key), agent)?;
            let is_bid = agent.order().terms.bid().is_some() && agent.order().worth.is_none();
            let stands = agent.finish().is_none() && !agent.is_cancelling();
            facts.amendable = (is_bid && stands).then(|| job_id(&key).to_string());
            Ok::<(OrderKey, Facts, _, _), ApiError>((key, facts, class, agent.id))
        });
        let (key, mut facts, class, order) = looked.await??;
        facts.last = self.board.last(&class).map(|last| last.price);
        if let Some(order) = order.filter(|_| facts.reason == Some(JobReason::Outbid)) {
            facts.lost = self.last_defeat(class, order).await?;
        }
        let stall = match facts.state.is_final() {
            true => None,
            false => self.stall().await.map(|stall| stall.in_words()),
        };
        Ok(Why {
            id: job_id(&key),
            state: facts.state,
            reason: facts.reason,
            refusal: facts.refusal.clone(),
            summary: summary(&facts),
            checks: checks(&facts),
            remedies: remedies(&facts),
            closes_ms: match facts.state {
                _ if stall.is_some() => None,
                JobState::Bidding | JobState::Requeued => Some(facts.closes_ms),
                _ => None,
            },
            stall,
        })
    }

    /// The last clearing of a class that an order took part in, if it lost it.
    async fn last_defeat(&self, class: ClassId, order: OrderId) -> Answer<Option<Defeat>> {
        let record = self.look_back(class, move |record| {
            match record.bids.iter().any(|bid| bid.order == order) {
                true => ControlFlow::Break(record.clone()),
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

fn facts(core: &Core, job: &JobId, agent: &OrderAgent) -> Answer<(Facts, ClassId)> {
    let (state, order) = (core.state(), agent.order());
    let name = market::class_name(state, &order.class);
    let class = class_named(state, &name)?;
    let market = Market::of(state, class, &held(state));
    let (policy, height) = (state.policy(), state.height());
    let slot_ms = policy.slot_ms();
    let judged = situation(state, agent).judge();
    let standing = Standing {
        state,
        market: &market,
        agent,
        judged,
    };
    let shown = buy::shown(&order.terms);
    let (asks, words) = (shown.asks(order, &standing), shown.words(&standing));
    let round = policy.calendar.round(height.saturating_add(1));
    let closes_at = policy.calendar.last_of_round(round);
    let facts = Facts {
        job: job.to_string(),
        state: judged.0,
        reason: judged.1,
        class: name,
        nodes: order.tasks,
        fewest: asks.fewest,
        offered: asks.offered,
        free: asks.free,
        prepaid: asks.prepaid,
        booked_from: match agent.seen {
            Seen::Booked(slot) => Some(slot),
            _ => None,
        },
        limit: limit_hourly(asks.limit, slot_ms),
        asked: asks.price.map(|price| limit_hourly(price, slot_ms)),
        last: None,
        needed: asks.needed,
        locked: agent.id.map_or(Credits::ZERO, |id| state.escrow(&id)),
        spendable: spendable(core),
        paid: agent.paid(),
        budget: asks.budget,
        height,
        round,
        slot: standing.slot(),
        sealed_in: match agent.seen {
            Seen::Sealed(round) => Some(round),
            _ => None,
        },
        acknowledged: acknowledged(core, agent),
        closes_at,
        closes_ms: closes_at
            .saturating_sub(height)
            .saturating_mul(policy.block_interval_ms),
        ranks: ranks(agent),
        collecting: agent.tasks.collecting(),
        dropped: dropped(agent),
        refusal: match agent.finish() {
            Some(Finish::Refused(word)) => Some(word.clone()),
            // What an attempt was refused for is over once the order stands.
            None if matches!(agent.seen, Seen::Absent | Seen::Sealed(_)) => {
                agent.refusal().map(str::to_owned)
            }
            _ => None,
        },
        lost: None,
        words,
        amendable: None,
    };
    Ok((facts, order.class))
}

/// What the node's account can pay.
fn spendable(core: &Core) -> Credits {
    let of = |account| market::spendable(core.state(), &account);
    core.account().map_or(Credits::ZERO, of)
}

/// Bytes of output of all its ranks that were dropped.
fn dropped(agent: &OrderAgent) -> u64 {
    let records = agent.tasks.records.iter();
    records.fold(0, |sum: u64, task| sum.saturating_add(task.dropped))
}

/// How many ranks there are, run or ran, and are done.
fn ranks(agent: &OrderAgent) -> (u32, usize, usize) {
    let begun = |p: Phase| matches!(p, Phase::Running { .. } | Phase::Ended { .. });
    let runs = agent.tasks.runs.values().filter(|r| begun(r.phase));
    let done = agent.tasks.records.iter().filter(|t| t.done.is_some());
    (agent.order().tasks, runs.count(), done.count())
}

/// Validators that acknowledged the entry that the order waits for, and all of them; `None` if it
/// waits for none.
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
    let set = core.state().validators();
    let promises = core.host().promises(&entry).into_iter();
    let now = promises.filter(|promise| set.get(&promise.validator).is_some());
    Some((now.count(), set.members().len()))
}
