//! The users of the world. Each file is one kind of user; chance comes from the load's own stream
//! alone.
//!
//! 1. From time to time somebody does something: a deed. The first ones found the market: offers,
//!    then the guests' invitations.
//! 2. Owners of nodes give commands to their node. Others have an account and no node: they sign
//!    entries and hand them to a validator as strangers (`desk`).
//! 3. A deed that is due at a certain time after another is an errand.
//! 4. An entry that was refused for good must never take effect (`promise`).

mod amender;
mod appellant;
mod buyer;
mod client;
mod clumsy;
mod contract;
mod deadline;
mod desk;
mod errand;
mod guest;
mod owner;
mod posted;
mod promise;
mod reserver;
mod seller;
mod share;

use crate::plan::Plan;
use crate::rng::Rng;
use crate::world::World;
use client::Client;
use desk::Key;
use errand::Errand;
use gridbay_core::input::{Command, Input};
use gridbay_core::key::OrderKey;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::invitation::Invitation;
use promise::Promises;
use std::collections::BTreeMap;

/// The first deeds are offers.
const FIRST_OFFERS: u64 = 4;

/// The users' memory.
pub(crate) struct Load {
    rng: Rng,
    deed_ms: u64,
    deeds: u64,
    /// Orders placed so far: the next one's local name.
    orders: u64,
    /// Orders placed: the node and its local name.
    placed: Vec<(usize, OrderKey)>,
    /// Keys of the nodes' accounts.
    keys: Vec<Key>,
    clients: Vec<Client>,
    /// Invitations by the guest's node.
    invited: BTreeMap<usize, Invitation>,
    errands: Vec<Errand>,
    /// Entries handed in lately, for users that send things twice.
    handed: Vec<SignedEntry>,
    promises: Promises,
    drained: bool,
}

impl Load {
    pub(crate) fn new(plan: &Plan) -> Load {
        let mut load = Load {
            rng: Rng::new(plan.seed, "load"),
            deed_ms: plan.deed_ms,
            deeds: 0,
            orders: 0,
            placed: Vec::new(),
            keys: (0..plan.nodes()).map(desk::node_account).collect(),
            clients: Vec::new(),
            invited: BTreeMap::new(),
            errands: Vec::new(),
            handed: Vec::new(),
            promises: Promises::default(),
            drained: false,
        };
        load.plan_errands(plan);
        load
    }
    /// Most trade is in one class, so that there is competition; none is in the last.
    fn class(&mut self, classes: &[ClassId]) -> ClassId {
        classes[usize::from(self.rng.chance(250_000))]
    }
}

impl World {
    /// A user somewhere does something.
    pub(crate) fn deed(&mut self) {
        if self.is_calm() {
            return;
        }
        if let Some(errand) = self.load.errand_due(self.now) {
            return self.run_errand(errand);
        }
        let after = self.load.rng.range(1, 2 * self.load.deed_ms);
        self.again(after);
        self.load.deeds += 1;
        let node = self.load.rng.index(self.plan.nodes());
        if self.hires_now() {
            return self.hire_somehow(node);
        }
        match self.load.rng.below(100) {
            _ if self.load.deeds <= FIRST_OFFERS => self.set_offer(node),
            _ if self.load.deeds == FIRST_OFFERS + 1 => self.invite(),
            _ if self.load.deeds == FIRST_OFFERS + 2 => self.set_pool(node),
            0..=8 => self.set_offer(node),
            9..=10 => self.withdraw_offer(node),
            11..=12 => self.give_up(),
            13..=31 => self.bid(node),
            32..=34 => self.amend(),
            35..=37 => self.reserve(node),
            38 => self.plan_offer(node),
            39..=41 => self.deadline(node),
            42..=44 => self.propose(node),
            45..=47 => self.contract_by_hand(),
            48..=54 => self.buy(node),
            55..=58 => self.cancel(),
            59..=61 => self.claim(node),
            62..=64 => self.transfer(node),
            65 => self.drain(node),
            66..=67 => self.change_keys(node),
            68..=69 => self.invite(),
            70 => self.make_noise(),
            71..=79 => self.client_acts(),
            80 => self.set_pool(node),
            81..=83 => self.ask_in_vain(),
            _ => self.blunder(),
        }
    }
    /// Classes by place: where most trade is, where some is, where none is.
    fn classes(&self) -> Vec<ClassId> {
        let named = |name: &str| {
            let class = self.genesis.classes.iter().find(|c| c.name == name);
            class.map(|c| c.key.id()).unwrap_or_default()
        };
        crate::found::CLASSES.iter().map(|c| named(c.0)).collect()
    }
    fn command(&mut self, node: usize, what: &'static str, command: Command) {
        if self.machines[node].is_up() {
            self.cover.deed(what);
            self.input(node, 0, Input::Command { token: 0, command });
        }
    }
}
