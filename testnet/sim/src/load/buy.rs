//! Buyers at once, through their own nodes.

use super::buyer::micros;
use crate::world::World;
use gridbay_core::buy::{BuyTerms, Terms};
use gridbay_protocol::order::BuyPart;

/// Units of the first part of a buy at the most.
const MOST_UNITS: u64 = 6;

impl World {
    /// Units now, at times of several classes: some limits are too low, some offers are named that
    /// do not sell that way.
    pub(crate) fn buy(&mut self, node: usize) {
        let classes = self.classes();
        let class = self.load.class(&classes);
        let offered = self.core(node).map(|core| core.state().offers());
        let of_class = offered.into_iter().flatten();
        let of_class = of_class.filter(|(_, offer)| offer.terms.class == class);
        let mut offers: Vec<_> = of_class.map(|(id, _)| *id).collect();
        let rng = &mut self.load.rng;
        if rng.chance(800_000) {
            offers.clear();
        }
        offers.truncate(3);
        let tasks = rng.range(1, MOST_UNITS) as u32;
        let most = if rng.chance(250_000) { 60 } else { 1_500 };
        let mut parts = vec![BuyPart {
            class,
            units: tasks,
            offers,
        }];
        if rng.chance(300_000) {
            let all = if rng.chance(100_000) { 3 } else { 2 };
            for other in classes[..all].iter().filter(|other| **other != class) {
                parts.push(BuyPart::anywhere(*other, rng.range(1, 2) as u32));
            }
            parts.sort_unstable_by_key(|part| part.class);
        }
        let tasks = parts.iter().map(|part| part.units).sum();
        let limit = micros(rng.range(10, most) * u64::from(tasks));
        let slots = rng.range(1, 4) as u32;
        let patience = if rng.chance(300_000) {
            rng.range(1, 60)
        } else {
            0
        };
        let offers_more = self.plan.surcharge_ppm > 0 && rng.chance(300_000);
        let surcharge = micros(u64::from(offers_more) * 1_000);
        let terms = Terms::Buy(BuyTerms {
            parts,
            limit,
            patience,
            surcharge,
        });
        self.order(node, "buy", class, tasks, slots, terms);
    }
}
