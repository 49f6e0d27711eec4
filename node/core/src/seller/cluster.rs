//! The networks of the leases that this node serves, as their buyers want them and the ledger
//! allows: [`crate::cluster`], steps 2 and 4.

use super::{Job, Seller};
use crate::agent::{AgentReply, RunId, StartRefusal};
use crate::cluster::Cluster;
use crate::effect::Effect;
use crate::input::AnswerToken;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

impl Seller {
    /// A buyer's node tells which nodes a lease has.
    pub fn connect(
        &mut self,
        state: &State,
        token: AnswerToken,
        from: &PublicKey,
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

    fn check_cluster(
        &self,
        state: &State,
        from: &PublicKey,
        cluster: &Cluster,
    ) -> Result<(), StartRefusal> {
        if !cluster.is_valid() {
            return Err(StartRefusal::Invalid);
        }
        let units = units_by_node(state, &cluster.lease);
        if units.is_empty() {
            return Err(StartRefusal::NoLease);
        }
        let served = |rank: &u32| {
            let of_rank = |(id, job): (&RunId, &Job)| {
                id.lease == cluster.lease
                    && id.task == *rank
                    && job.memo.buyer == *from
                    && job.is_networked()
            };
            self.jobs.iter().any(of_rank)
        };
        if !cluster.ranks.iter().all(served) {
            return Err(StartRefusal::NotBuyer);
        }
        let strangers = cluster.others.iter().any(|other| {
            let held = units.get(&other.node).copied().unwrap_or_default();
            other.node == self.node || other.ranks.len() > held as usize
        });
        match strangers {
            true => Err(StartRefusal::NotMine),
            false => Ok(()),
        }
    }

    /// Leaves the networks in which nothing of this node runs any more, and cuts off the members
    /// that hold no unit of their lease any more.
    pub(super) fn keep_clusters(&mut self, state: &State, effects: &mut Vec<Effect>) {
        let mut gone = Vec::new();
        for (lease, cluster) in &mut self.clusters {
            let units = units_by_node(state, lease);
            let runs = |(id, job): (&RunId, &Job)| id.lease == *lease && job.is_networked();
            // A job that is told to stop for want of a unit has no network for its grace.
            if !units.contains_key(&self.node) || !self.jobs.iter().any(runs) {
                gone.push(*lease);
                continue;
            }
            let before = cluster.others.len();
            cluster.others.retain(|m| units.contains_key(&m.node));
            if cluster.others.len() < before {
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
