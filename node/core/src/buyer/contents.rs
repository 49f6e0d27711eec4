//! The right to the contents that lie at this node for its orders: a node that runs a task of an
//! order has it.
//!
//! The record of a task names the node of its last run, also after this node was started anew, so a
//! seller that pulls meanwhile is served before its run is known again.

use super::Buyer;
use super::order::OrderAgent;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::keys::PublicKey;

/// Contents that a node may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// This one, as an input.
    pub input: bool,
    /// What tasks kept of their progress.
    pub progress: bool,
}

impl Buyer {
    /// What a node may have if it asks for this content.
    pub fn share_of(&self, node: &PublicKey, content: &ContentId) -> Share {
        let mut share = Share::default();
        for agent in self.orders.values().filter(|agent| serves(agent, node)) {
            let spec = &agent.order().spec;
            share.input |= spec.inputs.iter().any(|input| input.content == *content);
            share.progress |= spec.checkpoint.is_some();
        }
        share
    }
}

/// Whether a task of an order that is not over runs at a node, or ran there last.
fn serves(agent: &OrderAgent, node: &PublicKey) -> bool {
    let mut tasks = agent
        .tasks
        .records
        .iter()
        .filter(|task| task.done.is_none());
    agent.finish().is_none() && tasks.any(|task| task.place.is_some_and(|(_, at)| at == *node))
}
