//! What lies in the DHT: records of nodes, and who provides what.
//!
//! 1. Our own record (`gridbay_protocol::node_record`) is put when our addresses have changed, again from time to time, and when
//!    nobody took it after a pause that grows (`telling`).
//! 2. A peer that comes to be among the closest to our record's key that we know is given the record: whoever looks for it will ask
//!    that peer. What a node tells when a network is young, or itself new in it, would otherwise lie where nobody looks.
//! 3. A record that somebody puts with us is kept if it is signed by the node under whose key it lies, is in date, is newer than
//!    the one that we have, and its bringer has not put more than [`PUTS`] in a minute. When there is no place left, those that are
//!    out of date make it.
//! 4. Who provides something puts his signed record under its key instead of his own, himself: he is kept among its providers, with
//!    the addresses that may be dialled.
//! 5. Kademlia's own word for that is refused: it is not signed, and has no answer, so that its sender drops the stream before the
//!    other end has agreed on a protocol, and most of them are lost.
//! 6. What we provide is said soon again, then ever more seldom (`providing`).
//!
//! How it is found again: `lookups`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gridbay_core::overlay::{K, RECORD_LIFE};
use gridbay_protocol::codec;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::limits::NODE_RECORD_SECONDS;
use gridbay_protocol::node_record::{self, NodeRecord, SignedNodeRecord};
use libp2p::kad::store::{MemoryStore, RecordStore};
use libp2p::kad::{self, QueryId, Quorum};
use libp2p::{Multiaddr, PeerId};

use super::providing::Providing;
use super::table::told;
use super::telling::Telling;
use crate::overlay::handle::Shared;
use crate::overlay::identity::key_of_peer_id;
use crate::overlay::reach::addresses::{PER_PEER, dialable, is_circuit, without_peer};
use crate::overlay::reach::reachability::Reach;
use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// Kind of the providers that relay.
pub(crate) const RELAYS: &str = "relay";
/// Records that one peer may put with us in a minute: one for what it provides at every tick, and its own.
const PUTS: u32 = 128;
/// Peers that may put in a minute.
const BRINGERS: usize = 1024;
const MINUTE: Duration = Duration::from_secs(60);
/// Life of our record.
const LIFE_SECONDS: u64 = RECORD_LIFE.as_secs();
const _: () = assert!(LIFE_SECONDS <= NODE_RECORD_SECONDS);

/// What this module remembers.
#[derive(Debug)]
pub(crate) struct Records {
    key: SecretKey,
    pub(crate) telling: Telling,
    /// The put of step 1 that runs or ran last.
    pub(crate) put: Option<QueryId>,
    pub(crate) providing: Providing,
    puts: BTreeMap<PeerId, u32>,
    puts_since: Instant,
}

impl Records {
    pub(crate) fn new(seed: &[u8; 32], now: Instant) -> Self {
        Self {
            key: SecretKey::from_seed(seed),
            telling: Telling::default(),
            put: None,
            providing: Providing::default(),
            puts: BTreeMap::new(),
            puts_since: now,
        }
    }

    /// Counts a put of a peer. Returns whether it may.
    fn may_put(&mut self, peer: PeerId, now: Instant) -> bool {
        if now.duration_since(self.puts_since) >= MINUTE {
            self.puts.clear();
            self.puts_since = now;
        }
        if self.puts.len() >= BRINGERS && !self.puts.contains_key(&peer) {
            return false;
        }
        let puts = self.puts.entry(peer).or_default();
        *puts += 1;
        *puts <= PUTS
    }
}

impl Shared {
    /// The network as the ledger names it.
    fn network_id(&self) -> NetworkId {
        NetworkId(self.network)
    }

    /// Key under which those who provide something lie.
    pub(crate) fn rendezvous(&self, kind: &str, name: &[u8]) -> [u8; 32] {
        node_record::rendezvous(&self.network_id(), kind, name)
    }

    pub(crate) fn record_key(&self, node: &PublicKey) -> kad::RecordKey {
        kad::RecordKey::new(&node_record::key_of(&self.network_id(), node))
    }
}

