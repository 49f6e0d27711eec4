//! The users of the world: sellers who set offers, buyers who order, owners who transfer and cancel.

use crate::found::{credits, node_key};
use crate::plan::Plan;
use crate::rng::Rng;
use crate::world::World;
use gridbay_core::buyer::{NewOrder, OrderKey, Terms};
use gridbay_core::input::{Command, Input};
use gridbay_protocol::ids::{ClassId, Hash32};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};

/// What the users remember.
#[derive(Debug)]
pub(crate) struct Load {
    rng: Rng,
    orders: u64,
    deed_ms: u64,
    /// Orders placed: the node and its local name.
    placed: Vec<(usize, OrderKey)>,
}

impl Load {
    pub(crate) fn new(plan: &Plan) -> Load {
        Load {
            rng: Rng::new(plan.seed, "load"),
            orders: 0,
            deed_ms: plan.deed_ms,
            placed: Vec::new(),
        }
    }
    fn spec(&mut self) -> JobSpec {
        let seconds = self.rng.range(1, 6).to_string();
        let outputs = if self.rng.chance(300_000) {
            vec!["result".to_owned()]
        } else {
            vec![]
        };
        JobSpec {
            argv: vec!["sleep".into(), seconds],
            env: vec![],
            inputs: vec![],
            outputs,
            wall_seconds: 600,
        }
    }
    fn offer(&mut self, node: usize, class: ClassId) -> Command {
        let reserve = self.rng.range(10, 60);
        Command::SetOffer(OfferTerms {
            label: self.rng.below(2) as u32,
            class,
            units: self.rng.range(1, 6) as u32,
            reserve: Price(reserve),
            buy_price: Some(Price(reserve + self.rng.range(0, 100))),
            reclaim: Reclaim::None,
            mechanism: Primary::Ausubel,
            node: node_key(node),
        })
    }
    fn order(&mut self, node: usize, class: ClassId, now: u64) -> Command {
        self.orders += 1;
        let key = OrderKey(self.orders);
        self.placed.push((node, key));
        let tasks = self.rng.range(1, 4) as u32;
        let buys = self.rng.chance(300_000);
        let terms = if buys {
            let micros = self.rng.range(50, 1_000) * u64::from(tasks);
            let limit = Credits::from_micros(micros).unwrap_or(Credits::ZERO);
            Terms::Buy {
                units: tasks,
                limit,
                offers: vec![],
            }
        } else {
            let price = Price(self.rng.range(20, 300));
            let min = if self.rng.chance(500_000) { tasks } else { 0 };
            let steps = vec![Step {
                units: tasks,
                price,
            }];
            Terms::Sealed {
                steps,
                min,
                budget: credits(20),
                patience: self.rng.range(5, 60),
            }
        };
        Command::Order(Box::new(NewOrder {
            key,
            entropy: self.rng.bytes32(),
            name: format!("job{}", key.0),
            accepted_ms: now,
            class,
            terms,
            slots: self.rng.range(1, 20) as u32,
            tasks,
            spec: self.spec(),
        }))
    }
}

impl World {
    /// A user somewhere does something.
    pub(crate) fn deed(&mut self) {
        if self.is_calm() {
            return;
        }
        let after = self.load.rng.range(1, 2 * self.load.deed_ms);
        self.again(after);
        let members = self.plan.validators + self.plan.others;
        let node = self.load.rng.index(members);
        if !self.machines[node].is_up() {
            return;
        }
        let classes: Vec<ClassId> = self.genesis.classes.iter().map(|c| c.key.id()).collect();
        // Half of all trade is in one class, so that there is competition.
        let class = classes[if self.load.rng.chance(700_000) { 0 } else { 1 }];
        let load = &mut self.load;
        let command = match load.rng.below(100) {
            0..=14 => load.offer(node, class),
            15..=17 => Command::WithdrawOffer(load.rng.below(2) as u32),
            18..=79 => load.order(node, class, self.now),
            80..=86 => {
                let Some((node, key)) = load.rng.pick(&load.placed.clone()).copied() else {
                    return;
                };
                return self.command(node, Command::Cancel(key));
            }
            _ => {
                let to = load.rng.index(members);
                let Some(to) = self.core(to).and_then(|core| core.account()) else {
                    return;
                };
                let micros = self.load.rng.range(1, 3_000_000);
                let amount = Credits::from_micros(micros).unwrap_or(Credits::ZERO);
                Command::Transfer {
                    to,
                    amount,
                    memo: Hash32(self.load.rng.bytes32()),
                }
            }
        };
        self.command(node, command);
    }
    fn command(&mut self, node: usize, command: Command) {
        self.input(node, 0, Input::Command { token: 0, command });
    }
}
