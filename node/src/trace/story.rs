//! Spans of the news of a look. Pure: looks come in, spans go out.
//!
//! | span | below | of | from, to |
//! |---|---|---|---|
//! | `order` | – | buyer | taken by the node; its end on the ledger |
//! | `commit` | `order` | buyer | taken; the block with its commitment or buy |
//! | `open` | `order` | buyer | that block; the one that opens its bid |
//! | `clearing` | `order` | buyer | opened, or before; the block of the auction that it won |
//! | `lease` | `order` | buyer | the block that begins it; the one that ends it |
//! | `start` | `lease` | buyer | the lease, or an attempt's end before; an attempt is seen to run |
//! | `job` | `lease` | buyer | an attempt is seen to run; its end |
//! | `payment` | `lease` | buyer | the block in which money moves |
//! | `stage` | `lease` | seller | told to stage; first instruction |
//! | `run` | `job` | seller | first instruction; end |
//! | `earning` | `lease` | seller | the block in which money moves |

mod attempts;
mod steps;

use super::facts::{Look, OrderFact, Step, What};
use super::ids;
use super::span::{Span, count, in_credits};
use super::told::Told;
use crate::api::types::JobState;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::{LeaseId, OrderId};
use opentelemetry::SpanId;
use opentelemetry_sdk::trace::SpanData;
use std::collections::{BTreeMap, BTreeSet};

/// Orders that another attempt replaced, remembered at the most.
const FORMER: usize = 1_024;
/// Heights for which the lease of an order that is over is remembered: its last slot is paid later.
const LINGER: u64 = 4_096;
/// Leases remembered at the most.
const LEASES: usize = 16_384;

/// A lease.
#[derive(Clone, Copy, Debug)]
struct Held {
    lease: LeaseId,
    since_ms: u64,
    units: u32,
    slots: u32,
    /// The last slot, and the height at which it was leased for that.
    slot: Option<(u64, u64)>,
    /// Height at which its order was over.
    over: Option<u64>,
}

impl Held {
    fn new(lease: LeaseId, since_ms: u64) -> Held {
        Held {
            lease,
            since_ms,
            units: 0,
            slots: 0,
            slot: None,
            over: None,
        }
    }
}

/// The memory from look to look: live orders and leases, and those just gone.
#[derive(Debug)]
pub(super) struct Story {
    percent: u8,
    told: Told,
    orders: BTreeMap<OrderKey, OrderFact>,
    /// Earlier attempts at them.
    former: BTreeMap<OrderId, OrderFact>,
    leases: BTreeMap<OrderId, Held>,
    hosted: super::hosted::Hosted,
}

impl Story {
    /// Tells of so many percent of all orders, and of what comes after a place.
    pub(super) fn new(percent: u8, told: Told) -> Story {
        Story {
            percent,
            told,
            orders: BTreeMap::new(),
            former: BTreeMap::new(),
            leases: BTreeMap::new(),
            hosted: super::hosted::Hosted::default(),
        }
    }
    /// Up to where it has told.
    pub(super) fn told(&self) -> Told {
        self.told
    }
    /// The share of all orders that it tells of.
    pub(super) fn percent(&self) -> u8 {
        self.percent
    }
    /// Orders that it follows.
    pub(super) fn followed(&self) -> BTreeSet<OrderKey> {
        self.orders.keys().copied().collect()
    }

    /// The spans of what is new.
    pub(super) fn tell(&mut self, look: Look) -> Vec<SpanData> {
        let mut spans = Vec::new();
        self.hosted.serves(&look);
        for fact in &look.orders {
            self.recall_lease(fact, &look);
            self.stages(fact, &look, &mut spans);
        }
        let mut steps: Vec<&Step> = look.steps.iter().collect();
        // In a block, money moves before the lease that it is for begins or goes on.
        let turn = |step: &Step| match step.what {
            What::LeaseOver { .. } => 0,
            What::Leased { .. } => 1,
            What::Cleared { .. } | What::Paid { .. } | What::Over { .. } => 2,
        };
        steps.sort_by_key(|step| (step.place.0, turn(step), step.place.1));
        for step in steps {
            let span = self.step(step, &look);
            spans.extend(span.map(|span| (step.order, span)));
        }
        self.note(&look, &mut spans);
        self.hosted.runs(&look, &mut spans);
        self.told = Told {
            height: look.height,
            now_ms: look.now_ms,
            place: look
                .steps
                .iter()
                .map(|step| step.place)
                .fold(self.told.place, Ord::max),
        };
        spans.retain(|(order, _)| ids::is_sampled(order, self.percent));
        spans.into_iter().map(|(_, span)| span.done()).collect()
    }