impl Task {
    /// Step 1.
    pub(crate) fn tell_whereabouts(&mut self, now: Instant) {
        let addresses = self.whereabouts();
        let nobody = self.peers.is_empty() || addresses.is_empty();
        if nobody || !self.records.telling.is_due(&addresses, now) {
            return;
        }
        self.make_place(now);
        let key = self.shared.record_key(&self.records.key.public());
        let mut put = kad::Record::new(key, self.sign(addresses.clone()));
        put.expires = Some(now + Duration::from_secs(LIFE_SECONDS));
        match self.swarm.behaviour_mut().kad.put_record(put, Quorum::One) {
            Ok(id) => {
                self.shared.counters.count(Count::RecordsPut);
                self.records.put = Some(id);
                self.records.telling.began(addresses, now);
            }
            Err(error) => tracing::warn!(%error, "our node record was not kept"),
        }
    }

    /// Step 2, of a peer that has just been admitted.
    pub(crate) fn tell_newcomer(&mut self, peer: PeerId) {
        let key = self.shared.record_key(&self.records.key.public());
        let kad = &mut self.swarm.behaviour_mut().kad;
        let target = kad::KBucketKey::new(key.clone());
        let mut near = kad.get_closest_local_peers(&target).take(K);
        let is_near = near.any(|near| *near.preimage() == peer);
        drop(near);
        let ours = kad.store_mut().get(&key).filter(|_| is_near);
        if let Some(ours) = ours.map(Cow::into_owned) {
            let _not_waited_for = kad.put_record_to(ours, iter::once(peer), Quorum::One);
        }
    }

    /// Where others may reach us, best first.
    pub(crate) fn whereabouts(&self) -> Vec<String> {
        let mut all: Vec<Multiaddr> = match self.traversal.reach {
            Some(Reach::Local) => self.swarm.listeners().cloned().collect(),
            _ => self.reach.addresses(),
        };
        let circuits = self.swarm.listeners().filter(|a| is_circuit(a));
        all.extend(circuits.map(without_peer));
        all.truncate(PER_PEER);
        all.iter().map(ToString::to_string).collect()
    }

    /// Steps 3 to 5.
    pub(crate) fn on_dht_request(&mut self, request: kad::InboundRequest) {
        match request {
            kad::InboundRequest::PutRecord {
                source,
                record: Some(record),
                ..
            } => {
                let kept = self.keep_record(source, record);
                self.count_kept(kept);
            }
            kad::InboundRequest::AddProvider { .. } => self.count_kept(false),
            _ => {}
        }
    }

    fn count_kept(&self, kept: bool) {
        self.shared.counters.count(if kept {
            Count::RecordsKept
        } else {
            Count::DhtRecordsRefused
        });
    }

    fn keep_record(&mut self, source: PeerId, record: kad::Record) -> bool {
        let now = Instant::now();
        if !self.records.may_put(source, now) {
            return false;
        }
        let Some(new) = self.received(&record.value) else {
            return false;
        };
        let life = new.expires.saturating_sub(wall_seconds());
        let expires = Some(now + Duration::from_secs(life));
        if record.key != self.shared.record_key(&new.node) {
            return self.keep_provider(source, record.key, &new, expires);
        }
        let store = self.swarm.behaviour_mut().kad.store_mut();
        let known = store.get(&record.key).map(|known| known.into_owned().value);
        let known = known.and_then(|bytes| self.received(&bytes));
        if known.is_some_and(|known| new.sequence <= known.sequence) {
            return false;
        }
        self.make_place(now);
        let record = kad::Record { expires, ..record };
        self.swarm
            .behaviour_mut()
            .kad
            .store_mut()
            .put(record)
            .is_ok()
    }

    /// Step 4.
    fn keep_provider(
        &mut self,
        source: PeerId,
        key: kad::RecordKey,
        said: &NodeRecord,
        expires: Option<Instant>,
    ) -> bool {
        if key_of_peer_id(&source).as_ref() != Some(said.node.as_bytes()) {
            return false;
        }
        let provider = kad::ProviderRecord {
            key,
            provider: source,
            expires,
            addresses: told(addresses_of(said)),
        };
        let store = self.swarm.behaviour_mut().kad.store_mut();
        store.add_provider(provider).is_ok()
    }

