//! Introduces strangers to the nodes of its leases: nodes that hold no unit there, more ranks than
//! a node has units, ranks that nobody runs, others in its own place. Now and then it introduces
//! itself to a node of somebody else's lease.
//!
//! Attacks I19: a seller that believed it would let a stranger's packets into its jobs' network.

use super::{Lie, Puppet};
use crate::found::{account_key, node_key};
use gridbay_core::agent::AgentRequest;
use gridbay_core::cluster::{Card, Cluster, Member, OWNER};
use gridbay_core::effect::Effect;
use gridbay_ledger::Lease;
use gridbay_protocol::lease::Share;

/// Of a million introductions this many are lies.
const OFTEN: u64 = 500_000;
/// Of a million whims this many introduce it to others' leases.
const SELDOM: u64 = 100_000;
/// Tokens of its own questions, apart from its process's.
const TOKENS: u64 = 1 << 60;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct IntrudingBuyer {
    deeds: u64,
}

fn itself(puppet: &mut Puppet<'_>, rank: u32) -> Member {
    let mut public = puppet.rng.bytes32();
    // The bit that no key has.
    public[31] &= 0x7f;
    Member {
        node: node_key(puppet.node),
        ranks: vec![rank],
        card: Card {
            public,
            places: vec!["192.0.2.66:7412".to_owned()],
            outside: None,
        },
        relays: vec![],
    }
}

/// Introduces itself to a node of somebody else's lease.
fn intrude(puppet: &mut Puppet<'_>, token: u64) -> Option<Effect> {
    let state = puppet.state();
    let node = |share: &Share| state.offer(&share.offer).map(|o| o.terms.node);
    let own = state.account_of(&account_key(puppet.node).public());
    let others = |lease: &Lease| state.user(&lease.order).map(|user| user.account) != own;
    let leases = state.leases().filter(|(_, lease)| others(lease));
    let leases = leases.map(|(id, lease)| (*id, &lease.shares));
    let places = leases.filter_map(|(id, shares)| Some((id, node(shares.first()?)?)));
    let places: Vec<_> = places.collect();
    let (lease, to) = *puppet.rng.pick(&places)?;
    let rank = *puppet.rng.pick(&[9, OWNER])?;
    let cluster = Cluster {
        lease,
        secret: puppet.rng.bytes32(),
        ranks: vec![0],
        others: vec![itself(puppet, rank)],
    };
    let request = AgentRequest::Connect(Box::new(cluster));
    Some(Effect::Ask { token, to, request })
}

fn bend(puppet: &mut Puppet<'_>, cluster: &mut Cluster) {
    let free = 1 + cluster.ranks.iter().max().copied().unwrap_or_default();
    match puppet.rng.below(4) {
        // It holds no unit of what it has leased from others.
        0 => {
            cluster.others.push(itself(puppet, free + 100));
            cluster.others.sort_by_key(|m| m.node);
        }
        1 => {
            for member in &mut cluster.others {
                member.ranks = (200..240).collect();
            }
        }
        2 => {
            for member in &mut cluster.others {
                member.ranks = vec![OWNER];
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
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        if !puppet.rng.chance(SELDOM) {
            return vec![];
        }
        let intrusion = intrude(puppet, TOKENS + self.deeds);
        self.deeds += u64::from(intrusion.is_some());
        intrusion.into_iter().collect()
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
