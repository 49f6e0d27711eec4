//! The rooms' requests to the swarm and to each other.

use std::time::Instant;

use libp2p::multiaddr::Protocol;
use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::{Multiaddr, PeerId, Swarm, kad, relay};

use super::Task;
use crate::overlay::event::Event;
use crate::overlay::reach::relays::Candidate;
use crate::overlay::wire::behaviour::Behaviour;
use crate::overlay::{dht, peers, reach, wire};

impl Task {
    /// Carries out what the rooms want, until none wants anything.
    pub(super) fn route(&mut self) {
        loop {
            let (peers, dht) = (self.peers.take_orders(), self.dht.take_orders());
            let (reach, wire) = (self.reach.take_orders(), self.wire.take_orders());
            if peers.is_empty() && dht.is_empty() && reach.is_empty() && wire.is_empty() {
                return;
            }
            peers.into_iter().for_each(|order| self.for_peers(order));
            dht.into_iter().for_each(|order| self.for_dht(order));
            reach.into_iter().for_each(|order| self.for_reach(order));
            wire.into_iter().for_each(|order| self.for_wire(order));
        }
    }

    fn for_peers(&mut self, order: peers::Order) {
        let (peers, behaviour) = (&self.peers, self.swarm.behaviour_mut());
        match order {
            peers::Order::Dial(peer, addresses) => {
                let condition = PeerCondition::DisconnectedAndNotDialing;
                if !dial(&mut self.swarm, peer, addresses, condition) {
                    self.peers.dial_failed(&peer);
                }
            }
            peers::Order::Disconnect(peer) => self.disconnect(peer),
            peers::Order::Close(connection) => {
                self.swarm.close_connection(connection);
            }
            peers::Order::Block(peer) => {
                behaviour.blocked.block_peer(peer);
            }
            peers::Order::Unblock(peer) => {
                behaviour.blocked.unblock_peer(peer);
            }
            peers::Order::Slot(peer, kept) => {
                behaviour.gate.gate.keep(peer, kept);
                behaviour.lines.keep(peer, kept);
            }
            peers::Order::Admitted(peer) => {
                peers.show(&behaviour.gossip);
                self.wire.deliver(Event::PeerConnected { peer });
                self.dht.on_admitted(&mut behaviour.kad, peers, peer);
            }
            peers::Order::Gone { peer, admitted } => {
                self.reach.on_gone(&peer);
                self.wire.on_gone(&peer);
                if admitted {
                    peers.show(&behaviour.gossip);
                    self.wire.deliver(Event::PeerDisconnected { peer });
                } else {
                    self.dht.on_hung_up(&mut behaviour.kad, peer);
                }
            }
            peers::Order::Met(addresses) => self.reach.met(&addresses),
            peers::Order::Seen { peer, host, at } => self.reach.on_seen(peer, host, at),
            peers::Order::TryDirect { peer, claimed } => self.reach.try_direct(peer, &claimed),
            peers::Order::EnterTable(peer, addresses) => {
                self.dht.enter_table(&mut behaviour.kad, &peer, &addresses);
            }
            peers::Order::LeaveTable(peer) => {
                behaviour.kad.remove_peer(&peer);
            }
            peers::Order::Seek(peer) => {
                self.dht.seek(&mut behaviour.kad, peers, peer);
            }
            peers::Order::EndSeek(peer, why) => self.dht.end_seek(&peer, why),
            peers::Order::Show => self.changed = true,
        }
    }

    fn for_dht(&mut self, order: dht::Order) {
        match order {
            dht::Order::Dial {
                peer,
                addresses,
                condition,
                first,
            } => {
                if !dial(&mut self.swarm, peer, addresses, condition) && first {
                    let kad = &mut self.swarm.behaviour_mut().kad;
                    self.dht.on_dial_refused(kad, peer);
                }
            }
            dht::Order::Learn(peer, addresses) => self.peers.learn(peer, addresses),
            dht::Order::Found(found) => self.peers.on_found(&found),
            dht::Order::Request { peer, bytes, reply } => {
                let request = &mut self.swarm.behaviour_mut().request;
                self.wire.request(request, &self.peers, peer, bytes, reply);
            }
        }
    }

