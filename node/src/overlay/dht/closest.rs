//! Lookups of peers close to a key: the node's own neighbourhood again and again, and keys that
//! callers ask for.

use std::time::{Duration, Instant};

use gridbay_core::overlay::{LOOKUP_PAUSE, LOOKUP_SOON, lookup_pause};
use libp2p::kad::{GetClosestPeersError, GetClosestPeersResult, QueryId};
use tokio::sync::oneshot;

use super::lookup::Lookup;
use super::{Dht, Kad, Order};
use crate::overlay::command::Found;
use crate::overlay::peers::Peers;
use crate::overlay::reach::addresses::dialable;

impl Dht {
    /// When the node's own neighbourhood is looked up next, if there is anybody to ask.
    pub(crate) fn next_due(&self, peers: &Peers) -> Option<Instant> {
        (!peers.is_empty()).then_some(self.own.next)
    }

    /// Looks up the node's own neighbourhood if that is due.
    pub(crate) fn look_around(&mut self, kad: &mut Kad, peers: &Peers, now: Instant) {
        if now < self.own.next || peers.is_empty() {
            return;
        }
        self.look_up(kad, self.shared.local.to_bytes(), None);
        let enough = peers.len() >= self.shared.limits.wanted_peers;
        self.own.pause = lookup_pause(self.own.pause, enough);
        self.own.last = Some(now);
        self.own.next = now + self.own.pause;
    }

    /// A new peer may know others.
    pub(super) fn look_around_soon(&mut self, peers: &Peers) {
        if peers.len() >= self.shared.limits.wanted_peers {
            return;
        }
        let soon = Instant::now() + LOOKUP_SOON;
        let earliest = self.own.last.map_or(soon, |last| last + LOOKUP_PAUSE);
        self.own.pause = Duration::ZERO;
        self.own.next = self.own.next.min(soon.max(earliest));
    }

    /// Asks the DHT for the peers closest to a key.
    pub(crate) fn look_up(
        &mut self,
        kad: &mut Kad,
        key: Vec<u8>,
        reply: Option<oneshot::Sender<Found>>,
    ) {
        // Without room the reply is dropped, which the caller takes for "nobody".
        if self.has_room_to_look_up() {
            let id = kad.get_closest_peers(key);
            self.begin_lookup(id, Lookup::Closest(reply));
        }
    }

    /// Has the peers that a lookup found remembered, and answers its caller.
    pub(super) fn on_closest(&mut self, id: QueryId, result: GetClosestPeersResult, last: bool) {
        let peers = match result {
            Ok(found) => found.peers,
            Err(GetClosestPeersError::Timeout { peers, .. }) => peers,
        };
        let found: Found = peers
            .iter()
            .map(|p| (p.peer_id, dialable(&p.addrs)))
            .collect();
        self.orders.push(Order::Found(found.clone()));
        if last && let Some(Lookup::Closest(Some(reply))) = self.running.remove(&id) {
            // The caller may have given up already.
            let _unheard = reply.send(found);
        }
    }
}
