//! How much a host holds, for those who watch that it stays within [`crate::limits`].

use super::Host;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// Numbers of things that a host keeps on behalf of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Entries in the mempool.
    pub mempool: usize,
    /// Messages for heights that have not started.
    pub early: usize,
    /// Bodies held for the running height.
    pub bodies: usize,
    /// Their bytes.
    pub body_bytes: usize,
    /// Proposals followed in one round, at the most.
    pub proposals: usize,
    /// Evidence waiting for a block.
    pub evidence: usize,
    /// Connected peers.
    pub connected: usize,
    /// Peers whose tips are remembered.
    pub known: usize,
    /// Requests for blocks that wait.
    pub requests: usize,
}

impl Host {
    /// Its contents.
    pub fn sizes(&self) -> Sizes {
        let (bodies, body_bytes) = self.candidates.bodies();
        Sizes {
            mempool: self.mempool.len(),
            early: self.early.len(),
            bodies,
            body_bytes,
            proposals: self.candidates.most_of_a_round(),
            evidence: self.evidence.len(),
            connected: self.connected.len(),
            known: self.catchup.len(),
            requests: self.serving.len(),
        }
    }
    /// Entries among which this node would choose for a block made now.
    pub fn waiting(&self) -> Vec<Arc<Authentic>> {
        self.mempool.ready()
    }
}