    fn for_reach(&mut self, order: reach::Order) {
        let behaviour = self.swarm.behaviour_mut();
        match order {
            reach::Order::Dial(peer, addresses) => {
                dial(&mut self.swarm, peer, addresses, PeerCondition::Always);
            }
            reach::Order::Disconnect(peer) => self.disconnect(peer),
            reach::Order::Close(connection) => {
                self.swarm.close_connection(connection);
            }
            reach::Order::ForgetDirect(peer) => self.peers.forget_direct(&peer),
            reach::Order::Reserve(relay) => self.reserve(&relay),
            reach::Order::Unlisten(listener) => {
                self.swarm.remove_listener(listener);
            }
            reach::Order::Withdraw(address) => self.swarm.remove_external_address(&address),
            reach::Order::Suggest(address) => behaviour.observed.suggest(address),
            reach::Order::Serve(serves) => {
                let mode = if serves {
                    kad::Mode::Server
                } else {
                    kad::Mode::Client
                };
                behaviour.kad.set_mode(Some(mode));
            }
            reach::Order::Relay(relays) => {
                let status = if relays {
                    relay::Status::Enable
                } else {
                    relay::Status::Disable
                };
                if let Some(relaying) = behaviour.relaying.as_mut() {
                    relaying.set_status(Some(status));
                }
                self.dht.relay(&mut behaviour.kad, relays);
            }
            reach::Order::SearchRelays => self.dht.search_relays(&mut behaviour.kad),
            reach::Order::Seek(peer) => {
                self.dht.seek(&mut behaviour.kad, &self.peers, peer);
            }
            reach::Order::Hurry => self.peers.hurry(),
            reach::Order::Listening(address) => self.wire.deliver(Event::Listening { address }),
            reach::Order::Tell => self.tell(Instant::now()),
            reach::Order::Traverse => self.traverse(Instant::now()),
        }
    }

    fn for_wire(&mut self, order: wire::Order) {
        let behaviour = self.swarm.behaviour_mut();
        match order {
            wire::Order::Penalise(peer, points) => {
                self.peers.penalise(&mut behaviour.gossip, peer, points);
            }
            wire::Order::Judge(peer) => self.peers.judge(&behaviour.gossip, peer),
            wire::Order::Seek { peer, bytes, reply } => {
                let (kad, peers) = (&mut behaviour.kad, &self.peers);
                self.dht.seek_for_request(kad, peers, peer, bytes, reply);
            }
            wire::Order::Show => self.changed = true,
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        // An error means that it has left by itself.
        let _gone = self.swarm.disconnect_peer_id(peer);
    }

    /// Asks a relay for a place.
    fn reserve(&mut self, relay: &Candidate) {
        let circuit = relay.address.clone();
        let circuit = circuit
            .with(Protocol::P2p(relay.peer))
            .with(Protocol::P2pCircuit);
        let asked = self.swarm.listen_on(circuit);
        self.reach
            .on_reserved(&self.peers, relay, asked, Instant::now());
    }
}

/// Begins a dial. Returns whether an event will tell how it ended.
pub(super) fn dial(
    swarm: &mut Swarm<Behaviour>,
    peer: PeerId,
    addresses: Vec<Multiaddr>,
    condition: PeerCondition,
) -> bool {
    let options = DialOpts::peer_id(peer)
        .condition(condition)
        .addresses(addresses)
        .build();
    match swarm.dial(options) {
        // Somebody else's dial (a lookup's) is under way and will end in an event.
        Ok(()) | Err(DialError::DialPeerConditionFalse(_)) => true,
        Err(error) => {
            tracing::debug!(%peer, %error, "could not dial");
            false
        }
    }
}
