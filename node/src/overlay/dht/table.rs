//! The peers that enter the routing table of the DHT, and the number of their addresses.
//!
//! An answer of the DHT names up to [`K`] peers near a key, and as many that provide something,
//! with all their addresses, and no node reads one above [`ANSWER_BYTES`]. So a peer has at most
//! [`PER_ENTRY`] addresses there of at most [`ENTRY_ADDRESS_BYTES`], those that it said last: were
//! they added up, a peer that says others each time would make every answer too long to be read.
//!
//! An owner of one network can make any number of identities in it. So of peers on different
//! machines at most [`PER_PREFIX`] of one network prefix enter one bucket; on one machine, where
//! all share an address, everybody may.

use gridbay_core::overlay::{K, PER_PREFIX};
use gridbay_protocol::limits::NODE_RECORD_BYTES;
use libp2p::swarm::DialError;
use libp2p::{Multiaddr, PeerId};

use super::{Dht, Kad};
use crate::overlay::peers::Peers;
use crate::overlay::reach::addresses::{ip, prefix, without_peer};

/// Longest message of the DHT that is read, bytes.
pub(crate) const ANSWER_BYTES: usize = 16 << 10;
/// Addresses of one peer in an answer: two transports over two families, or two relays over two
/// transports.
pub(crate) const PER_ENTRY: usize = 4;
/// Bytes of one of them: that of a circuit over IPv6 and QUIC has 66, as a provider's. In the
/// table, where only direct ones are, each ends with the peer's id: over IPv6 and QUIC it has 64.
const ENTRY_ADDRESS_BYTES: usize = 72;
/// A peer in an answer besides: its id, how it is connected, and the lengths of all parts; the same
/// for each address.
const ENTRY_BYTES: usize = 64 + PER_ENTRY * 4;
const ENTRY_MOST: usize = ENTRY_BYTES + PER_ENTRY * ENTRY_ADDRESS_BYTES;
// Peers near a key with the providers of it, or with a record.
const _: () = assert!(2 * K * ENTRY_MOST < ANSWER_BYTES);
const _: () = assert!(K * ENTRY_MOST + NODE_RECORD_BYTES + 256 < ANSWER_BYTES);

/// Those of a peer's addresses that are told of it, best first.
pub(super) fn told(mut addresses: Vec<Multiaddr>) -> Vec<Multiaddr> {
    addresses.retain(|address| without_peer(address).len() <= ENTRY_ADDRESS_BYTES);
    addresses.truncate(PER_ENTRY);
    addresses
}

/// Makes `now` all the addresses that the routing table has of a peer.
fn set_entry(kad: &mut Kad, peer: &PeerId, now: &[Multiaddr]) {
    let known = entry(kad, peer);
    if known.is_none() {
        // One that waits for a place in a full bucket would keep what it said before.
        kad.remove_peer(peer);
    }
    for address in now {
        kad.add_address(peer, address.clone());
    }
    for old in known.unwrap_or_default() {
        if !now.contains(&without_peer(&old)) {
            kad.remove_address(peer, &old);
        }
    }
}

/// The addresses that the routing table has of a peer.
fn entry(kad: &mut Kad, peer: &PeerId) -> Option<Vec<Multiaddr>> {
    let bucket = kad.kbucket(*peer)?;
    let mut entries = bucket.iter();
    let entry = entries.find(|entry| entry.node.key.preimage() == peer)?;
    Some(entry.node.value.iter().cloned().collect())
}

/// Takes from a peer's entry what an answer has no room for: circuits, and the oldest addresses.
fn trim(kad: &mut Kad, peer: &PeerId) {
    let known = entry(kad, peer).unwrap_or_default();
    let (fit, long): (Vec<_>, Vec<_>) = known
        .into_iter()
        .partition(|address| address.len() <= ENTRY_ADDRESS_BYTES);
    let old = fit.len().saturating_sub(PER_ENTRY);
    for address in long.iter().chain(&fit[..old]) {
        kad.remove_address(peer, address);
    }
}

impl Dht {
    /// Kademlia itself adds every address at which this node dialled a peer, circuits too.
    pub(crate) fn trim_entry(&self, kad: &mut Kad, peer: &PeerId) {
        trim(kad, peer);
    }

