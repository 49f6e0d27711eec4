//! Traversal: the node's efforts to be reached, and to reach others directly.
//!
//! Every second, and when something happens:
//!
//! 1. Addresses that nobody sees any more are dropped (`reachability`, step 5).
//! 2. While public or local we serve the DHT and, if our owner lets us, say in it that we relay;
//!    else we are its client.
//! 3. We keep places at relays (`relays`), unless everybody can dial us: public, and on TCP port
//!    443, the one that firewalls which let out next to nothing let out. With too few relays among
//!    our peers, the DHT is asked for more.
//! 4. A peer with a direct connection for [`OVERLAP`] loses those through relays: streams would
//!    still be opened on them.
//! 5. When we have moved, those that cannot know it are sought (`moved`).

use std::fmt::Display;
use std::time::{Duration, Instant};

use libp2p::core::transport::ListenerId;
use libp2p::{Multiaddr, PeerId, autonat, upnp};

use super::addresses::{self, ip, is_circuit, is_quic, port, worth_a_try};
use super::moves::OVERLAP;
use super::reachability::Reach;
use super::relays::Candidate;
use super::serving::Router;
use super::{Order, Traversal};
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;
use crate::overlay::view::{Queues, Whereabouts};

/// How often the DHT is asked for relays.
const SEARCH: Duration = Duration::from_secs(10);

impl Traversal {
    /// All steps.
    pub(crate) fn traverse(&mut self, peers: &Peers, now: Instant) {
        for stale in self.known.stale() {
            tracing::info!(address = %stale, "nobody sees us there any more");
            self.known.expire(&stale);
            self.orders.push(Order::Withdraw(stale));
        }
        let reach = self.known.reach(now);
        if self.acted_on != Some(reach) {
            self.on_reach(reach);
        }
        self.serve_relay(peers, reach == Reach::Public, now);
        match reach {
            Reach::Local => {}
            Reach::Public if self.is_open_to_all() => self.give_up_places(self.relays.all(), now),
            Reach::Public | Reach::Unknown | Reach::Private => {
                self.give_up_places(self.relays.overdue(now), now);
                self.keep_relays(peers, now);
            }
        }
        // Step 4.
        self.close_circuits(peers, Some(OVERLAP), now);
        self.seek_former(peers);
    }

    /// Shows the handles how we are reached.
    pub(crate) fn show(&self, queues: Queues, banned: usize, now: Instant) {
        let now = Whereabouts {
            reach: self.known.reach(now),
            nat: self.known.nat(&self.listening()),
            external: self.known.addresses(),
            seen: self.known.seen(),
            relays: self.relays.standing(),
            refuted: self.known.refuted().to_vec(),
            router: self.router,
            places_given: self.serving.places(),
            circuits: self.serving.circuits(),
            banned,
            queues,
        };
        self.status.send_if_modified(|shown| {
            let changed = *shown != now;
            *shown = now;
            changed
        });
    }

    /// Step 2.
    fn on_reach(&mut self, reach: Reach) {
        tracing::info!(?reach, "reachability");
        self.acted_on = Some(reach);
        let serves = matches!(reach, Reach::Local | Reach::Public);
        self.orders.push(Order::Serve(serves));
    }

    /// Step 2, second half. The relay's behaviour tells its change to the handler of every
    /// connection, and those of circuits have none that could take it (libp2p-relay 0.22 panics
    /// there). So it waits until there is no circuit, and ends those there are.
    fn serve_relay(&mut self, peers: &Peers, wanted: bool, now: Instant) {
        if self.relaying == wanted || !self.may_relay {
            return;
        }
        if self.close_circuits(peers, None, now) > 0 {
            return;
        }
        self.relaying = wanted;
        self.orders.push(Order::Relay(wanted));
    }

    /// Whether even the strictest firewalls let their nodes through to us.
    fn is_open_to_all(&self) -> bool {
        let addresses = self.known.addresses();
        addresses
            .iter()
            .any(|a| !is_quic(a) && port(a) == Some(443))
    }

    /// Step 3: one relay is asked at a time.
    fn keep_relays(&mut self, peers: &Peers, now: Instant) {
        if let Some(relay) = self.relays.next(&peers.relays(), now) {
            self.orders.push(Order::Reserve(relay));
        } else if self.relays.are_short() && now >= self.next_search && !peers.is_empty() {
            self.next_search = now + SEARCH;
            self.orders.push(Order::SearchRelays);
        }
    }

