//! Introduces strangers to the nodes of its leases: nodes that hold no unit there, more ranks than a
//! node has units, or one rank twice.
//!
//! Attacks I19: a seller that believed it would let a stranger's packets into its jobs' network.

use super::{Lie, Puppet};
use crate::found::node_key;
use gridbay_core::agent::AgentRequest;
use gridbay_core::cluster::{Card, Cluster, Member};
use gridbay_core::effect::Effect;

/// Of a million introductions this many are lies.
const OFTEN: u64 = 500_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct IntrudingBuyer {
    deeds: u64,
}

fn bend(puppet: &mut Puppet<'_>, cluster: &mut Cluster) {
    let free = 1 + cluster.ranks.iter().max().copied().unwrap_or_default();
    match puppet.rng.below(3) {
        // Itself: it holds no unit of what it has leased from others.
        0 => {
            let card = Card {
                public: puppet.rng.bytes32(),
                places: vec!["192.0.2.66:7412".to_owned()],
            };
            let stranger = Member {
                node: node_key(puppet.node),
                ranks: vec![free + 100],
                card,
            };
            cluster.others.push(stranger);
            cluster.others.sort_by_key(|m| m.node);
        }
        1 => {
            for member in &mut cluster.others {
                member.ranks = (200..240).collect();
            }
        }
        _ => cluster.ranks.push(free + 100),
    }
}

impl Lie for IntrudingBuyer {
    fn effects(&mut self, puppet: &mut Puppet<'_>, mut effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &mut effects {
            if let Effect::Ask { request, .. } = effect
                && let AgentRequest::Connect(cluster) = request
                && puppet.rng.chance(OFTEN)
            {
                self.deeds += 1;
                bend(puppet, cluster);
            }
        }
        effects
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
