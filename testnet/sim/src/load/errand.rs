//! Errands: deeds of users at a time that follows from an earlier deed, or once in some worlds.
//!
//! Two kinds of user are in one world of four each: the hoarder fills the catalogue of a class that
//! nobody trades, the patient one fills its share of a book with bids that never win.

use super::client::Opening;
use super::{Load, seller};
use crate::plan::Plan;
use crate::world::World;

/// Milliseconds between two looks at an errand that waits for something.
const LOOK_MS: u64 = 150;

/// A thing to do.
pub(super) enum Task {
    /// Open a client's sealed bid.
    Open(Box<Opening>),
    /// Offer as many times as an account may, all units that a class may have.
    Hoard,
    /// Place as many orders as an account may have in a class.
    Wait,
    /// Ask for more than that.
    Overdo,
}

/// A task at a time of the world.
pub(super) struct Errand {
    at: u64,
    task: Task,
}

impl Load {
    pub(super) fn plan_errands(&mut self, plan: &Plan) {
        // The patient one needs sixteen rounds and the hoarder two.
        if self.rng.chance(250_000) {
            let at = self.rng.range(2_000, 6_000).min(plan.active_ms / 4);
            self.errands.push(Errand {
                at,
                task: Task::Wait,
            });
        }
        if self.rng.chance(250_000) {
            let at = plan.active_ms / 2;
            self.errands.push(Errand {
                at,
                task: Task::Hoard,
            });
        }
        let at = plan.active_ms / 8 * 7;
        let task = Task::Overdo;
        self.errands.push(Errand { at, task });
    }
    pub(super) fn errand_due(&mut self, now: u64) -> Option<Task> {
        let due = self.errands.iter().position(|errand| errand.at <= now)?;
        Some(self.errands.remove(due).task)
    }
}

impl World {
    /// Looks at a bid that is to be opened in a while, and again until that is done.
    pub(super) fn look_again(&mut self, opening: Box<Opening>) {
        let at = self.now + LOOK_MS;
        let task = Task::Open(opening);
        self.load.errands.push(Errand { at, task });
        self.again(LOOK_MS);
    }
    pub(super) fn run_errand(&mut self, task: Task) {
        match task {
            Task::Open(opening) => self.open_by_hand(opening),
            Task::Hoard => {
                self.again(1);
                self.hoard(seller::HOARD);
            }
            Task::Wait => {
                self.again(1);
                self.wait_for_ever();
            }
            Task::Overdo => {
                self.again(1);
                self.overdo();
            }
        }
    }
}
