//! The deeds of all buyers through their own nodes: they order, and cancel.

use crate::world::World;
use gridbay_core::buy::{NewOrder, RelayPay, Relaying, Terms};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::units::Credits;

/// Millionths of a credit as money.
pub(super) fn micros(micros: u64) -> Credits {
    Credits::from_micros(micros).unwrap_or(Credits::ZERO)
}

impl World {
    /// Takes an order of anybody's back, mostly a late one.
    pub(super) fn cancel(&mut self) {
        let placed = &self.load.placed;
        let late = &placed[placed.len().saturating_sub(12)..];
        let picked = self.load.rng.pick(late).copied();
        if let Some((node, key)) = picked {
            self.command(node, "cancellation", Command::Cancel(key));
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
        // Every other order of several tasks has a network.
        let network = tasks > 1 && key.0.is_multiple_of(2);
        let mut spec = JobSpec {
            network,
            ..self.job()
        };
        // Some networks live long enough to need relays, and some of their users pay.
        let long = network && key.0.is_multiple_of(8);
        if long {
            spec.argv[1] = "20".into();
        }
        let limit = micros(1_000);
        let relay = match long && key.0.is_multiple_of(16) {
            true => Relaying::Paid(RelayPay { limit, slots: 20 }),
            false => Relaying::Free,
        };
        let order = NewOrder {
            worth: None,
            relay,
            request: None,
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
        // Every other network has the buyer's node in it as well.
        if network && key.0.is_multiple_of(4) {
            self.command(node, "attendance", Command::Attend(key, true));
        }
        if long {
            self.admit_neighbour(node, key);
        }
    }
    /// Sleeps for some seconds; every third job has a file to bring back.
    fn job(&mut self) -> JobSpec {
        let seconds = self.load.rng.range(1, 6).to_string();
        let brings = self.load.rng.chance(300_000);
        let keeps = self.plan.progress && self.load.rng.chance(600_000);
        let checkpoint = keeps.then(|| Checkpoint {
            folder: "ckpt".to_owned(),
            grace_seconds: 2,
            every_seconds: self.load.rng.range(1, 3) as u32,
        });
        JobSpec {
            argv: vec!["sleep".into(), seconds],
            env: vec![],
            inputs: vec![],
            outputs: brings.then(|| "result".to_owned()).into_iter().collect(),
            wall_seconds: 600,
            network: false,
            internet: false,
            checkpoint,
        }
    }
}
