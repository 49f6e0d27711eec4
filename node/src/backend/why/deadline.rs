//! What there is to say of a job by a deadline.

use super::Facts;
use super::checks::check;
use crate::api::types::WhyCheck;
use gridbay_core::Core;
use gridbay_core::buy::{DeadlineWish, NewOrder, Terms};
use gridbay_core::buyer::order::OrderAgent;
use gridbay_ledger::State;
use gridbay_protocol::units::Price;

/// What the ledger knows of it.
#[derive(Clone, Debug)]
pub(super) struct Promise {
    /// Whether its seller has taken it.
    pub(super) taken: bool,
    /// Work declared and done, nodes times slots.
    work: (u64, u64),
    /// Slots since its seller took it, and its deadlines.
    age: u64,
    window: (u32, u32),
    /// Nodes it has in this slot.
    nodes: u32,
}

/// The facts; `None` for other orders.
pub(super) fn promise(core: &Core, agent: &OrderAgent) -> Option<Promise> {
    let Terms::Deadline(DeadlineWish {
        unit_slots,
        soft,
        hard,
        ..
    }) = agent.order().terms
    else {
        return None;
    };
    let state = core.state();
    let live = agent.id.and_then(|id| state.order(&id));
    let taken = live.and_then(|order| order.deadline()?.taken);
    let slot = state.calendar().slot(state.height().saturating_add(1));
    let lease = live.and_then(|order| state.lease(&order.lease?));
    Some(Promise {
        taken: taken.is_some(),
        work: (unit_slots, taken.map_or(0, |taken| taken.done)),
        age: taken.map_or(0, |taken| slot.saturating_sub(taken.since)),
        window: (soft, hard),
        nodes: lease.map_or(0, |lease| lease.units()),
    })
}

/// The reserve of the offer that it names.
pub(super) fn reserve(state: &State, order: &NewOrder) -> Option<Price> {
    match order.terms {
        Terms::Deadline(DeadlineWish { offer, .. }) => state.offer(&offer).map(|o| o.terms.reserve),
        _ => None,
    }
}

/// Whether it goes by its seller's plan.
pub(super) fn checks(f: &Facts) -> Option<WhyCheck> {
    let promise = f.deadline.as_ref()?;
    let (all, done) = promise.work;
    let (soft, hard) = promise.window;
    Some(check(
        "taken by its seller".into(),
        promise.taken || f.state.is_final(),
        format!(
            "{done} of {all} node-slots done, {} nodes now, slot {} of soft {soft} and hard {hard}",
            promise.nodes, promise.age
        ),
    ))
}
