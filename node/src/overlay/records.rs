//! What lies in the DHT: records of nodes, and who provides what.
//!
//! 1. Our own record (`gridbay_protocol::node_record`) is put when our addresses have changed, again from time to time, and when
//!    nobody took it after a pause that grows (`telling`).
//! 2. A record that somebody puts with us is kept if it is signed by the node under whose key it lies, is in date, is newer than
//!    the one that we have, and its bringer has not put more than [`PUTS`] in a minute. When there is no place left, those that are
//!    out of date make it.
//! 3. Providers are kept as the peers that said so themselves (Kademlia checks that) with the addresses that may be dialled.
//! 4. Of the records that a lookup finds the one with the highest sequence counts.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gridbay_core::overlay::{K, RECORD_LIFE};
use gridbay_protocol::codec;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::limits::NODE_RECORD_SECONDS;
use gridbay_protocol::node_record::{self, NodeRecord, SignedNodeRecord};
use libp2p::kad::store::{MemoryStore, RecordStore};
use libp2p::kad::{self, QueryId, QueryResult, Quorum};
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use super::addresses::{PER_PEER, dialable, is_circuit, without_peer};
use super::command::{Found, RecordReply};
use super::error::{LookupError, OverlayError, SeekError};
use super::handle::Shared;
use super::identity::key_of_peer_id;
use super::reach::Reach;
use super::stats::Count;
use super::task::Task;
use super::telling::Telling;

/// Kind of the providers that relay.
pub(crate) const RELAYS: &str = "relay";
/// Records that one peer may put with us in a minute.
const PUTS: u32 = 30;
/// Peers that may put in a minute.
const BRINGERS: usize = 1024;
const MINUTE: Duration = Duration::from_secs(60);
/// Life of our record.
const LIFE_SECONDS: u64 = RECORD_LIFE.as_secs();
const _: () = assert!(LIFE_SECONDS <= NODE_RECORD_SECONDS);

/// A running lookup.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// Peers close to a key; somebody may wait for them.
    Closest(Option<oneshot::Sender<Found>>),
    /// The record of a node, as good as found so far: to reach the node, or for somebody who only wants to see it.
    Record(PeerId, Option<Box<NodeRecord>>, Option<RecordReply>),
    /// Relays.
    Relays,
    /// Those who provide something, as found so far.
    Providers(Vec<PeerId>, oneshot::Sender<Vec<PeerId>>),
}

/// What this module remembers.
#[derive(Debug)]
pub(crate) struct Records {
    key: SecretKey,
    pub(crate) telling: Telling,
    puts: BTreeMap<PeerId, u32>,
    puts_since: Instant,
}