    /// A relay was asked for a place, on a listener of its own, or could not be asked.
    pub(crate) fn on_reserved(
        &mut self,
        peers: &Peers,
        relay: &Candidate,
        asked: Result<ListenerId, impl Display>,
        now: Instant,
    ) {
        match asked {
            Ok(listener) => {
                self.listeners.insert(listener);
                self.relays.asked(listener, relay, now);
                self.use_both_transports(peers, relay);
            }
            Err(error) => {
                tracing::debug!(relay = %relay.peer, %error, "cannot ask a relay");
                self.relays.refused(relay.peer, now);
            }
        }
        self.keep_relays(peers, now);
    }

    /// A connection to a relay over the other transport too: each shows us our address on its own
    /// transport only, and without that address nobody can be told where to punch.
    fn use_both_transports(&mut self, peers: &Peers, relay: &Candidate) {
        let over_quic = is_quic(&relay.address);
        let is_other = |a: &Multiaddr| !is_circuit(a) && is_quic(a) != over_quic;
        let has_other = peers
            .connections(&relay.peer)
            .into_iter()
            .any(|(_, at)| is_other(at));
        let mut other = peers.addresses(&relay.peer);
        other.retain(is_other);
        if !has_other && !other.is_empty() {
            self.orders.push(Order::Dial(relay.peer, other));
        }
    }

    fn give_up_places(&mut self, listeners: Vec<ListenerId>, now: Instant) {
        for listener in listeners {
            // The library panics over a place that is given after its listener was closed
            // (libp2p-relay 0.22), so one that was only asked for ends with its connection.
            self.orders.push(match self.relays.asks(&listener) {
                Some(relay) => Order::Disconnect(relay),
                None => Order::Unlisten(listener),
            });
            self.relays.lost(&listener, now);
        }
    }

    /// Closes the circuits to peers that have a direct connection for so long; to all without a
    /// time. Returns how many there were.
    fn close_circuits(&mut self, peers: &Peers, beside: Option<Duration>, now: Instant) -> usize {
        let circuits = peers.circuits(beside, now);
        let count = circuits.len();
        self.orders.extend(circuits.into_iter().map(Order::Close));
        count
    }

    /// An AutoNAT server reached us, or did not. One that sits behind the same address as we do
    /// proves nothing.
    pub(crate) fn on_probe(&mut self, peers: &Peers, event: &autonat::v2::client::Event) {
        let address = addresses::without_peer(&event.tested_addr);
        let hosts = peers.hosts(&event.server);
        let beside_us = hosts.into_iter().any(|host| Some(host) == ip(&address));
        if event.result.is_ok() && !beside_us && !is_circuit(&address) {
            let own = self.listening().iter().any(|l| ip(l) == ip(&address));
            self.shared.counters.count(Count::AddressesConfirmed);
            self.known.confirm(address, own);
        } else if event.result.is_ok() || !self.known.refute(&address) {
            self.orders.push(Order::Withdraw(event.tested_addr.clone()));
        }
        self.orders.push(Order::Traverse);
    }

    /// The router answered.
    pub(crate) fn on_router(&mut self, event: upnp::Event) {
        self.router = match event {
            upnp::Event::NewExternalAddr { external_addr, .. } => {
                self.known.confirm(external_addr, true);
                self.orders.push(Order::Traverse);
                Router::Forwards
            }
            upnp::Event::ExpiredExternalAddr { external_addr, .. } => {
                self.known.expire(&external_addr);
                Router::Stopped
            }
            upnp::Event::GatewayNotFound => Router::None,
            upnp::Event::NonRoutableGateway => Router::Inner,
        };
    }

    /// A peer that is reached over circuits alone claims these addresses: those that may do are
    /// dialled.
    pub(crate) fn try_direct(&mut self, peer: PeerId, claimed: &[Multiaddr]) {
        let own: Vec<Multiaddr> = self
            .listening()
            .iter()
            .filter(|a| !is_circuit(a))
            .cloned()
            .collect();
        let direct = worth_a_try(claimed, &own);
        if !direct.is_empty() {
            self.orders.push(Order::Dial(peer, direct));
        }
    }
}
