//! The experience of an order with the pool in which it claims a share.
//!
//! At every slot boundary the ledger's sharing gives a claim its allowance for the next slot. When
//! that slot is over, the order keeps the shares that it held and the number of tasks that ended,
//! for its last [`RUNS_MAX`] slots. From the orders of one class and program `learnt` finds the
//! weights that explain their progress best; they are advice to the next order of that kind, and
//! never leave this node but as its weights.
//!
//! Slots that teach nothing are left out: those without a unit, cut short by the seller, or in
//! which the tasks ran out.

use crate::buy::NewOrder;
use crate::learn::{Learner, RUNS_MAX};
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::mechanism::share::dispatch::PARTS;
use gridbay_protocol::mechanism::share::{TYPES_MAX, Utility};
use gridbay_protocol::record::share::Sharing;
use serde::{Deserialize, Serialize};

/// A claim's shares in a slot, and their result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// Its share of each resource of the pool, Q32.
    pub shares: Vec<u64>,
    /// Tasks done: while it runs those done before it, then those done in it.
    pub tasks: u32,
}

/// The past of an order in its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experience {
    /// The slot it is in, if it has a unit.
    pub running: Option<Slot>,
    /// Past slots, at most [`RUNS_MAX`], the oldest first.
    pub past: Vec<Slot>,
}

impl Experience {
    /// A slot begins for `order`, of whose tasks so many are done.
    pub(super) fn begin(&mut self, order: &OrderId, sharing: &Sharing, done: u32) {
        self.close(done);
        let award = sharing.awards.iter().find(|a| a.order == *order);
        self.running = award.map(|award| {
            let portion = &award.portion;
            let of_pool = |held: u64, all: u64| {
                let share = (u128::from(held) << 32).checked_div(u128::from(all));
                u64::try_from(share.unwrap_or(0)).unwrap_or(u64::MAX)
            };
            let units = u64::from(portion.units);
            let all = u64::from(sharing.units);
            let parts = portion.parts.iter();
            let parts = parts.map(|p| of_pool(u64::from(*p) + units, all * PARTS));
            Slot {
                shares: std::iter::once(of_pool(units, all)).chain(parts).collect(),
                tasks: done,
            }
        });
    }
    /// Its lease ended.
    pub(super) fn end(&mut self, end: LeaseEnd, done: u32) {
        match end {
            LeaseEnd::Undelivered | LeaseEnd::Disputed => self.running = None,
            _ => self.close(done),
        }
    }
    /// The tasks ran out: the rest of the slot teaches nothing.
    pub(super) fn discard(&mut self) {
        self.running = None;
    }
    fn close(&mut self, done: u32) {
        if let Some(mut slot) = self.running.take() {
            slot.tasks = done.saturating_sub(slot.tasks);
            if self.past.len() >= RUNS_MAX {
                self.past.remove(0);
            }
            self.past.push(slot);
        }
    }
}

/// The weights that past slots of orders of this class and program suggest; `None` if they do not
/// determine them, or give processors none.
pub(super) fn learnt<'a>(
    orders: impl Iterator<Item = (&'a NewOrder, &'a Experience)>,
    class: &ClassId,
    program: &str,
    utility: Utility,
    types: usize,
) -> Option<Vec<u32>> {
    let alike = |order: &NewOrder| {
        let of_program = order.spec.argv.first().is_some_and(|p| p == program);
        order.class == *class && of_program
    };
    let mut alike: Vec<_> = orders.filter(|(order, _)| alike(order)).collect();
    alike.sort_by_key(|(order, _)| order.accepted_ms);
    let mut learner = Learner::new(utility, types.min(TYPES_MAX))?;
    for slot in alike.iter().flat_map(|(_, seen)| &seen.past) {
        learner.observe(&slot.shares, f64::from(slot.tasks));
    }
    let weights = learner.weights()?;
    weights.first().is_some_and(|w| *w > 0).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{Hash32, OfferId};
    use gridbay_protocol::offer::PoolTerms;
    use gridbay_protocol::record::share::{Portion, SharingAward};
    use gridbay_protocol::units::{Credits, Price};

    const ORDER: OrderId = OrderId([1; 32]);

    fn sharing(units: u32, parts: u32) -> Sharing {
        Sharing {
            offer: OfferId([2; 32]),
            class: ClassId([3; 32]),
            height: 8,
            slot: 1,
            units: 4,
            reserve: Price(0),
            terms: PoolTerms {
                cap_ppm: 1_000_000,
                sixteenths: 8,
            },
            draw: Hash32([4; 32]),
            claims: vec![],
            awards: vec![SharingAward {
                order: ORDER,
                portion: Portion {
                    units,
                    processors: 1_000,
                    parts: vec![parts],
                },
                pay: Credits::ZERO,
            }],
        }
    }

    #[test]
    fn slots_that_say_something_are_kept() {
        let mut seen = Experience::default();
        seen.begin(&ORDER, &sharing(2, 14), 0);
        seen.begin(&OrderId([9; 32]), &sharing(2, 14), 5);
        assert_eq!(seen.running, None, "no award of its own");
        // Half of the processors, (14 + 2) / 64 of the memory.
        let shares = vec![1 << 31, 1 << 30];
        assert_eq!(seen.past, [Slot { shares, tasks: 5 }]);
        seen.begin(&ORDER, &sharing(1, 0), 5);
        seen.end(LeaseEnd::Undelivered, 6);
        seen.begin(&ORDER, &sharing(1, 0), 6);
        seen.discard();
        seen.end(LeaseEnd::Exit, 9);
        assert_eq!(seen.past.len(), 1);
        for slot in 0..2 * RUNS_MAX as u32 {
            seen.begin(&ORDER, &sharing(1, 0), slot);
        }
        assert_eq!(seen.past.len(), RUNS_MAX);
    }
}
