//! Who may enter the routing table of the DHT.
//!
//! Whoever controls one network can make any number of identities in it. So of peers on different machines at most
//! [`PER_PREFIX`] of one network prefix enter one bucket; on one machine, where all share an address, everybody may.

use gridbay_core::overlay::PER_PREFIX;
use libp2p::swarm::DialError;
use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, prefix};
use super::task::Task;

impl Task {
    /// A peer that could not be reached leaves the table: Kademlia itself drops peers from full buckets only, and each dead one
    /// costs every lookup near it the time of a dial. While nobody is connected the fault may be ours, and the table stays; and so it
    /// does where we ourselves had no room for one more connection.
    pub(crate) fn leave_table(&mut self, peer: &PeerId, why: &DialError) {
        let ours = matches!(why, DialError::Denied { .. } | DialError::Aborted);
        if !ours && !self.peers.is_empty() && !self.peers.contains_key(peer) {
            self.swarm.behaviour_mut().kad.remove_peer(peer);
        }
    }

    /// Whether a peer may enter its bucket with this address.
    pub(crate) fn has_place_in_table(&mut self, peer: &PeerId, address: &Multiaddr) -> bool {
        let Some(own) = ip(address).filter(|_| self.tuning.ip_colocation) else {
            return true;
        };
        let Some(bucket) = self.swarm.behaviour_mut().kad.kbucket(*peer) else {
            return false;
        };
        let others = bucket
            .iter()
            .filter(|entry| entry.node.key.preimage() != peer);
        let hosts = others.filter_map(|entry| ip(entry.node.value.first()));
        hosts.filter(|host| prefix(*host) == prefix(own)).count() < PER_PREFIX
    }
}
