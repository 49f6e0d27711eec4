//! The ways between members of networks, played by the world.
//!
//! In a third of the leases no member reaches another but through a relay that carries for both. A
//! relay forgets what it carries for when its process ends, and so do members.

use super::World;
use crate::found::{node_key, node_secret, place};
use gridbay_core::agent::AgentReply;
use gridbay_core::cluster::{Card, RelayWay};
use gridbay_core::effect::Effect;
use gridbay_core::relay::{ByRelay, Carried, Grant, Link, Links, Purse, Signed, Ticket};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;

/// Whether members of a lease need relays.
fn is_severed(lease: &LeaseId) -> bool {
    lease.0[0].is_multiple_of(3)
}

/// Eight bytes of a key that none was given up for.
const FIRST: u64 = u64::from_be_bytes([9; 8]);

impl World {
    /// The card of a node in a lease: a new key after each start, and for each that it gave up.
    pub(crate) fn card(&self, n: usize, lease: &LeaseId) -> Card {
        let machine = &self.machines[n];
        let given_up = machine.plane.given_up.get(lease).copied();
        let mut public = [9; 32];
        public[..8].copy_from_slice(&(n as u64).to_be_bytes());
        public[8..16].copy_from_slice(&machine.life.to_be_bytes());
        public[16..24].copy_from_slice(&(FIRST + given_up.unwrap_or(0)).to_be_bytes());
        let places = vec![place(n)];
        Card {
            public,
            places,
            outside: None,
        }
    }

    pub(super) fn perform_on_plane(&mut self, n: usize, effect: Effect) {
        let plane = &mut self.machines[n].plane;
        match effect {
            Effect::Connect { cluster, .. } => {
                plane.clusters.insert(cluster.lease, cluster);
            }
            Effect::Disconnect(lease) => {
                plane.clusters.remove(&lease);
            }
            Effect::ShowLinks {
                token,
                lease,
                others,
            } => {
                let nodes = others.iter().map(|(node, _)| *node);
                let links = nodes.filter_map(|node| self.link(n, &lease, node));
                let links: Vec<Link> = links.collect();
                let by_relays = links.iter().flat_map(|link| &link.relayed);
                let came = by_relays.map(|by| (by.ticket, by.received));
                self.machines[n].plane.came.extend(came);
                let said = Links { lease, links };
                let signed = Signed::new(&self.network, said, &node_secret(n));
                self.answer(n, token, AgentReply::Links(Box::new(signed)));
            }
            Effect::Relay { token, grant } => {
                let carried = self.carried(n, &grant);
                let plane = &mut self.machines[n].plane;
                plane.grants.insert((grant.purse, grant.carries), grant);
                if let Some(token) = token {
                    let signed = Signed::new(&self.network, carried, &node_secret(n));
                    self.answer(n, token, AgentReply::Carried(Box::new(signed)));
                }
            }
            Effect::EndRelay { purse, carries } => {
                plane.grants.remove(&(purse, carries));
            }
            _ => {}
        }
    }

    fn carried(&self, n: usize, grant: &Grant) -> Carried {
        let bytes = self.now;
        Carried {
            carries: grant.carries,
            paid_by: match grant.purse {
                Purse::Lease(lease) => Some(lease),
                Purse::Free(_) => None,
            },
            places: vec![place(n)],
            left: grant.bytes,
            bytes: grant.pairs.iter().map(|_| [bytes; 2]).collect(),
        }
    }

    /// The relays that a member was told for another.
    fn told(&self, n: usize, lease: &LeaseId, other: &PublicKey) -> &[RelayWay] {
        let cluster = self.machines[n].plane.clusters.get(lease);
        let member = cluster.and_then(|c| c.others.iter().find(|m| m.node == *other));
        member.map_or(&[], |m| &m.relays)
    }

    /// Whether the node at a place carries for two tickets.
    fn carries(&self, at: &str, tickets: [Ticket; 2]) -> bool {
        let relay = (0..self.machines.len()).find(|n| place(*n) == at);
        relay
            .filter(|n| self.machines[*n].is_up())
            .is_some_and(|n| {
                let mut grants = self.machines[n].plane.grants.values();
                grants.any(|grant| {
                    let mut pairs = grant.pairs.iter().map(|pair| pair.ends());
                    pairs.any(|ends| ends.iter().all(|end| tickets.contains(end)))
                })
            })
    }

    fn link(&self, n: usize, lease: &LeaseId, node: PublicKey) -> Option<Link> {
        let other = self.node_of(node.as_bytes())?;
        let theirs = self.told(other, lease, &node_key(n));
        let mut used = !is_severed(lease);
        let mut relayed = Vec::new();
        let came = &self.machines[n].plane.came;
        for way in self.told(n, lease, &node) {
            let same = |their: &&RelayWay| their.place == way.place;
            let mut both = theirs.iter().filter(same);
            let carries = both.any(|t| self.carries(&way.place, [way.ticket, t.ticket]));
            let now = carries && !used;
            used |= now;
            relayed.push(ByRelay {
                ticket: way.ticket,
                sent: self.now,
                received: match now {
                    true => self.now,
                    false => *came.get(&way.ticket).unwrap_or(&0),
                },
                answers: carries,
                used: now,
            });
        }
        let reached = used;
        Some(Link {
            node,
            reached,
            relayed,
        })
    }
}
