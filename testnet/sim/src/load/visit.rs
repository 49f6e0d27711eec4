//! Users whom the buyer of a lease admits to its network: of each node's owner the next one's.

use super::errand::{Coming, Errand, Task};
use crate::found::node_key;
use crate::world::World;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::keys::PublicKey;

/// Milliseconds from an order to the visit, by when it mostly has a lease.
const LATER_MS: u64 = 2_500;
/// Milliseconds to the next look for it.
const AGAIN_MS: u64 = 1_000;
/// Looks for a lease.
const LOOKS: u32 = 6;

/// The only one whose node an owner takes in as a guest.
pub(crate) fn neighbour(node: usize, nodes: usize) -> usize {
    (node + 1) % nodes
}

impl World {
    /// The owner of an order with a network admits its neighbour, who comes later.
    pub(super) fn admit_neighbour(&mut self, owner: usize, key: OrderKey) {
        let guest = neighbour(owner, self.plan.nodes());
        let keys = [self.load.keys[guest].public].into();
        self.command(owner, "admission", Command::Admit(key, keys));
        let looks = LOOKS;
        self.comes(LATER_MS, Coming { owner, key, looks });
    }

    fn comes(&mut self, after_ms: u64, coming: Coming) {
        self.load.errands.push(Errand {
            at: self.now + after_ms,
            task: Task::Visit(coming),
        });
    }

    /// The guest's node asks for its place, if there is a lease by now.
    pub(super) fn visit(&mut self, coming: Coming) {
        let Coming { owner, key, looks } = coming;
        let order = self.core(owner).and_then(|core| core.buyer().order(&key));
        let lease = order.and_then(|order| order.milestones().lease);
        match lease {
            Some(lease) => {
                let guest = neighbour(owner, self.plan.nodes());
                let at: PublicKey = node_key(owner);
                self.command(guest, "visit", Command::Visit(lease, Some(at)));
            }
            None if looks > 0 => {
                let looks = looks - 1;
                self.comes(AGAIN_MS, Coming { owner, key, looks });
            }
            None => {}
        }
    }
}
