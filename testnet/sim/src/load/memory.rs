//! The users' memory.

use super::errand::{self, Errand, Task};
use super::key::{self, Key};
use super::promise::Promises;
use crate::plan::Plan;
use crate::rng::Rng;
use gridbay_core::key::OrderKey;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::invitation::Invitation;
use std::collections::BTreeMap;

/// A client.
pub(super) struct Client {
    pub(super) account: AccountId,
    /// All keys it ever had; the ledger knows which counts.
    pub(super) keys: Vec<Key>,
}

/// The users' memory.
pub(crate) struct Load {
    pub(super) rng: Rng,
    pub(super) deed_ms: u64,
    pub(super) deeds: u64,
    /// Orders placed so far: the next one's local name.
    pub(super) orders: u64,
    /// Orders placed: the node and its local name.
    pub(super) placed: Vec<(usize, OrderKey)>,
    /// Keys of the nodes' accounts.
    pub(super) keys: Vec<Key>,
    pub(super) clients: Vec<Client>,
    /// Invitations by the guest's node.
    pub(super) invited: BTreeMap<usize, Invitation>,
    pub(super) errands: Vec<Errand>,
    /// Entries handed in lately, for users that send things twice.
    pub(super) handed: Vec<SignedEntry>,
    pub(super) promises: Promises,
    pub(super) drained: bool,
}

impl Load {
    pub(crate) fn new(plan: &Plan) -> Load {
        let mut rng = Rng::new(plan.seed, "load");
        Load {
            errands: errand::planned(&mut rng, plan),
            rng,
            deed_ms: plan.deed_ms,
            deeds: 0,
            orders: 0,
            placed: Vec::new(),
            keys: (0..plan.nodes()).map(key::node_account).collect(),
            clients: Vec::new(),
            invited: BTreeMap::new(),
            handed: Vec::new(),
            promises: Promises::default(),
            drained: false,
        }
    }
    /// Most trade is in one class, so that there is competition; none is in the last.
    pub(super) fn class(&mut self, classes: &[ClassId]) -> ClassId {
        classes[usize::from(self.rng.chance(250_000))]
    }
    /// One of the things that are to be done by now, taken out.
    pub(super) fn errand_due(&mut self, now: u64) -> Option<Task> {
        let due = self.errands.iter().position(|errand| errand.at <= now)?;
        Some(self.errands.remove(due).task)
    }
}
