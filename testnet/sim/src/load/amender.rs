//! Owners who change their minds about the price of a bid.

use super::buyer::micros;
use crate::world::World;
use gridbay_core::buy::{BidTerms, Terms};
use gridbay_core::input::Command;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Price;

impl World {
    /// Amends an order, mostly a late one: often dearer, now and then far too cheap or for another
    /// number of units.
    pub(super) fn amend(&mut self) {
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
