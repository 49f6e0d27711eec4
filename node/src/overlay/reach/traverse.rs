//! Traversal: what the node does to be reached, and to reach others directly.
//!
//! Every half second, and when something happens:
//!
//! 1. Addresses that nobody sees any more are dropped (`reach`, step 5).
//! 2. While public or local we serve the DHT and, if our owner lets us, say in it that we relay; else we are its client.
//! 3. We keep places at relays (`relays`), unless everybody can dial us: public, and on TCP port 443, the one that firewalls
//!    which let out next to nothing let out. With too few relays among our peers, the DHT is asked for more.
//! 4. A peer with a direct connection for [`OVERLAP`] loses those through relays: streams would still be opened on them.
//! 5. When we have moved, those who cannot know it are sought (`moved`).

use std::time::{Duration, Instant};

use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::ConnectionId;
use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId, autonat, kad, relay};

use super::addresses::{self, ip, is_circuit, is_quic, port, worth_a_try};
use super::reachability::Reach;
use super::relays::Candidate;
use crate::overlay::dht::records::RELAYS;
use crate::overlay::handle::Whereabouts;
use crate::overlay::peers::peer::Peer;
use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// How long circuits to a peer stay open beside a direct connection: for what is under way on them.
pub(crate) const OVERLAP: Duration = Duration::from_secs(3);
/// How often the DHT is asked for relays.
const SEARCH: Duration = Duration::from_secs(10);

impl Task {
    /// All steps.
    pub(crate) fn traverse(&mut self, now: Instant) {
        for stale in self.reach.stale() {
            tracing::info!(address = %stale, "nobody sees us there any more");
            self.swarm.remove_external_address(&stale);
            self.reach.expire(&stale);
        }
        let reach = self.reach.reach(now);
        if self.traversal.reach != Some(reach) {
            self.on_reach(reach);
        }
        self.serve_relay(reach == Reach::Public);
        match reach {
            Reach::Local => {}
            Reach::Public if self.is_open_to_all() => self.give_up_places(self.relays.all(), now),
            Reach::Public | Reach::Unknown | Reach::Private => self.keep_relays(now),
        }
        // Step 4.
        self.close_circuits(|peer| {
            let since = peer.direct_since;
            since.is_some_and(|since| now.duration_since(since) >= OVERLAP)
        });
        self.seek_former();
        self.tell_whereabouts(now);
        self.say_provided(now);
        self.show(reach);
    }

