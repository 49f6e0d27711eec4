//! What the nodes of an order's leases have said of themselves, and were told of one another.
//! Kept in memory alone: after a restart all are asked again.

use super::tasks::Tasks;
use crate::agent::Phase;
use crate::cluster::{Card, Member};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Milliseconds after which a node is told again although nothing has changed.
pub(super) const AGAIN_MS: u64 = 10_000;
/// Milliseconds after which a node that did not answer, or refused, is told again.
pub(super) const RETRY_MS: u64 = 500;

/// A node of a lease.
type Place = (LeaseId, PublicKey);

/// What is known of the nodes of an order's leases.
#[derive(Clone, Debug, Default)]
pub(super) struct Introductions {
    pub(super) cards: BTreeMap<Place, Card>,
    pub(super) told: BTreeMap<Place, Told>,
}

/// What a node was told last.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) ranks: Vec<u32>,
    pub(super) others: Vec<Member>,
    /// Whether its answer came.
    pub(super) heard: bool,
    /// It is not asked before.
    pub(super) until_ms: u64,
}

/// The ranks that run on each node of each lease.
type Members = BTreeMap<LeaseId, BTreeMap<PublicKey, Vec<u32>>>;

fn members(tasks: &Tasks) -> Members {
    let mut members = Members::new();
    let runs = tasks.runs.values();
    for run in runs.filter(|r| r.accepted && !matches!(r.phase, Phase::Ended { .. })) {
        let nodes = members.entry(run.job.lease).or_default();
        nodes.entry(run.node).or_default().push(run.job.task);
    }
    members
}

impl Introductions {
    /// What to tell which node now.
    pub(super) fn due(
        &mut self,
        tasks: &Tasks,
        now_ms: u64,
    ) -> Vec<(Place, Vec<u32>, Vec<Member>)> {
        let members = members(tasks);
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
