//! The buyer introduces the nodes of a lease to one another: [`crate::cluster`], steps 1 and 3.

use super::Buyer;
use super::ask::{ANSWER_MS, Question};
use super::order::OrderAgent;
use crate::agent::{AgentReply, AgentRequest, Phase};
use crate::cluster::{Card, Cluster, Member};
use crate::effect::Effect;
use crate::key::OrderKey;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Milliseconds after which a node is told again although nothing has changed.
const AGAIN_MS: u64 = 10_000;
/// Milliseconds after which a node that did not answer, or refused, is told again.
const RETRY_MS: u64 = 500;

/// A node of a lease.
type Place = (LeaseId, PublicKey);

/// What is known of the nodes of an order's leases. Kept in memory alone: after a restart all are
/// asked again.
#[derive(Clone, Debug, Default)]
pub(super) struct Introductions {
    cards: BTreeMap<Place, Card>,
    told: BTreeMap<Place, Told>,
}

/// What a node was told last.
#[derive(Clone, Debug)]
struct Told {
    ranks: Vec<u32>,
    others: Vec<Member>,
    /// Whether its answer came.
    heard: bool,
    /// It is not asked before.
    until_ms: u64,
}

impl OrderAgent {
    /// The ranks that run on each node of each lease.
    fn members(&self) -> BTreeMap<LeaseId, BTreeMap<PublicKey, Vec<u32>>> {
        let mut members: BTreeMap<LeaseId, BTreeMap<PublicKey, Vec<u32>>> = BTreeMap::new();
        let runs = self.tasks.runs.values();
        for run in runs.filter(|r| r.accepted && !matches!(r.phase, Phase::Ended { .. })) {
            let nodes = members.entry(run.job.lease).or_default();
            nodes.entry(run.node).or_default().push(run.job.task);
        }
        members
    }
}

impl Introductions {
    /// What to tell which node now.
    fn due(
        &mut self,
        members: BTreeMap<LeaseId, BTreeMap<PublicKey, Vec<u32>>>,
        now_ms: u64,
    ) -> Vec<(Place, Vec<u32>, Vec<Member>)> {
        let is_member = |(lease, node): &Place| {
            let nodes = members.get(lease);
            nodes.is_some_and(|nodes| nodes.contains_key(node))
        };
        self.cards.retain(|place, _| is_member(place));
        self.told.retain(|place, _| is_member(place));
        let mut due = Vec::new();
        for (lease, nodes) in &members {
            for (node, ranks) in nodes {
                let others = self.others(*lease, nodes, node);
                let told = self.told.get(&(*lease, *node));
                let same = told.is_some_and(|t| t.heard && t.ranks == *ranks && t.others == others);
                let rests = told.is_some_and(|t| now_ms < t.until_ms);
                let asking = told.is_some_and(|t| !t.heard);
                if !(rests && (same || asking)) {
                    due.push(((*lease, *node), ranks.clone(), others));
                }
            }
        }
        due
    }

    /// The nodes beside `node` whose cards are known.
    fn others(
        &self,
        lease: LeaseId,
        nodes: &BTreeMap<PublicKey, Vec<u32>>,
        node: &PublicKey,
    ) -> Vec<Member> {
        let others = nodes.iter().filter(|(other, _)| *other != node);
        let member = |(other, ranks): (&PublicKey, &Vec<u32>)| {
            let card = self.cards.get(&(lease, *other))?.clone();
            Some(Member {
                node: *other,
                ranks: ranks.clone(),
                card,
            })
        };
        others.filter_map(member).collect()
    }
}

impl Buyer {
    /// Tells the nodes of an order's leases of one another, those for which there is something new.
    pub(super) fn introduce(&mut self, key: OrderKey, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if !agent.order().spec.network {
            return;
        }
        let members = agent.members();
        let due = agent.introductions.due(members, now_ms);
        let mut asks = Vec::new();
        for (place, ranks, others) in due {
            let told = Told {
                ranks: ranks.clone(),
                others: others.clone(),
                heard: false,
                until_ms: now_ms + ANSWER_MS,
            };
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
        let Some(told) = known.told.get_mut(&place) else {
            return;
        };
        match reply {
            Some(AgentReply::Card(card)) if card.is_valid() => {
                (told.heard, told.until_ms) = (true, now_ms + AGAIN_MS);
                known.cards.insert(place, card);
            }
            _ => told.until_ms = now_ms + RETRY_MS,
        }
    }
}