    /// Shows the handles how we are reached.
    fn show(&self, reach: Reach) {
        let own: Vec<Multiaddr> = self.swarm.listeners().cloned().collect();
        let now = Whereabouts {
            reach,
            nat: self.reach.nat(&own),
            external: self.reach.addresses(),
            relays: self.relays.standing(),
            refuted: self.reach.refuted().to_vec(),
            router: self.router,
            places_given: self.serving.places.len(),
            circuits: self.serving.circuits.len(),
            banned: self.standing.banned(),
            queues: self.queues(),
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
        self.traversal.reach = Some(reach);
        let serves = matches!(reach, Reach::Local | Reach::Public);
        let mode = if serves {
            kad::Mode::Server
        } else {
            kad::Mode::Client
        };
        self.swarm.behaviour_mut().kad.set_mode(Some(mode));
    }

    /// Step 2, second half. The relay's behaviour tells its change to the handler of every connection, and those of circuits have
    /// none that could take it (libp2p-relay 0.22 panics there). So it waits until there is no circuit, and ends those there are.
    fn serve_relay(&mut self, wanted: bool) {
        if self.traversal.relaying == wanted || !self.swarm.behaviour().relaying.is_enabled() {
            return;
        }
        if self.close_circuits(|_| true) > 0 {
            return;
        }
        self.traversal.relaying = wanted;
        let status = if wanted {
            relay::Status::Enable
        } else {
            relay::Status::Disable
        };
        if let Some(relaying) = self.swarm.behaviour_mut().relaying.as_mut() {
            relaying.set_status(Some(status));
        }
        let key = self.shared.rendezvous(RELAYS, b"");
        if wanted {
            self.records.providing.begin(key, Instant::now());
        } else {
            self.withdraw(&key);
        }
    }

    /// Whether even the strictest firewalls let their nodes through to us.
    fn is_open_to_all(&self) -> bool {
        let addresses = self.reach.addresses();
        addresses
            .iter()
            .any(|a| !is_quic(a) && port(a) == Some(443))
    }

    /// Step 3.
    fn keep_relays(&mut self, now: Instant) {
        self.give_up_places(self.relays.overdue(now), now);
        let candidates = self.relay_candidates();
        while let Some(relay) = self.relays.next(&candidates, now) {
            let circuit = relay.address.clone();
            let circuit = circuit
                .with(Protocol::P2p(relay.peer))
                .with(Protocol::P2pCircuit);
            match self.swarm.listen_on(circuit) {
                Ok(listener) => {
                    self.listeners.insert(listener);
                    self.relays.asked(listener, &relay, now);
                    self.use_both_transports(&relay);
                }
                Err(error) => {
                    tracing::debug!(relay = %relay.peer, %error, "cannot ask a relay");
                    self.relays.refused(relay.peer, now);
                }
            }
        }
        if self.relays.are_short() && now >= self.traversal.next_search && !self.peers.is_empty() {
            self.traversal.next_search = now + SEARCH;
            self.search_relays();
        }
    }

    /// Peers that relay and that we are connected to directly. QUIC first: it punches best.
    fn relay_candidates(&self) -> Vec<Candidate> {
        let candidate = |(id, peer): (&PeerId, &Peer)| {
            let address = peer.direct().min_by_key(|a| !is_quic(a))?;
            (peer.relays && peer.admitted).then(|| Candidate {
                peer: *id,
                address: addresses::without_peer(address),
                rtt: peer.rtt,
            })
        };
        self.peers.iter().filter_map(candidate).collect()
    }

    /// A connection to a relay over the other transport too: each shows us our address on its own transport only, and without
    /// that address nobody can be told where to punch.
    fn use_both_transports(&mut self, relay: &Candidate) {
        let over_quic = is_quic(&relay.address);
        let peer = self.peers.get(&relay.peer);
        let has_other = peer.is_some_and(|p| p.direct().any(|a| is_quic(a) != over_quic));
        let known = self.dialer.addresses(&relay.peer);
        let other: Vec<Multiaddr> = known
            .into_iter()
            .filter(|a| !is_circuit(a) && is_quic(a) != over_quic)
            .collect();
        if !has_other && !other.is_empty() {
            self.dial_if(PeerCondition::Always, relay.peer, other);
        }
    }

    fn give_up_places(&mut self, listeners: Vec<ListenerId>, now: Instant) {
        for listener in listeners {
            self.swarm.remove_listener(listener);
            self.relays.lost(&listener, now);
        }
    }

    /// Closes the circuits to some peers. Returns how many there were.
    fn close_circuits(&mut self, whose: impl Fn(&Peer) -> bool) -> usize {
        let peers = self.peers.values().filter(|peer| whose(peer));
        let connections = peers.flat_map(|peer| &peer.connections);
        let circuits = connections.filter(|(_, address)| is_circuit(address));
        let circuits: Vec<ConnectionId> = circuits.map(|(id, _)| *id).collect();
        for connection in &circuits {
            self.swarm.close_connection(*connection);
        }
        circuits.len()
    }

    /// An AutoNAT server reached us, or did not. One that sits behind the same address as we do proves nothing.
    pub(crate) fn on_probe(&mut self, event: &autonat::v2::client::Event) {
        let address = addresses::without_peer(&event.tested_addr);
        let peer = self.peers.get(&event.server);
        let beside_us = peer.is_some_and(|peer| {
            let hosts = peer.connections.values().filter_map(ip);
            hosts.into_iter().any(|host| Some(host) == ip(&address))
        });
        if event.result.is_ok() && !beside_us && !is_circuit(&address) {
            let own = self.swarm.listeners().any(|l| ip(l) == ip(&address));
            self.shared.counters.count(Count::AddressesConfirmed);
            self.reach.confirm(address, own);
        } else if event.result.is_ok() || !self.reach.refute(&address) {
            self.swarm.remove_external_address(&event.tested_addr);
        }
        self.traverse(Instant::now());
    }

    /// A peer that we reach over a circuit says where else it may be reached: punching aside, a plain dial may do, from whichever
    /// side can.
    pub(crate) fn dial_past_the_relay(&mut self, id: PeerId, claimed: &[Multiaddr]) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if peer.direct_since.is_some() || peer.tried_direct {
            return;
        }
        peer.tried_direct = true;
        let own: Vec<Multiaddr> = self
            .swarm
            .listeners()
            .filter(|a| !is_circuit(a))
            .cloned()
            .collect();
        let direct = worth_a_try(claimed, &own);
        if !direct.is_empty() {
            self.dial_if(PeerCondition::Always, id, direct);
        }
    }
}

/// What `traverse` remembers from turn to turn.
#[derive(Debug)]
pub(crate) struct Traversal {
    /// The last reachability acted on.
    pub(crate) reach: Option<Reach>,
    /// Whether we offer to relay.
    relaying: bool,
    next_search: Instant,
}

impl Traversal {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            reach: None,
            relaying: false,
            next_search: now + Duration::from_secs(2),
        }
    }
}