    /// A lease that began before anything was told: its order knows when.
    fn recall_lease(&mut self, fact: &OrderFact, look: &Look) {
        let Some(lease) = fact.lease.filter(|_| fact.won <= self.told.height) else {
            return;
        };
        let since_ms = time(look, fact.won);
        self.leases
            .entry(fact.id)
            .or_insert(Held::new(lease, since_ms));
    }

    /// What the order and its attempts have come to.
    fn stages(&self, fact: &OrderFact, look: &Look, spans: &mut Spans) {
        let (order, is_new) = (&fact.id, |height| height > self.told.height);
        let stage = |name, number| (name, ids::stage(order, name, number));
        if is_new(fact.committed) {
            let times = (fact.accepted_ms, time(look, fact.committed));
            let id = stage("commit", (fact.committed, 0));
            let span = Span::new(order, id, ids::root(order), times);
            let span = span.with("gridbay.height", count(fact.committed));
            let span = span.with("gridbay.mechanism", fact.mechanism);
            spans.push((*order, span.with("gridbay.class", fact.class.clone())));
        }
        if is_new(fact.opened) && fact.opened > fact.committed {
            let times = (time(look, fact.committed), time(look, fact.opened));
            let id = stage("open", (fact.opened, 0));
            let span = Span::new(order, id, ids::root(order), times);
            spans.push((*order, span.with("gridbay.height", count(fact.opened))));
        }
        self.attempts(fact, look, spans);
    }

    /// The newest that is known of an order.
    fn fact<'a>(&'a self, order: &OrderId, look: &'a Look) -> Option<&'a OrderFact> {
        let mut now = look.orders.iter();
        let mut before = self.orders.values();
        let now = now.find(|fact| fact.id == *order);
        let now = now.or_else(|| before.find(|fact| fact.id == *order));
        now.or_else(|| self.former.get(order))
    }

    /// Remembers the orders of a look. Those that ended without a word of the ledger are told.
    fn note(&mut self, look: &Look, spans: &mut Spans) {
        for fact in &look.orders {
            if fact.settled {
                // Of one that the ledger never had, it does not tell the end either.
                let followed = self.orders.remove(&fact.key).is_some();
                if followed && fact.committed == 0 {
                    spans.push((fact.id, whole(fact, None, look.now_ms)));
                }
                continue;
            }
            let before = self.orders.insert(fact.key, fact.clone());
            if let Some(before) = before.filter(|before| before.id != fact.id) {
                self.former.insert(before.id, before);
            }
        }
        while self.former.len() > FORMER {
            self.former.pop_first();
        }
        let remembered = |held: &Held| held.over.is_none_or(|over| look.height < over + LINGER);
        self.leases.retain(|_, held| remembered(held));
        while self.leases.len() > LEASES {
            self.leases.pop_first();
        }
    }
}

/// Spans with the orders that they are of.
pub(super) type Spans = Vec<(OrderId, Span)>;

/// The ledger time of a height.
pub(super) fn time(look: &Look, height: u64) -> u64 {
    look.times.get(&height).copied().unwrap_or(look.now_ms)
}

/// The order as a whole.
fn whole(fact: &OrderFact, end: Option<&str>, at_ms: u64) -> Span {
    let failed = matches!(fact.state, JobState::Failed | JobState::Expired);
    let id = ("order", ids::root(&fact.id));
    Span::new(&fact.id, id, SpanId::INVALID, (fact.accepted_ms, at_ms))
        .with("gridbay.job", fact.job.clone())
        .with("gridbay.class", fact.class.clone())
        .with("gridbay.mechanism", fact.mechanism)
        .with("gridbay.nodes", count(fact.nodes))
        .with("gridbay.budget", in_credits(fact.budget))
        .with("gridbay.paid", in_credits(fact.paid))
        .with("gridbay.state", fact.state.name())
        .with("gridbay.leases_lost", count(fact.leases_lost))
        .with_some("gridbay.reason", fact.reason.clone())
        .with_some("gridbay.end", end.map(str::to_owned))
        .failed(failed, fact.reason.as_deref())
}

#[cfg(test)]
mod tests;
