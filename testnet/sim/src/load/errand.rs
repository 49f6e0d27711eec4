//! Errands: deeds of users at a time that follows from an earlier deed, or once in some worlds.
//!
//! Two kinds of user are in one world of four each: the hoarder fills the catalogue of a class that
//! nobody trades, the patient one fills its share of a book with bids that never win.

use super::opening::Opening;
use crate::plan::Plan;
use crate::rng::Rng;
use gridbay_core::key::OrderKey;

/// A thing to do.
pub(super) enum Task {
    /// Open a client's sealed bid.
    Open(Box<Opening>),
    /// Come into the network of a lease, as a guest.
    Visit(Coming),
    /// Offer as many times as an account may, all units that a class may have.
    Hoard,
    /// Place as many orders as an account may have in a class.
    Wait,
    /// Ask for more than that.
    Overdo,
}

/// A visit to come.
pub(super) struct Coming {
    pub(super) owner: usize,
    pub(super) key: OrderKey,
    pub(super) looks: u32,
}

/// A task at a time of the world.
pub(super) struct Errand {
    pub(super) at: u64,
    pub(super) task: Task,
}

/// The errands of a world from its beginning on.
pub(super) fn planned(rng: &mut Rng, plan: &Plan) -> Vec<Errand> {
    let mut errands = Vec::new();
    // The patient one needs sixteen rounds and the hoarder two.
    if rng.chance(250_000) {
        let at = rng.range(2_000, 6_000).min(plan.active_ms / 4);
        let task = Task::Wait;
        errands.push(Errand { at, task });
    }
    if rng.chance(250_000) {
        let at = plan.active_ms / 2;
        let task = Task::Hoard;
        errands.push(Errand { at, task });
    }
    let at = plan.active_ms / 8 * 7;
    let task = Task::Overdo;
    errands.push(Errand { at, task });
    errands
}