    /// A peer that could not be reached leaves the table: Kademlia itself drops peers from full
    /// buckets only, and each dead one costs every lookup near it the time of a dial. While nobody
    /// is connected the fault may be ours, and the table stays; and so it does where we ourselves
    /// had no room for one more connection.
    pub(crate) fn leave_table(&self, kad: &mut Kad, peers: &Peers, peer: &PeerId, why: &DialError) {
        let ours = matches!(why, DialError::Denied { .. } | DialError::Aborted);
        if !ours && !peers.is_empty() && !peers.is_connected(peer) {
            kad.remove_peer(peer);
        }
    }

    /// A peer enters its bucket with the addresses that it has now. Others that it had are
    /// forgotten.
    pub(crate) fn enter_table(&self, kad: &mut Kad, peer: &PeerId, addresses: &[Multiaddr]) {
        let mut now = told(addresses.to_vec());
        now.retain(|address| self.has_place_in_table(kad, peer, address));
        if now.is_empty() {
            return;
        }
        set_entry(kad, peer, &now);
    }

    /// Whether a peer may enter its bucket with this address.
    fn has_place_in_table(&self, kad: &mut Kad, peer: &PeerId, address: &Multiaddr) -> bool {
        let Some(own) = ip(address).filter(|_| self.shared.tuning.ip_colocation) else {
            return true;
        };
        let Some(bucket) = kad.kbucket(*peer) else {
            return false;
        };
        let others = bucket
            .iter()
            .filter(|entry| entry.node.key.preimage() != peer);
        let hosts = others.filter_map(|entry| ip(entry.node.value.first()));
        hosts.filter(|host| prefix(*host) == prefix(own)).count() < PER_PREFIX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libp2p::identity::Keypair;
    use libp2p::kad::{self, store::MemoryStore};

    /// Twelve addresses, others in each push, of the longest that a peer can have in the table.
    fn said(host: usize, push: usize) -> Vec<Multiaddr> {
        let ports = (0..12).map(|n| 1_000 + push * 12 + n);
        let said = ports.map(|port| format!("/ip6/2001:db8::{host:x}/udp/{port}/quic-v1"));
        said.map(|address| address.parse().unwrap()).collect()
    }

    #[test]
    fn a_peer_that_says_others_each_time_has_those_few_that_it_said_last() {
        let own = Keypair::generate_ed25519().public().to_peer_id();
        let mut kad = kad::Behaviour::new(own, MemoryStore::new(own));
        let peers: Vec<PeerId> = (0..K).map(|_| PeerId::random()).collect();
        for push in 0..26 {
            for (host, peer) in peers.iter().enumerate() {
                set_entry(&mut kad, peer, &told(said(host, push)));
            }
        }
        for (host, peer) in peers.iter().enumerate() {
            let kept = entry(&mut kad, peer).expect("half the peers fill no bucket");
            assert!(kept.iter().all(|a| a.len() <= ENTRY_ADDRESS_BYTES));
            let mut kept: Vec<Multiaddr> = kept.iter().map(without_peer).collect();
            kept.sort();
            let mut last = said(host, 25)[..PER_ENTRY].to_vec();
            last.sort();
            assert_eq!(kept, last);
        }
    }

    #[test]
    fn addresses_at_which_a_peer_was_dialled_stay_as_few_and_as_short() {
        let peer_id = || Keypair::generate_ed25519().public().to_peer_id();
        let (own, peer, relay) = (peer_id(), peer_id(), peer_id());
        let mut kad = kad::Behaviour::new(own, MemoryStore::new(own));
        set_entry(&mut kad, &peer, &told(said(1, 0)));
        for dialled in [
            "/ip4/192.0.2.1/tcp/1".to_owned(),
            format!("/ip6/2001:db8::2/udp/1/quic-v1/p2p/{relay}/p2p-circuit"),
            "/ip4/192.0.2.1/tcp/2".to_owned(),
        ] {
            kad.add_address(&peer, dialled.parse().unwrap());
            trim(&mut kad, &peer);
        }
        let kept = entry(&mut kad, &peer).unwrap();
        let kept: Vec<Multiaddr> = kept.iter().map(without_peer).collect();
        let dialled = ["/ip4/192.0.2.1/tcp/1", "/ip4/192.0.2.1/tcp/2"];
        let dialled = dialled.map(|address| address.parse().unwrap());
        assert_eq!(kept, [&said(1, 0)[2..PER_ENTRY], &dialled].concat());
    }
}
