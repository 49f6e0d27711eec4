//! The networks of the leases that this node serves, as their buyers want them and the ledger
//! allows: [`crate::cluster`], steps 2 and 4.

use super::{Job, Seller};
use crate::agent::{AgentReply, RunId, StartRefusal};
use crate::cluster::{Cluster, GUESTS, OWNER, is_task};
use crate::effect::Effect;
use crate::input::AnswerToken;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

impl Seller {
    /// A buyer's node tells which nodes a lease has; with whether this node asked that one for a
    /// guest's place.
    pub fn connect(
        &mut self,
        state: &State,
        token: AnswerToken,
        from: (&PublicKey, bool),
        cluster: Cluster,
        effects: &mut Vec<Effect>,
    ) {
        if let Err(why) = self.check_cluster(state, from, &cluster) {
            let reply = AgentReply::Refused(why);
            return effects.push(Effect::Answer { token, reply });
        }
        self.clusters.insert(cluster.lease, cluster.clone());
        let token = Some(token);
        effects.push(Effect::Connect { token, cluster });
    }

    /// Whether this node is in a lease's network.
    pub fn is_connected(&self, lease: &LeaseId) -> bool {
        self.clusters.contains_key(lease)
    }

    /// The other members of a lease's network with their keys, as its buyer's node may ask for:
    /// also that of which this node is a guest.
    pub(crate) fn others(
        &self,
        (from, guest): (&PublicKey, bool),
        lease: &LeaseId,
    ) -> Option<Vec<(PublicKey, [u8; 32])>> {
        let theirs = |(id, job): (&RunId, &Job)| id.lease == *lease && job.memo.buyer == *from;
        let cluster = self.clusters.get(lease)?;
        let others = cluster.others.iter().map(|m| (m.node, m.card.public));
        let asks = guest || *from == self.node || self.jobs.iter().any(theirs);
        asks.then(|| others.collect())
    }

    fn check_cluster(
        &self,
        state: &State,
        (from, guest): (&PublicKey, bool),
        cluster: &Cluster,
    ) -> Result<(), StartRefusal> {
        if !cluster.is_valid() {
            return Err(StartRefusal::Invalid);
        }
        let units = units_by_node(state, &cluster.lease);
        if units.is_empty() {
            return Err(StartRefusal::NoLease);
        }
        let own =
            |rank: &u32| *rank == OWNER && *from == self.node || GUESTS.contains(rank) && guest;
        let served = |rank: &u32| {
            let of_rank = |(id, job): (&RunId, &Job)| {
                id.lease == cluster.lease
                    && id.task == *rank
                    && job.memo.buyer == *from
                    && job.is_networked()
            };
            self.jobs.iter().any(of_rank)
        };
        if !cluster.ranks.iter().all(|r| own(r) || served(r)) {
            return Err(StartRefusal::NotBuyer);
        }
        let strangers = cluster.others.iter().any(|other| {
            let held = units.get(&other.node).copied().unwrap_or_default();
            let owns = other.ranks.ends_with(&[OWNER]);
            let ranks = other.ranks.iter().filter(|r| is_task(**r)).count();
            other.node == self.node || owns && other.node != *from || ranks > held as usize
        });
        match strangers {
            true => Err(StartRefusal::NotMine),
            false => Ok(()),
        }
    }

    /// Leaves the networks in which this node has no part any more, and cuts off the members that
    /// hold no unit of their lease any more. `attended` are those that this node is in
    /// as its buyer's or a guest's.
    pub(super) fn keep_clusters(
        &mut self,
        state: &State,
        attended: &BTreeSet<LeaseId>,
        effects: &mut Vec<Effect>,
    ) {
        let mut gone = Vec::new();
        for (lease, cluster) in &mut self.clusters {
            let units = units_by_node(state, lease);
            let runs = |(id, job): (&RunId, &Job)| id.lease == *lease && job.is_networked();
            // A job that is told to stop for want of a unit has no network for its grace.
            let serves = units.contains_key(&self.node) && self.jobs.iter().any(runs);
            let attends = !units.is_empty() && attended.contains(lease);
            let stays = |rank: &u32| if is_task(*rank) { serves } else { attends };
            let before = cluster.clone();
            cluster.ranks.retain(stays);
            if cluster.ranks.is_empty() {
                gone.push(*lease);
                continue;
            }
            for other in &mut cluster.others {
                let holds = units.contains_key(&other.node);
                other.ranks.retain(|rank| holds || !is_task(*rank));
            }
            cluster.others.retain(|other| !other.ranks.is_empty());
            if *cluster != before {
                let cluster = cluster.clone();
                effects.push(Effect::Connect {
                    token: None,
                    cluster,
                });
            }
        }
        for lease in gone {
            self.clusters.remove(&lease);
            effects.push(Effect::Disconnect(lease));
        }
    }
}

/// The nodes of a lease, with the units that each of them holds.
fn units_by_node(state: &State, lease: &LeaseId) -> BTreeMap<PublicKey, u32> {
    let mut units = BTreeMap::new();
    let shares = state.lease(lease).map(|l| l.shares.as_slice());
    for share in shares.unwrap_or_default() {
        if let Some(offer) = state.offer(&share.offer) {
            *units.entry(offer.terms.node).or_default() += share.units;
        }
    }
    units
}
