//! Lookups in the DHT: of peers close to a key, of a node's record, of providers.
//!
//! 1. So many lookups run at a time at most (`Limits::lookups`); a lookup without room is refused.
//! 2. A lookup ends [`FOUND_PATIENCE`] after it has found a first record or provider. Of several
//!    records, the one with the highest sequence counts.
//! 3. A lookup for providers ends after [`PROVIDERS_TIME`] in any case.
//! 4. A lookup for a record counts how far away the first peer that had it was.
//! 5. While its table is small, Kademlia looks for the node's own neighbourhood whenever it meets a
//!    peer, and then for a random key in each bucket. The node ends that as soon as it has begun:
//!    it would connect every node of a small network with every other, and the node's own lookups
//!    (`closest`) find as much (the model has no others).

use std::time::Instant;

use gridbay_core::overlay::{FOUND_PATIENCE, K, PROVIDERS_TIME};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::node_record::NodeRecord;
use libp2p::PeerId;
use libp2p::kad::{self, ProgressStep, QueryId, QueryInfo, QueryResult, QueryStats};
use tokio::sync::oneshot;

use super::lookup::{Lookup, Providers, Sought};
use super::records::{addresses_of, key_of};
use super::{Dht, Kad, RELAYS};
use crate::overlay::command::RecordReply;
use crate::overlay::error::{LookupError, OverlayError, SeekError};
use crate::overlay::identity::key_of_peer_id;
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

/// Providers told of one key at the most.
const PROVIDERS: usize = 64;

impl Dht {
    /// Asks for the record of a node. Returns whether there was room.
    pub(super) fn look_up_record(&mut self, kad: &mut Kad, peer: PeerId) -> bool {
        let may = is_node(&peer) && self.has_room_to_look_up();
        if may {
            self.begin_record(kad, peer, None);
        }
        may
    }

    /// Asks for the record of a node, for a caller that waits.
    pub(crate) fn look_up_for_caller(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        peer: PeerId,
        reply: RecordReply,
    ) {
        let refused = if !is_node(&peer) {
            LookupError::NotFound
        } else if peers.is_empty() {
            LookupError::Alone
        } else if !self.has_room_to_look_up() {
            OverlayError::Busy.into()
        } else {
            return self.begin_record(kad, peer, Some(reply));
        };
        // The caller may have given up already.
        let _unheard = reply.send(Err(refused));
    }

    fn begin_record(&mut self, kad: &mut Kad, peer: PeerId, reply: Option<RecordReply>) {
        let key = key_of(&peer);
        let target = kad::KBucketKey::new(key.clone());
        let near = kad.get_closest_local_peers(&target).take(K);
        let near = near.map(kad::KBucketKey::into_preimage).collect();
        let id = kad.get_record(key);
        self.near.insert(id, near);
        let sought = Sought {
            peer,
            best: None,
            since: None,
            reply,
        };
        self.begin_lookup(id, Lookup::Record(Box::new(sought)));
    }

    /// Asks for relays.
    pub(crate) fn search_relays(&mut self, kad: &mut Kad) {
        if self.has_room_to_look_up() {
            let key = kad::RecordKey::new(&self.shared.rendezvous(RELAYS, b""));
            let id = kad.get_providers(key);
            self.begin_lookup(id, Lookup::Relays);
        }
    }

    /// Asks for providers of something. Without room none is found.
    pub(crate) fn look_up_providers(
        &mut self,
        kad: &mut Kad,
        key: [u8; 32],
        reply: oneshot::Sender<Vec<PeerId>>,
    ) {
        if self.has_room_to_look_up() {
            let id = kad.get_providers(kad::RecordKey::new(&key));
            let sought = Providers {
                began: Instant::now(),
                since: None,
                found: Vec::new(),
                reply,
            };
            self.begin_lookup(id, Lookup::Providers(sought));
        }
    }

    pub(super) fn has_room_to_look_up(&self) -> bool {
        self.running.len() < self.shared.limits.lookups
    }

    pub(super) fn begin_lookup(&mut self, id: QueryId, lookup: Lookup) {
        self.shared.counters.count(Count::Lookups);
        self.running.insert(id, lookup);
    }

