//! Buyers: they bid, buy at once and cancel, through their own nodes.

use crate::found::credits;
use crate::world::World;
use gridbay_core::buy::{BidTerms, BuyTerms, NewOrder, Terms};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::limits;
use gridbay_protocol::order::{BuyPart, Step};
use gridbay_protocol::units::{Credits, Price};

/// Units of one order at the most.
const MOST_UNITS: u64 = 6;

/// Millionths of a credit as money.
pub(super) fn micros(micros: u64) -> Credits {
    Credits::from_micros(micros).unwrap_or(Credits::ZERO)
}

impl World {
    /// A sealed bid: divisible or not, with one price or several, with much money or little.
    pub(super) fn bid(&mut self, node: usize) {
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
    /// Units now, at times of several classes: some limits are too low, some offers are named that
    /// do not sell that way.
    pub(super) fn buy(&mut self, node: usize) {
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
    /// Takes an order of anybody's back, mostly a late one.
    pub(super) fn cancel(&mut self) {
        let placed = &self.load.placed;
        let late = &placed[placed.len().saturating_sub(12)..];
        let picked = self.load.rng.pick(late).copied();
        if let Some((node, key)) = picked {
            self.command(node, "cancellation", Command::Cancel(key));
        }
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
    pub(super) fn order(
        &mut self,
        node: usize,
        what: &'static str,
        class: ClassId,
        tasks: u32,
        slots: u32,
        terms: Terms,
    ) {
        self.load.orders += 1;
        let key = OrderKey(self.load.orders);
        self.load.placed.push((node, key));
        let spec = self.job();
        let order = NewOrder {
            worth: None,
            key,
            entropy: self.load.rng.bytes32(),
            name: format!("job{}", key.0),
            accepted_ms: self.now,
            class,
            terms,
            slots,
            tasks,
            spec,
        };
        self.command(node, what, Command::Order(Box::new(order)));
    }
    /// Sleeps for some seconds; every third job has a file to bring back.
    fn job(&mut self) -> JobSpec {
        let seconds = self.load.rng.range(1, 6).to_string();
        let brings = self.load.rng.chance(300_000);
        JobSpec {
            argv: vec!["sleep".into(), seconds],
            env: vec![],
            inputs: vec![],
            outputs: brings.then(|| "result".to_owned()).into_iter().collect(),
            wall_seconds: 600,
        }
    }
}