impl Records {
    pub(crate) fn new(seed: &[u8; 32], now: Instant) -> Self {
        Self {
            key: SecretKey::from_seed(seed),
            telling: Telling::default(),
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

    fn record_key(&self, node: &PublicKey) -> kad::RecordKey {
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
        let wall = wall();
        let record = NodeRecord {
            node: self.records.key.public(),
            sequence: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            expires: wall.as_secs() + LIFE_SECONDS,
            addresses: addresses.clone(),
        };
        self.make_place(now);
        let key = self.shared.record_key(&record.node);
        let signed = SignedNodeRecord::new(&self.shared.network_id(), record, &self.records.key);
        let mut put = kad::Record::new(key, codec::encode(&signed));
        put.expires = Some(now + Duration::from_secs(LIFE_SECONDS));
        match self.swarm.behaviour_mut().kad.put_record(put, Quorum::One) {
            Ok(_) => {
                self.shared.counters.count(Count::RecordsPut);
                self.records.telling.began(addresses, now);
            }
            Err(error) => tracing::warn!(%error, "our node record was not kept"),
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

    /// Steps 2 and 3.
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
            kad::InboundRequest::AddProvider {
                record: Some(mut provider),
            } => {
                provider.addresses = dialable(&provider.addresses);
                let store = self.swarm.behaviour_mut().kad.store_mut();
                let kept = store.add_provider(provider).is_ok();
                self.count_kept(kept);
            }
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
        let store = self.swarm.behaviour_mut().kad.store_mut();
        let known = store.get(&record.key).map(|known| known.into_owned().value);
        let known = known.and_then(|bytes| self.received(&bytes));
        let newer = known.is_none_or(|known| new.sequence > known.sequence);
        if record.key != self.shared.record_key(&new.node) || !newer {
            return false;
        }
        self.make_place(now);
        let life = new.expires.saturating_sub(wall_seconds());
        let record = kad::Record {
            expires: Some(now + Duration::from_secs(life)),
            ..record
        };
        self.swarm
            .behaviour_mut()
            .kad
            .store_mut()
            .put(record)
            .is_ok()
    }

    fn make_place(&mut self, now: Instant) {
        let most = self.shared.limits.records;
        make_place(self.swarm.behaviour_mut().kad.store_mut(), most, now);
    }

    fn received(&self, bytes: &[u8]) -> Option<NodeRecord> {
        let signed = SignedNodeRecord::receive(&self.shared.network_id(), bytes, wall_seconds());
        signed.ok().map(|signed| signed.record)
    }

    /// Says that we provide something.
    pub(crate) fn provide(&mut self, key: kad::RecordKey) {
        if let Err(error) = self.swarm.behaviour_mut().kad.start_providing(key) {
            tracing::warn!(%error, "cannot say what we provide");
        }
    }

    /// Asks for the record of a node. Returns whether there was room.
    pub(crate) fn look_up_record(&mut self, peer: PeerId) -> bool {
        match node_key(&peer) {
            Some(key) if self.has_room_to_look_up() => {
                self.begin_record(peer, &key, None);
                true
            }
            _ => false,
        }
    }

    /// Asks for the record of a node, for somebody who waits.
    pub(crate) fn look_up_for_caller(&mut self, peer: PeerId, reply: RecordReply) {
        let refused = match node_key(&peer) {
            None => LookupError::NotFound,
            Some(_) if self.peers.is_empty() => LookupError::Alone,
            Some(_) if !self.has_room_to_look_up() => OverlayError::Busy.into(),
            Some(key) => return self.begin_record(peer, &key, Some(reply)),
        };
        // The caller may have given up already.
        let _unheard = reply.send(Err(refused));
    }

    fn begin_record(&mut self, peer: PeerId, key: &PublicKey, reply: Option<RecordReply>) {
        let key = self.shared.record_key(key);
        let target = kad::KBucketKey::new(key.clone());
        let kad = &mut self.swarm.behaviour_mut().kad;
        let near = kad.get_closest_local_peers(&target).take(K);
        let near = near.map(kad::KBucketKey::into_preimage).collect();
        let id = kad.get_record(key);
        self.lookups.near.insert(id, near);
        self.begin_lookup(id, Lookup::Record(peer, None, reply));
    }

    /// Asks for relays.
    pub(crate) fn search_relays(&mut self) {
        if self.has_room_to_look_up() {
            let key = kad::RecordKey::new(&self.shared.rendezvous(RELAYS, b""));
            let id = self.swarm.behaviour_mut().kad.get_providers(key);
            self.begin_lookup(id, Lookup::Relays);
        }
    }

    /// Asks for those who provide something. Without room nobody is found.
    pub(crate) fn look_up_providers(&mut self, key: [u8; 32], reply: oneshot::Sender<Vec<PeerId>>) {
        if self.has_room_to_look_up() {
            let id = self
                .swarm
                .behaviour_mut()
                .kad
                .get_providers(kad::RecordKey::new(&key));
            self.begin_lookup(id, Lookup::Providers(Vec::new(), reply));
        }
    }

    pub(crate) fn has_room_to_look_up(&self) -> bool {
        self.lookups.running.len() < self.shared.limits.lookups
    }

    pub(crate) fn begin_lookup(&mut self, id: QueryId, lookup: Lookup) {
        self.shared.counters.count(Count::Lookups);
        self.lookups.running.insert(id, lookup);
    }

    /// Something of a lookup came in; `last` says that nothing more will.
    pub(crate) fn on_lookup(&mut self, id: QueryId, result: QueryResult, last: bool) {
        match result {
            QueryResult::GetClosestPeers(result) => self.on_closest(id, result, last),
            QueryResult::GetRecord(result) => {
                let late = matches!(result, Err(kad::GetRecordError::Timeout { .. }));
                let found = result.ok().and_then(|found| match found {
                    kad::GetRecordOk::FoundRecord(found) => {
                        self.count_hops(&id, found.peer);
                        self.received(&found.record.value)
                    }
                    kad::GetRecordOk::FinishedWithNoAdditionalRecord { .. } => None,
                });
                self.on_record(id, found);
                if last {
                    self.lookups.near.remove(&id);
                    self.end_record(id, late);
                }
            }
            QueryResult::GetProviders(result) => {
                let found = match result {
                    Ok(kad::GetProvidersOk::FoundProviders { providers, .. }) => providers,
                    _ => Default::default(),
                };
                self.on_providers(id, found.into_iter().collect(), last);
            }
            QueryResult::PutRecord(Ok(_)) => self.records.telling.taken(),
            QueryResult::PutRecord(Err(error)) => {
                tracing::debug!(%error, "our node record was not taken");
                self.shared.counters.count(Count::RecordsNotTaken);
                self.records.telling.failed(Instant::now());
            }
            _ => {}
        }
    }

    /// Counts how far away the first that had a record was.
    fn count_hops(&mut self, id: &QueryId, at: Option<PeerId>) {
        let Some(near) = self.lookups.near.remove(id) else {
            return;
        };
        self.shared.counters.count(match at {
            None => Count::RecordsFoundHere,
            Some(peer) if near.contains(&peer) => Count::RecordsFoundNear,
            Some(_) => Count::RecordsFoundFar,
        });
    }

    /// Step 4.
    fn on_record(&mut self, id: QueryId, found: Option<NodeRecord>) {
        let Some(Lookup::Record(peer, best, reply)) = self.lookups.running.get_mut(&id) else {
            return;
        };
        let (peer, sought) = (*peer, reply.is_none());
        let wanted = key_of_peer_id(&peer);
        let found = found.filter(|r| wanted.as_ref() == Some(r.node.as_bytes()));
        if let Some(found) = found
            && best.as_ref().is_none_or(|b| b.sequence < found.sequence)
        {
            let addresses = found.addresses.iter();
            let parsed: Vec<Multiaddr> = addresses.filter_map(|a| a.parse().ok()).collect();
            *best = Some(Box::new(found));
            if sought {
                self.on_whereabouts(peer, dialable(&parsed));
            }
        }
    }

    /// The lookup of a record has ended.
    fn end_record(&mut self, id: QueryId, late: bool) {
        let Some(Lookup::Record(peer, best, reply)) = self.lookups.running.remove(&id) else {
            return;
        };
        match (reply, best) {
            (Some(reply), best) => {
                let missing = if late {
                    LookupError::Late
                } else {
                    LookupError::NotFound
                };
                // The caller may have given up already.
                let _unheard = reply.send(best.map(|best| *best).ok_or(missing));
            }
            (None, None) => self.give_up(&peer, SeekError::NoRecord),
            (None, Some(_)) => {}
        }
    }

    fn on_providers(&mut self, id: QueryId, found: Vec<PeerId>, last: bool) {
        match self.lookups.running.get_mut(&id) {
            Some(Lookup::Relays) => {
                let local = self.shared.local;
                for relay in found.into_iter().filter(|p| *p != local) {
                    self.seek(relay);
                }
            }
            Some(Lookup::Providers(all, _)) => {
                for peer in found {
                    if !all.contains(&peer) && all.len() < PROVIDERS {
                        all.push(peer);
                    }
                }
            }
            _ => return,
        }
        if last && let Some(Lookup::Providers(all, reply)) = self.lookups.running.remove(&id) {
            // The caller may have given up already.
            let _unheard = reply.send(all);
        }
    }
}

/// Where the store is full, records that are out of date go: Kademlia drops one only when it is asked for.
fn make_place(store: &mut MemoryStore, most: usize, now: Instant) {
    if store.records().count() >= most {
        store.retain(|_, record| !record.is_expired(now));
    }
}

/// Providers told of one key at the most.
const PROVIDERS: usize = 64;

/// All running lookups.
pub(crate) type Running = HashMap<QueryId, Lookup>;

/// Transport key of a peer, if it has one of ours.
fn node_key(peer: &PeerId) -> Option<PublicKey> {
    PublicKey::from_bytes(&key_of_peer_id(peer)?).ok()
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
