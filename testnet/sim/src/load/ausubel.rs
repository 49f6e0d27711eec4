//! Bidders: sealed bids through their own nodes, and owners who change their minds about the price
//! of one.

use super::buyer::micros;
use crate::found::credits;
use crate::world::World;
use gridbay_core::buy::{BidTerms, Terms};
use gridbay_core::input::Command;
use gridbay_protocol::limits;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Price;

/// Units of one bid at the most.
const MOST_UNITS: u64 = 6;

impl World {
    /// A sealed bid: divisible or not, with one price or several, with much money or little.
    pub(crate) fn bid(&mut self, node: usize) {
        let classes = self.classes();
        let class = self.load.class(&classes);
        let rng = &mut self.load.rng;
        let tasks = rng.range(1, MOST_UNITS) as u32;
        let mut price = rng.range(20, 300);
        let (mut steps, mut left, mut slot) = (Vec::new(), tasks, 0);
        while left > 0 {
            let units = rng.range(1, u64::from(left)) as u32;
            steps.push(Step {
                units,
                price: Price(price),
            });
            slot += u64::from(units) * price;
            left -= units;
            price = price * rng.range(50, 95) / 100;
            if price == 0 {
                break;
            }
        }
        let tasks = steps.iter().map(|step| step.units).sum();
        let min = match rng.below(3) {
            0 => tasks,
            1 => 1,
            _ => rng.range(1, u64::from(tasks)) as u32,
        };
        let budget = match rng.below(4) {
            0 => micros(slot * rng.range(1, 3)),
            _ => credits(1),
        };
        let patience = rng.range(5, 60);
        let slots = rng.range(1, 8) as u32;
        let terms = Terms::Sealed(BidTerms {
            steps,
            min,
            budget,
            patience,
        });
        self.order(node, "bid", class, tasks, slots, terms);
    }
    /// More orders of one class than an account may have, at a price that wins nothing.
    pub(super) fn wait_for_ever(&mut self) {
        let node = self.load.rng.index(self.plan.nodes() - self.plan.guests);
        let class = self.classes()[1];
        for _ in 0..=limits::ORDERS_PER_ACCOUNT_CLASS {
            let terms = Terms::Sealed(BidTerms {
                steps: vec![Step {
                    units: 1,
                    price: Price(0),
                }],
                min: 1,
                budget: credits(1),
                patience: 100_000,
            });
            self.order(node, "patient bid", class, 1, 1, terms);
        }
    }
    /// Amends an order, mostly a late one: often dearer, now and then far too cheap or for another
    /// number of units.
    pub(crate) fn amend(&mut self) {
        let placed = &self.load.placed;
        let late = &placed[placed.len().saturating_sub(12)..];
        let Some((node, order)) = self.load.rng.pick(late).copied() else {
            return;
        };
        let agent = self.core(node).and_then(|core| core.buyer().order(&order));
        let Some(Terms::Sealed(BidTerms { steps, .. })) =
            agent.map(|agent| agent.order().terms.clone())
        else {
            return;
        };
        let rng = &mut self.load.rng;
        let percent = rng.range(40, 400);
        let more = u32::from(rng.chance(50_000));
        let steps = steps.iter().map(|step| Step {
            units: step.units + more,
            price: Price(step.price.0 * percent / 100),
        });
        let mut steps: Vec<Step> = steps.collect();
        steps.dedup_by_key(|step| step.price);
        let budget = rng.chance(200_000).then(|| micros(rng.range(100, 50_000)));
        let command = Command::Amend {
            order,
            steps,
            budget,
        };
        self.command(node, "amendment", command);
    }
}
