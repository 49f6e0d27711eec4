//! The buyer introduces the nodes of a lease to one another: [`crate::cluster`], steps 1 and 3.

use super::Buyer;
use super::ask::Question;
use super::introductions::{RETRY_MS, Told};
use super::order::OrderAgent;
use super::pace::ANSWER_MS;
use super::setup;
use crate::agent::{AgentReply, AgentRequest, StartRefusal};
use crate::cluster::{Cluster, Visit, is_held};
use crate::effect::Effect;
use crate::key::OrderKey;
use crate::presence::Presence;
use crate::relay::Signed;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;

impl Buyer {
    /// Tells the nodes of an order's leases of one another, those for which there is something new.
    pub(super) fn introduce(&mut self, key: OrderKey, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if !agent.order().spec.network {
            return;
        }
        let wanted = agent.introductions.wanted;
        let attends = wanted.unwrap_or_else(|| is_held(&agent.order().spec));
        agent.introductions.owner = attends.then_some(self.node);
        let due = agent.introductions.due(&agent.tasks, &agent.relays, now_ms);
        let mut asks = Vec::new();
        for (place, ranks, others) in due {
            let told = agent.introductions.told.remove(&place);
            let told = Told::now(told, &ranks, &others, now_ms, now_ms + ANSWER_MS);
            agent.introductions.told.insert(place, told);
            let (lease, node) = place;
            let cluster = Cluster {
                lease,
                secret: agent.order().cluster_secret(&lease),
                ranks,
                others,
            };
            asks.push((lease, node, cluster));
        }
        for (lease, node, cluster) in asks {
            let request = AgentRequest::Connect(Box::new(cluster));
            self.ask(key, node, request, Question::Connect(lease, node), effects);
        }
    }

    /// A node was told of the others.
    pub(super) fn introduced(
        &mut self,
        key: OrderKey,
        place: (LeaseId, PublicKey),
        reply: Option<AgentReply>,
        now_ms: u64,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let known = &mut agent.introductions;
        let sound = |p: &Presence| p.is_valid() && !known.is_anothers(place, &p.card);
        let presence = match reply {
            Some(AgentReply::Present(presence)) => Some(*presence).filter(sound),
            _ => None,
        };
        let Some(presence) = presence else {
            if let Some(told) = known.told.get_mut(&place) {
                told.until_ms = now_ms + RETRY_MS;
            }
            return;
        };
        if let Some(setup) = known.hear(&agent.tasks, place, presence, now_ms) {
            setup::keep(&mut agent.record.setups, setup);
            agent.touch();
        }
    }

    /// This node becomes a member of the networks of an order, or is none any more. False if there
    /// is no such order, it is over, or has no network.
    pub fn attend(&mut self, key: &OrderKey, attends: bool) -> bool {
        let agent = self.orders.get_mut(key).filter(|a| a.finish().is_none());
        let Some(agent) = agent.filter(|a| a.order().spec.network) else {
            return false;
        };
        agent.introductions.wanted = Some(attends);
        if !attends {
            agent.introductions.owner = None;
        }
        true
    }

    /// The leases whose networks this node is in as their buyer's, or as a guest's.
    pub fn attended(&self) -> BTreeSet<LeaseId> {
        let of = |agent: &OrderAgent| agent.introductions.owned(&agent.tasks);
        let own = self.orders.values().flat_map(of);
        own.chain(self.visits().copied()).collect()
    }
}

impl Buyer {
    /// Sets whose nodes may become members of the networks of an order. False if there is no such
    /// order, it is over, or has no network.
    pub fn admit(&mut self, key: &OrderKey, keys: BTreeSet<PublicKey>) -> bool {
        let agent = self.orders.get_mut(key).filter(|a| a.finish().is_none());
        let agent = agent.filter(|a| a.order().spec.network);
        let admitted = agent.map(|agent| agent.introductions.guests.admit(keys));
        admitted.is_some()
    }

    /// A node asks for a place in the network of a lease of this node.
    pub(crate) fn visited(
        &mut self,
        state: &State,
        from: &PublicKey,
        signed: &Signed<Visit>,
        now_ms: u64,
    ) -> AgentReply {
        let visit = &signed.said;
        let meant = visit.node == *from && visit.owner == self.node && *from != self.node;
        if !meant {
            return AgentReply::Refused(StartRefusal::Invalid);
        }
        let holds = |agent: &&mut OrderAgent| {
            let mut runs = agent.tasks.runs.values();
            agent.order().spec.network && runs.any(|run| run.job.lease == visit.lease)
        };
        let Some(agent) = self.orders.values_mut().find(holds) else {
            return AgentReply::Refused(StartRefusal::NoLease);
        };
        let guests = &mut agent.introductions.guests;
        // Signatures of strangers are not worth a look.
        let known = guests.has_admitted(&visit.key) || guests.has_dismissed(&visit.key);
        if !known || signed.verify(&state.network(), &visit.key).is_err() {
            return AgentReply::Refused(StartRefusal::NotBuyer);
        }
        match guests.visit(visit, now_ms) {
            true => AgentReply::Ok,
            false if guests.has_dismissed(&visit.key) => {
                AgentReply::Refused(StartRefusal::Dismissed)
            }
            false => AgentReply::Refused(StartRefusal::NotBuyer),
        }
    }
}
