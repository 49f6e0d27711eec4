//! The fixed parts of a running overlay, shared by the handles, the task and its rooms.

use std::collections::BTreeSet;
use std::sync::Mutex;

use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::node_record;
use libp2p::PeerId;

use super::command::Reply;
use super::config::{Limits, Tuning};
use super::error::RequestError;
use super::stats::{Count, Counters};
use super::wire::gossip::Topic;

/// Identity, bounds and counters.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) local: PeerId,
    pub(crate) network: [u8; 32],
    pub(crate) topics: Vec<Topic>,
    pub(crate) limits: Limits,
    pub(crate) tuning: Tuning,
    pub(crate) counters: Counters,
    /// Kept peers that rest.
    pub(crate) resting: Mutex<BTreeSet<PeerId>>,
}

impl Shared {
    /// The network as the ledger names it.
    pub(crate) fn network_id(&self) -> NetworkId {
        NetworkId(self.network)
    }

    /// Key under which those that provide something lie in the DHT.
    pub(crate) fn rendezvous(&self, kind: &str, name: &[u8]) -> [u8; 32] {
        node_record::rendezvous(&self.network_id(), kind, name)
    }

    /// Tells a caller that its request has no answer.
    pub(crate) fn fail_request(&self, reply: Reply, error: RequestError) {
        self.counters.count(Count::RequestsFailed);
        // The caller may have given up already.
        let _unheard = reply.send(Err(error));
    }
}

#[cfg(test)]
impl Shared {
    /// Of a node in no topic, for tests of a room.
    pub(crate) fn of(limits: Limits) -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self {
            local: super::identity::keypair_of_seed(&[7; 32])
                .public()
                .to_peer_id(),
            network: [7; 32],
            topics: Vec::new(),
            limits,
            tuning: Tuning::local(),
            counters: Counters::new([]),
            resting: Mutex::default(),
        })
    }
}
