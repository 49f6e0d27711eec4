//! The records in the DHT: those of nodes, and those of providers.
//!
//! 1. The node's own record (`gridbay_protocol::node_record`) is put when its addresses have
//!    changed, again from time to time, and, if nobody took it, after a pause that grows
//!    (`telling`). It lies under the node's peer id ([`key_of`]), so its keepers are the peers of
//!    the node's own neighbourhood, which the node looks for and connects to in any case.
//! 2. A peer that becomes one of the closest known ones to the record's key is given the record,
//!    because others that look for it will ask that peer. Otherwise a record put while the network
//!    is young, or the node new in it, would lie where nobody looks.
//! 3. A record that a peer puts with us is kept if it is signed by the node under whose key it
//!    lies, is in date, is newer than the one kept, and its bringer has not put more than
//!    [`PUTS`](super::bringers::PUTS) in a minute. When no place is left, records out of date make
//!    room.
//! 4. A provider itself puts its signed record under the key of the thing that it provides. It is
//!    kept among the providers, with the addresses that may be dialled.
//! 5. Kademlia's own message for that is refused: it is not signed, and it has no answer, so its
//!    sender drops the stream before the other end has agreed on a protocol, and most such messages
//!    are lost.
//! 6. The node repeats its own announcements soon, then ever more seldom (`providing`).
//!
//! `lookups` finds records again.

use std::borrow::Cow;
use std::iter;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gridbay_core::overlay::{K, RECORD_LIFE};
use gridbay_protocol::codec;
use gridbay_protocol::limits::NODE_RECORD_SECONDS;
use gridbay_protocol::node_record::{NodeRecord, SignedNodeRecord};
use libp2p::kad::store::{MemoryStore, RecordStore};
use libp2p::kad::{self, PutRecordResult, QueryId, Quorum};
use libp2p::{Multiaddr, PeerId};

use super::table::told;
use super::{Dht, Kad, RELAYS};
use crate::overlay::identity::{key_of_peer_id, peer_id_of_key};
use crate::overlay::peers::Peers;
use crate::overlay::reach::addresses::dialable;
use crate::overlay::stats::Count;

/// Life of our record.
const LIFE_SECONDS: u64 = RECORD_LIFE.as_secs();
const _: () = assert!(LIFE_SECONDS <= NODE_RECORD_SECONDS);

impl Dht {
    /// Step 1.
    pub(crate) fn tell_whereabouts(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        addresses: &[String],
        now: Instant,
    ) {
        let nobody = peers.is_empty() || addresses.is_empty();
        if nobody || !self.telling.is_due(addresses, now) {
            return;
        }
        self.make_place(kad, now);
        let mut put = kad::Record::new(key_of(&self.shared.local), self.sign(addresses));
        put.expires = Some(now + Duration::from_secs(LIFE_SECONDS));
        match kad.put_record(put, Quorum::One) {
            Ok(id) => {
                self.shared.counters.count(Count::RecordsPut);
                self.put = Some(id);
                self.telling.began(addresses.to_vec(), now);
            }
            Err(error) => tracing::warn!(%error, "our node record was not kept"),
        }
    }

    /// Step 2, of a peer that has just been admitted.
    fn tell_newcomer(&self, kad: &mut Kad, peer: PeerId) {
        let key = key_of(&self.shared.local);
        let target = kad::KBucketKey::new(key.clone());
        let mut near = kad.get_closest_local_peers(&target).take(K);
        let is_near = near.any(|near| *near.preimage() == peer);
        drop(near);
        let ours = kad.store_mut().get(&key).filter(|_| is_near);
        if let Some(ours) = ours.map(Cow::into_owned) {
            let _not_waited_for = kad.put_record_to(ours, iter::once(peer), Quorum::One);
        }
    }

    /// A peer was admitted: it may know others, may take our record, and may be sought.
    pub(crate) fn on_admitted(&mut self, kad: &mut Kad, peers: &Peers, peer: PeerId) {
        self.look_around_soon(peers);
        self.telling.hurry(Instant::now());
        self.tell_newcomer(kad, peer);
        self.found(peer);
    }

    /// A put has ended.
    pub(super) fn on_put(&mut self, id: QueryId, result: PutRecordResult) {
        if self.put != Some(id) {
            // One that a single newcomer was given.
            return;
        }
        match result {
            Ok(_) => self.telling.taken(),
            Err(error) => {
                tracing::debug!(%error, "our node record was not taken");
                self.shared.counters.count(Count::RecordsNotTaken);
                self.telling.failed(Instant::now());
            }
        }
    }

