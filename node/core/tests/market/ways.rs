//! The ways between members of networks as a world plays them: all reach one another, or none does
//! without a relay that carries.

use crate::genesis::{key, node_key};
use crate::world::World;
use gridbay_core::agent::AgentReply;
use gridbay_core::cluster::{Card, Cluster, RelayWay};
use gridbay_core::relay::{ByRelay, Carried, Grant, Link, Links, Purse, Signed};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Cards that are not their tellers' own.
#[derive(Default)]
pub(crate) struct Copies {
    /// What nodes tell in place of their own.
    pub(crate) told: BTreeMap<usize, Card>,
    /// Keys that nodes have given up, since others bore them.
    pub(crate) given_up: BTreeSet<[u8; 32]>,
}

impl World {
    /// The networks that a node is in.
    pub(crate) fn clusters(&self, n: usize) -> impl Iterator<Item = &Cluster> {
        self.nodes[n].clusters.values()
    }
    /// The card of a node, another one after each start, and once another member bears its key.
    pub(crate) fn card(&self, n: usize) -> Card {
        let mut public = [n as u8 + 2; 32];
        public[31] = self.nodes[n].life as u8;
        while self.copies.given_up.contains(&public) {
            public[0] += 1;
        }
        let places = vec![format!("127.0.0.1:{}", 4_000 + n)];
        Card {
            public,
            places,
            outside: None,
        }
    }

    fn signed<T: Serialize>(&self, n: usize, said: T) -> Box<Signed<T>> {
        let network = self.genesis.network();
        Box::new(Signed::new(&network, said, &key(2, n as u8)))
    }

    pub(crate) fn carry(&mut self, n: usize, token: Option<u64>, grant: Grant) {
        let bytes = self.now / 10;
        let carried = Carried {
            carries: grant.carries,
            paid_by: match grant.purse {
                Purse::Lease(lease) => Some(lease),
                Purse::Free(_) => None,
            },
            places: self.card(n).places,
            left: grant.bytes,
            bytes: grant.pairs.iter().map(|_| [bytes; 2]).collect(),
        };
        let place = (grant.purse, grant.carries);
        self.nodes[n].relayed.insert(place, grant);
        if let Some(token) = token {
            let signed = self.signed(n, carried);
            self.answer(token, AgentReply::Carried(signed));
        }
    }

    /// Whether a relay carries what comes with this ticket.
    fn carries(&self, way: &RelayWay) -> bool {
        let relay = (0..self.nodes.len()).find(|n| self.card(*n).places[0] == way.place);
        let Some(n) = relay.filter(|n| self.nodes[*n].up && !self.fakes.contains(n)) else {
            return false;
        };
        let mut grants = self.nodes[n]
            .relayed
            .values()
            .flat_map(|grant| &grant.pairs);
        grants.any(|pair| pair.ends().contains(&way.ticket))
    }

    /// The relays that a member was told for another.
    pub(crate) fn told(&self, n: usize, lease: &LeaseId, other: &PublicKey) -> Vec<RelayWay> {
        let cluster = self.nodes[n].clusters.get(lease);
        let member = cluster.and_then(|c| c.others.iter().find(|m| m.node == *other));
        member.map(|m| m.relays.clone()).unwrap_or_default()
    }

    fn link(&self, n: usize, lease: &LeaseId, node: PublicKey) -> Link {
        let other = self.node_of(node.as_bytes()).expect("a known node");
        let theirs = self.told(other, lease, &node_key(n));
        let mut relayed = Vec::new();
        for way in self.told(n, lease, &node) {
            let both = theirs.iter().any(|t| t.place == way.place);
            let carries = self.carries(&way) && both;
            let used = carries && self.severed && !relayed.iter().any(|by: &ByRelay| by.used);
            let before = self.nodes[n].came.get(&way.ticket).copied();
            let more = if used { 1_000 } else { 0 };
            relayed.push(ByRelay {
                ticket: way.ticket,
                sent: self.now,
                received: before.unwrap_or_default() + more,
                answers: carries,
                used,
            });
        }
        if self.claimants.contains(&n) {
            relayed.push(ByRelay {
                ticket: [n as u8 + 1; 16],
                sent: self.now,
                received: self.now,
                answers: true,
                used: true,
            });
        }
        let reached = !self.severed || relayed.iter().any(|by| by.used);
        Link {
            node,
            reached,
            relayed,
        }
    }

    pub(crate) fn show_links(
        &mut self,
        n: usize,
        token: u64,
        lease: LeaseId,
        others: &[(PublicKey, [u8; 32])],
    ) {
        let others = others.iter().map(|(node, _)| *node);
        let links: Vec<Link> = others.map(|node| self.link(n, &lease, node)).collect();
        let by_relays = links.iter().flat_map(|link| &link.relayed);
        let came = by_relays.map(|by| (by.ticket, by.received));
        self.nodes[n].came.extend(came);
        let signed = self.signed(n, Links { lease, links });
        self.answer(token, AgentReply::Links(signed));
    }

    /// Whether the two members of a lease reach one another.
    pub(crate) fn is_whole(&self, lease: &LeaseId) -> bool {
        let mut links = (0..self.nodes.len()).flat_map(|n| {
            let cluster = self.nodes[n].clusters.get(lease);
            let others = cluster.into_iter().flat_map(|c| &c.others);
            others.map(move |m| self.link(n, lease, m.node))
        });
        links.clone().count() == 2 && links.all(|link| link.reached)
    }
}