    fn make_place(&mut self, now: Instant) {
        let most = self.shared.limits.records;
        make_place(self.swarm.behaviour_mut().kad.store_mut(), most, now);
    }

    /// A record as somebody handed it to us, if it is good.
    pub(crate) fn received(&self, bytes: &[u8]) -> Option<NodeRecord> {
        let signed = SignedNodeRecord::receive(&self.shared.network_id(), bytes, wall_seconds());
        signed.ok().map(|signed| signed.record)
    }

    /// Step 6.
    pub(crate) fn say_provided(&mut self, now: Instant) {
        let Some(key) = self.records.providing.due(now) else {
            return;
        };
        let addresses = self.whereabouts();
        if self.peers.is_empty() || addresses.is_empty() {
            return;
        }
        self.records.providing.said(&key, now);
        self.make_place(now);
        let key = kad::RecordKey::new(&key);
        let said = kad::Record::new(key.clone(), self.sign(addresses.clone()));
        // Without any, Kademlia would tell every address that we listen on.
        let here = addresses.iter().filter_map(|a| a.parse().ok()).collect();
        let own = kad::ProviderRecord::new(key.clone(), self.shared.local, told(here));
        let kad = &mut self.swarm.behaviour_mut().kad;
        let put = kad.put_record(said, Quorum::One).map(|_| ());
        // A put is kept here as well, where it means something only as a provider.
        kad.store_mut().remove(&key);
        if let Err(error) = put.and_then(|()| kad.store_mut().add_provider(own)) {
            tracing::warn!(%error, "cannot say what we provide");
        }
    }

    /// No longer says that we provide something.
    pub(crate) fn withdraw(&mut self, key: &[u8; 32]) {
        self.records.providing.end(key);
        let (key, local) = (kad::RecordKey::new(key), self.shared.local);
        let store = self.swarm.behaviour_mut().kad.store_mut();
        store.remove_provider(&key, &local);
    }

    /// Our record as of now, signed.
    fn sign(&self, addresses: Vec<String>) -> Vec<u8> {
        let wall = wall();
        let record = NodeRecord {
            node: self.records.key.public(),
            sequence: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            expires: wall.as_secs() + LIFE_SECONDS,
            addresses,
        };
        let signed = SignedNodeRecord::new(&self.shared.network_id(), record, &self.records.key);
        codec::encode(&signed)
    }
}

/// The addresses of a record that may be dialled.
pub(crate) fn addresses_of(record: &NodeRecord) -> Vec<Multiaddr> {
    let addresses = record.addresses.iter().filter_map(|a| a.parse().ok());
    dialable(&addresses.collect::<Vec<_>>())
}

/// Where the store is full, records that are out of date go: Kademlia drops one only when it is asked for.
fn make_place(store: &mut MemoryStore, most: usize, now: Instant) {
    if store.records().count() >= most {
        store.retain(|_, record| !record.is_expired(now));
    }
}

/// Time since 1970.
fn wall() -> Duration {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH);
    wall.unwrap_or_default()
}

fn wall_seconds() -> u64 {
    wall().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_forgets_what_is_out_of_date_and_nothing_else() {
        let now = Instant::now();
        let mut store = MemoryStore::new(PeerId::random());
        let keep = |store: &mut MemoryStore, key: u8, seconds| {
            let record = kad::Record {
                expires: Some(now + Duration::from_secs(seconds)),
                ..kad::Record::new(vec![key], vec![1])
            };
            store.put(record).unwrap();
        };
        (0..4).for_each(|key| keep(&mut store, key, 10));
        keep(&mut store, 4, 100);
        let later = now + Duration::from_secs(50);
        make_place(&mut store, 6, later);
        assert_eq!(store.records().count(), 5, "there was a place left");
        make_place(&mut store, 5, later);
        assert_eq!(store.records().count(), 1);
        assert!(store.get(&kad::RecordKey::new(&[4u8])).is_some());
    }
}