    /// Steps 3 to 5.
    pub(crate) fn on_request(&mut self, kad: &mut Kad, request: kad::InboundRequest) {
        match request {
            kad::InboundRequest::PutRecord {
                source,
                record: Some(record),
                ..
            } => {
                let kept = self.keep_record(kad, source, record);
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

    fn keep_record(&mut self, kad: &mut Kad, source: PeerId, record: kad::Record) -> bool {
        let now = Instant::now();
        if !self.bringers.may_put(source, now) {
            return false;
        }
        let Some(new) = self.received(&record.value) else {
            return false;
        };
        let life = new.expires.saturating_sub(wall_seconds());
        let expires = Some(now + Duration::from_secs(life));
        let Some(node) = peer_id_of_key(new.node.as_bytes()) else {
            return false;
        };
        if record.key != key_of(&node) {
            return keep_provider(kad, source, record.key, &new, expires);
        }
        let store = kad.store_mut();
        let known = store.get(&record.key).map(|known| known.into_owned().value);
        let known = known.and_then(|bytes| self.received(&bytes));
        if known.is_some_and(|known| new.sequence <= known.sequence) {
            return false;
        }
        self.make_place(kad, now);
        let record = kad::Record { expires, ..record };
        kad.store_mut().put(record).is_ok()
    }

    fn make_place(&self, kad: &mut Kad, now: Instant) {
        make_place(kad.store_mut(), self.shared.limits.records, now);
    }

    /// A record as somebody handed it to us, if it is good.
    pub(super) fn received(&self, bytes: &[u8]) -> Option<NodeRecord> {
        let signed = SignedNodeRecord::receive(&self.shared.network_id(), bytes, wall_seconds());
        signed.ok().map(|signed| signed.record)
    }

    /// Step 6.
    pub(crate) fn say_provided(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        addresses: &[String],
        now: Instant,
    ) {
        let Some(key) = self.providing.due(now) else {
            return;
        };
        if peers.is_empty() || addresses.is_empty() {
            return;
        }
        self.providing.said(&key, now);
        self.make_place(kad, now);
        let key = kad::RecordKey::new(&key);
        let said = kad::Record::new(key.clone(), self.sign(addresses));
        // Without any, Kademlia would tell every address that we listen on.
        let here = addresses.iter().filter_map(|a| a.parse().ok()).collect();
        let own = kad::ProviderRecord::new(key.clone(), self.shared.local, told(here));
        let put = kad.put_record(said, Quorum::One).map(|_| ());
        // A put is kept here as well, where it means something only as a provider.
        kad.store_mut().remove(&key);
        if let Err(error) = put.and_then(|()| kad.store_mut().add_provider(own)) {
            tracing::warn!(%error, "cannot say what we provide");
        }
    }

    /// Says from now on that we provide something.
    pub(crate) fn provide(&mut self, key: [u8; 32]) {
        self.providing.begin(key, Instant::now());
    }

    /// Says from now on that we relay, or no longer.
    pub(crate) fn relay(&mut self, kad: &mut Kad, relays: bool) {
        let key = self.shared.rendezvous(RELAYS, b"");
        if relays {
            return self.provide(key);
        }
        self.providing.end(&key);
        let (key, local) = (kad::RecordKey::new(&key), self.shared.local);
        kad.store_mut().remove_provider(&key, &local);
    }

    /// Our record as of now, signed.
    fn sign(&self, addresses: &[String]) -> Vec<u8> {
        let wall = wall();
        let record = NodeRecord {
            node: self.key.public(),
            sequence: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            expires: wall.as_secs() + LIFE_SECONDS,
            addresses: addresses.to_vec(),
        };
        let signed = SignedNodeRecord::new(&self.shared.network_id(), record, &self.key);
        codec::encode(&signed)
    }
}

/// Key under which a node's record lies.
pub(super) fn key_of(node: &PeerId) -> kad::RecordKey {
    kad::RecordKey::new(&node.to_bytes())
}

/// Step 4.
fn keep_provider(
    kad: &mut Kad,
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
    kad.store_mut().add_provider(provider).is_ok()
}

/// The addresses of a record that may be dialled.
pub(super) fn addresses_of(record: &NodeRecord) -> Vec<Multiaddr> {
    let addresses = record.addresses.iter().filter_map(|a| a.parse().ok());
    dialable(&addresses.collect::<Vec<_>>())
}

/// Where the store is full, records that are out of date go: Kademlia drops one only when it is
/// asked for.
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