    /// Takes a result of a lookup.
    pub(crate) fn on_progress(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        (id, step): (QueryId, &ProgressStep),
        result: QueryResult,
        stats: &QueryStats,
    ) {
        let last = step.last;
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
                self.on_record(peers, id, found);
                if last {
                    let (counters, asked) = (&self.shared.counters, stats.num_requests());
                    counters.count(Count::RecordLookupsEnded);
                    counters.count_n(Count::RecordLookupRequests, asked as usize);
                    self.near.remove(&id);
                    self.end_record(id, late);
                }
            }
            QueryResult::GetProviders(result) => {
                let found = match result {
                    Ok(kad::GetProvidersOk::FoundProviders { providers, .. }) => providers,
                    _ => Default::default(),
                };
                self.on_providers(kad, peers, id, found.into_iter().collect(), last);
            }
            QueryResult::PutRecord(result) => self.on_put(id, result),
            _ => {}
        }
    }

    /// Step 4: counts how far away the first peer that had a record was.
    fn count_hops(&mut self, id: &QueryId, at: Option<PeerId>) {
        let Some(near) = self.near.remove(id) else {
            return;
        };
        self.shared.counters.count(match at {
            None => Count::RecordsFoundHere,
            Some(peer) if near.contains(&peer) => Count::RecordsFoundNear,
            Some(_) => Count::RecordsFoundFar,
        });
    }

    /// Step 2.
    fn on_record(&mut self, peers: &Peers, id: QueryId, found: Option<NodeRecord>) {
        let Some(Lookup::Record(sought)) = self.running.get_mut(&id) else {
            return;
        };
        let wanted = key_of_peer_id(&sought.peer);
        let better = |r: &NodeRecord| {
            wanted.as_ref() == Some(r.node.as_bytes())
                && sought.best.as_ref().is_none_or(|b| b.sequence < r.sequence)
        };
        let Some(found) = found.filter(better) else {
            return;
        };
        let addresses = addresses_of(&found);
        sought.best = Some(found);
        sought.since.get_or_insert_with(Instant::now);
        if sought.reply.is_none() {
            let peer = sought.peer;
            self.on_whereabouts(peers, peer, addresses);
        }
    }

    /// Ends the lookups of steps 2 and 3 whose time has come.
    pub(crate) fn end_ripe(&self, kad: &mut Kad, now: Instant) {
        let is_old = |since: Instant, age| now.duration_since(since) >= age;
        let has_enough = |since: Option<Instant>| since.is_some_and(|s| is_old(s, FOUND_PATIENCE));
        let ripe = |lookup: &Lookup| match lookup {
            Lookup::Record(sought) => has_enough(sought.since),
            Lookup::Providers(sought) => {
                has_enough(sought.since) || is_old(sought.began, PROVIDERS_TIME)
            }
            Lookup::Closest(_) | Lookup::Relays => false,
        };
        let running = self.running.iter();
        for (id, _) in running.filter(|(_, lookup)| ripe(lookup)) {
            if let Some(mut query) = kad.query_mut(id) {
                query.finish();
            }
        }
    }

    /// Step 5.
    pub(crate) fn end_bootstrap(kad: &mut Kad) {
        for mut query in kad.iter_queries_mut() {
            if matches!(query.info(), QueryInfo::Bootstrap { .. }) {
                query.finish();
            }
        }
    }

    /// The lookup of a record has ended.
    fn end_record(&mut self, id: QueryId, late: bool) {
        let Some(Lookup::Record(sought)) = self.running.remove(&id) else {
            return;
        };
        match (sought.reply, sought.best) {
            (Some(reply), best) => {
                let missing = if late {
                    LookupError::Late
                } else {
                    LookupError::NotFound
                };
                // The caller may have given up already.
                let _unheard = reply.send(best.ok_or(missing));
            }
            (None, None) => self.give_up(&sought.peer, SeekError::NoRecord),
            (None, Some(_)) => {}
        }
    }

    fn on_providers(
        &mut self,
        kad: &mut Kad,
        peers: &Peers,
        id: QueryId,
        found: Vec<PeerId>,
        last: bool,
    ) {
        match self.running.get_mut(&id) {
            Some(Lookup::Relays) => {
                let local = self.shared.local;
                for relay in found.into_iter().filter(|p| *p != local) {
                    self.seek(kad, peers, relay);
                }
            }
            Some(Lookup::Providers(sought)) => {
                let all = &mut sought.found;
                for peer in found {
                    if !all.contains(&peer) && all.len() < PROVIDERS {
                        all.push(peer);
                        sought.since.get_or_insert_with(Instant::now);
                    }
                }
            }
            _ => return,
        }
        if last && let Some(Lookup::Providers(sought)) = self.running.remove(&id) {
            // The caller may have given up already.
            let _unheard = sought.reply.send(sought.found);
        }
    }
}

/// Whether a peer's id is that of a key that nodes have.
fn is_node(peer: &PeerId) -> bool {
    key_of_peer_id(peer).is_some_and(|key| PublicKey::from_bytes(&key).is_ok())
}
