//! The users of the world. Each file is one kind of user; chance comes from the load's own stream
//! alone.
//!
//! 1. From time to time somebody does something: a deed. The first ones found the market: offers,
//!    then the guests' invitations.
//! 2. Owners of nodes give commands to their node. Others have an account and no node: they sign
//!    entries and hand them to a validator as strangers (`desk`).
//! 3. A deed that is due at a certain time after another is an errand.
//! 4. In some worlds a house floods when all else is calm (`crowd`).
//! 5. An entry that was refused for good must never take effect (`promise`).

mod appellant;
mod ausubel;
mod buy;
mod buyer;
mod client;
mod clumsy;
mod contract;
mod crowd;
mod deadline;
mod desk;
mod errand;
mod guest;
mod key;
mod memory;
mod opening;
mod owner;
mod posted;
mod promise;
mod reservation;
mod seller;
mod share;
mod visit;

pub(crate) use memory::Load;
pub(crate) use visit::neighbour;

use crate::check::Broken;
use crate::ways;
use crate::world::World;
use errand::{Errand, Task};
use gridbay_core::input::{Command, Input};
use gridbay_protocol::ids::ClassId;
use opening::Opening;

/// The first deeds are offers.
const FIRST_OFFERS: u64 = 4;
/// Milliseconds between two looks at an errand that waits for something.
const LOOK_MS: u64 = 150;

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
        let beside = ways::beside(&self.plan, &mut self.load.rng);
        if let Some(deed) = beside {
            return deed(self, node);
        }
        let side = self.load.rng.below(100);
        match side {
            _ if self.load.deeds <= FIRST_OFFERS => self.set_offer(node),
            _ if self.load.deeds == FIRST_OFFERS + 1 => self.invite(),
            _ if self.load.deeds == FIRST_OFFERS + 2 => self.set_pool(node),
            0..=8 => self.set_offer(node),
            9..=10 => self.withdraw_offer(node),
            11..=12 => self.give_up(),
            55..=58 => self.cancel(),
            62..=64 => self.transfer(node),
            65 => self.drain(node),
            66..=67 => self.change_keys(node),
            68..=69 => self.invite(),
            70 => self.make_noise(),
            71..=79 => self.client_acts(),
            84.. => self.blunder(),
            _ => ways::on(side)(self, node),
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
    /// Looks at a bid that is to be opened in a while, and again until that is done.
    fn look_again(&mut self, opening: Box<Opening>) {
        let at = self.now + LOOK_MS;
        let task = Task::Open(opening);
        self.load.errands.push(Errand { at, task });
        self.again(LOOK_MS);
    }
    fn run_errand(&mut self, task: Task) {
        match task {
            Task::Open(opening) => self.open_by_hand(opening),
            Task::Visit(coming) => {
                self.again(1);
                self.visit(coming);
            }
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
    /// Whether every refusal for good was kept.
    pub(crate) fn check_promises(&self) -> Result<(), Broken> {
        let broken = |what| Broken::new("admission", self.now, what);
        let mut cores = self.honest().filter_map(|n| self.core(n));
        cores.try_for_each(|core| self.load.promises.are_kept(core).map_err(broken))
    }
}
