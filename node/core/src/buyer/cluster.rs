//! The buyer introduces the nodes of a lease to one another: [`crate::cluster`], steps 1 and 3.

use super::Buyer;
use super::ask::{ANSWER_MS, Question};
use super::introductions::{AGAIN_MS, RETRY_MS, Told};
use crate::agent::{AgentReply, AgentRequest};
use crate::cluster::{Card, Cluster};
use crate::effect::Effect;
use crate::key::OrderKey;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;

impl Buyer {
    /// Tells the nodes of an order's leases of one another, those for which there is something new.
    pub(super) fn introduce(&mut self, key: OrderKey, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if !agent.order().spec.network {
            return;
        }
        let due = agent.introductions.due(&agent.tasks, now_ms);
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
        let sound = |card: &Card| card.is_valid() && !known.is_anothers(place, card);
        let card = match reply {
            Some(AgentReply::Card(card)) => Some(card).filter(sound),
            _ => None,
        };
        let Some(told) = known.told.get_mut(&place) else {
            return;
        };
        match card {
            Some(card) => {
                (told.heard, told.until_ms) = (true, now_ms + AGAIN_MS);
                known.cards.insert(place, card);
            }
            None => told.until_ms = now_ms + RETRY_MS,
        }
    }
}
