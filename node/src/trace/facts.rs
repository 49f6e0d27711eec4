//! What a look at the node finds, and how it follows from ledger and agents. Nothing of a job's
//! text is among it: neither its name nor program, arguments, environment or files.

use super::runs::RunNews;
use crate::api::types::{AuctionKind, JobState};
use crate::buy;
use crate::job::attempts::word;
use crate::job::state::situation;
use crate::market::class_name;
use crate::order::handle::job_id;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::buyer::{Attempt, TaskRecord};
use gridbay_core::key::OrderKey;
use gridbay_host::HistoryItem;
use gridbay_ledger::State;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, LeaseId, OrderId, to_hex};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, BTreeSet};

/// One look.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// Height of the last block.
    pub(super) height: u64,
    /// When it was, milliseconds since 1970.
    pub(super) now_ms: u64,
    /// Own orders that are not over, or were not at the last look, or that a step names.
    pub(super) orders: Vec<OrderFact>,
    /// What the ledger has done since the last look, in its order.
    pub(super) steps: Vec<Step>,
    /// Ledger times of all heights that are named here.
    pub(super) times: BTreeMap<u64, u64>,
    /// The orders of leases of which this node serves units.
    pub(super) served: BTreeMap<LeaseId, OrderId>,
    /// News of others' jobs.
    pub(super) runs: Vec<RunNews>,
}

/// An own order. Heights are 0 for not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrderFact {
    pub(super) key: OrderKey,
    pub(super) id: OrderId,
    pub(super) job: String,
    pub(super) class: String,
    pub(super) mechanism: &'static str,
    pub(super) nodes: u32,
    pub(super) budget: Credits,
    pub(super) paid: Credits,
    pub(super) state: JobState,
    /// Why, in a word.
    pub(super) reason: Option<String>,
    /// Whether nothing of it can happen any more.
    pub(super) settled: bool,
    pub(super) accepted_ms: u64,
    pub(super) committed: u64,
    pub(super) opened: u64,
    pub(super) won: u64,
    /// Its (last) lease.
    pub(super) lease: Option<LeaseId>,
    pub(super) leases_lost: u32,
    /// By rank and number.
    pub(super) attempts: BTreeMap<(u32, u32), AttemptFact>,
}

/// An attempt at a rank. Times are milliseconds since 1970, 0 for not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttemptFact {
    pub(super) lease: Option<LeaseId>,
    pub(super) started_ms: u64,
    pub(super) ended_ms: u64,
    /// Why it ended, in a word.
    pub(super) end: Option<String>,
    /// The code with which the rank ended, where it did.
    pub(super) code: Option<i64>,
}

impl OrderFact {
    /// The facts of an order; `None` while it has no id.
    pub(super) fn of(state: &State, key: &OrderKey, agent: &OrderAgent) -> Option<OrderFact> {
        let (order, milestones) = (agent.order(), agent.milestones());
        let (_, budget, how) = buy::in_words(order, state);
        let (now, reason) = situation(state, agent).judge();
        let tasks = (0..).zip(&agent.tasks.records);
        Some(OrderFact {
            key: *key,
            id: agent.id?,
            job: job_id(key).to_string(),
            class: class_name(state, &order.class),
            mechanism: how.name(),
            nodes: order.tasks,
            budget,
            paid: agent.paid(),
            state: now,
            reason: reason.as_ref().and_then(word),
            settled: agent.is_settled(),
            accepted_ms: order.accepted_ms,
            committed: milestones.committed,
            opened: milestones.opened,
            won: milestones.won,
            lease: milestones.lease,
            leases_lost: milestones.lost,
            attempts: tasks
                .flat_map(|(rank, task)| attempts(rank, task))
                .collect(),
        })
    }
}

fn attempts(rank: u32, task: &TaskRecord) -> impl Iterator<Item = ((u32, u32), AttemptFact)> {
    let last = task.history.attempts.last().map(|attempt| attempt.number);
    let code = task.done.and_then(|exit| match exit {
        gridbay_protocol::job::JobExit::Code(code) => Some(i64::from(code)),
        _ => None,
    });
    task.history.attempts.iter().map(move |attempt: &Attempt| {
        let over = attempt.end.is_some();
        let fact = AttemptFact {
            lease: attempt.lease,
            started_ms: attempt.started_ms,
            ended_ms: if over { attempt.ended_ms } else { 0 },
            end: attempt.end.as_ref().and_then(word),
            code: code.filter(|_| over && last == Some(attempt.number)),
        };
        ((rank, attempt.number), fact)
    })
}

/// Something that the ledger did to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Height and position among the effects of its block.
    pub(super) place: (u64, u32),
    pub(super) order: OrderId,
    pub(super) what: What,
}

/// What it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// An auction gave it something.
    Cleared { auction: String, kind: &'static str },
    /// Its lease began, or goes on in another slot.
    Leased {
        lease: LeaseId,
        slot: u64,
        units: u32,
        begins: bool,
    },
    /// Its lease ended.
    LeaseOver { lease: LeaseId, end: Option<String> },
    /// Money moved for it, to this node's account as the seller's if `earned`.
    Paid {
        amount: Credits,
        reason: Reason,
        earned: bool,
    },
    /// It ended.
    Over { end: Option<String> },
}

/// What a line of an account's history tells of orders. `is_own` are the account's.
pub(super) fn steps(
    account: &AccountId,
    item: &HistoryItem,
    is_own: impl Fn(&OrderId) -> bool,
) -> Vec<Step> {
    let place = (item.height, item.position);
    let step = |order: &OrderId, what| Step {
        place,
        order: *order,
        what,
    };
    match &item.effect {
        Effect::Lease(event) => {
            lease(event).map_or(Vec::new(), |what| vec![step(event.order(), what)])
        }
        Effect::Order { order, end } => vec![step(order, What::Over { end: word(end) })],
        Effect::Posting(posting) => {
            let Some(order) = posting.order.filter(|_| is_payment(posting.reason)) else {
                return Vec::new();
            };
            let here = [Purse::Account(*account), Purse::Retained(*account)];
            let earned = !is_own(&order);
            if earned && !here.contains(&posting.to) && !here.contains(&posting.from) {
                return Vec::new();
            }
            let (amount, reason) = (posting.amount, posting.reason);
            let paid = What::Paid {
                amount,
                reason,
                earned,
            };
            vec![step(&order, paid)]
        }
        effect => effect.auction().map_or(Vec::new(), |auction| {
            let winners: BTreeSet<OrderId> = auction.winners().into_iter().collect();
            let own = winners.into_iter().filter(is_own);
            let cleared = || What::Cleared {
                auction: to_hex(&auction.id()),
                kind: AuctionKind::of(&auction).name(),
            };
            own.map(|order| step(&order, cleared())).collect()
        }),
    }
}

fn lease(event: &LeaseEvent) -> Option<What> {
    match event {
        LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => Some(What::Leased {
            lease: terms.lease,
            slot: terms.slot,
            units: terms.shares.iter().map(|share| share.units).sum(),
            begins: matches!(event, LeaseEvent::Started(_)),
        }),
        LeaseEvent::Ended { lease, end, .. } => Some(What::LeaseOver {
            lease: *lease,
            end: word(end),
        }),
        LeaseEvent::Disputed { .. } => None,
    }
}

/// Whether money that moves so is paid or comes back, and not only locked or released.
fn is_payment(reason: Reason) -> bool {
    match reason {
        Reason::Charge
        | Reason::Earning
        | Reason::Refund
        | Reason::Compensation
        | Reason::Damages
        | Reason::Cancellation
        | Reason::Forfeit
        | Reason::Revenue
        | Reason::Retained => true,
        Reason::Transfer
        | Reason::Endowment
        | Reason::Deposit
        | Reason::Release
        | Reason::Lock
        | Reason::Bond
        | Reason::Profit
        | Reason::Tax
        | Reason::Arrears
        | Reason::Relief => false,
    }
}
