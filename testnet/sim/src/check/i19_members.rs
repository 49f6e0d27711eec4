//! I19: the network of a lease has no member that holds no unit of it, but its buyer's node.
//!
//! 1. When an honest node opens a network at its buyer's word, the lease lives in its ledger, it
//!    holds units there, and every other member does, for each of its ranks one. The rank
//!    [`OWNER`] needs none: the node of the lease's buyer alone has it. Nor do those of guests,
//!    which an honest buyer gives to nodes of [`neighbour`](crate::load::neighbour)s alone.
//! 2. After each of its steps all members still hold units. They may be fewer than ranks until the
//!    buyer has taken some off.
//! 3. All members have one secret, and no two leases the same.

use super::{Check, Sight};
use crate::found::{account_key, node_key};
use crate::load::neighbour;
use crate::world::World;
use gridbay_core::cluster::{Cluster, GUESTS, OWNER, is_task};
use gridbay_core::effect::Effect;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The networks that honest nodes are in.
    open: BTreeMap<(usize, LeaseId), Cluster>,
    secrets: BTreeMap<[u8; 32], LeaseId>,
}

/// Units of a lease by node, without the code of the node.
fn units(state: &State, lease: &LeaseId) -> BTreeMap<PublicKey, u32> {
    let mut units = BTreeMap::new();
    let shares = state.lease(lease).map_or(&[][..], |l| &l.shares[..]);
    for share in shares {
        if let Some(offer) = state.offer(&share.offer) {
            *units.entry(offer.terms.node).or_default() += share.units;
        }
    }
    units
}

/// Who has a part in a lease.
struct Parts {
    units: BTreeMap<PublicKey, u32>,
    /// The node of the account that uses it: its buyer's, or under a contract its client's. None
    /// once nobody may start tasks any more.
    owner: Option<PublicKey>,
    /// The only node that it takes as a guest; none if it may be any.
    guest: Option<PublicKey>,
}

impl Parts {
    fn of(state: &State, world: &World, lease: &LeaseId) -> Parts {
        let nodes = world.machines.len();
        let user = state.lease(lease).and_then(|l| state.user(&l.order));
        let buyer = user.map(|user| user.account);
        let account = |n: &usize| state.account_of(&account_key(*n).public());
        let owner = (0..nodes).find(|n| buyer.is_some() && account(n) == buyer);
        // A lying buyer may invite anybody: its lease is its own.
        let host = owner.filter(|n| world.machines[*n].is_honest());
        Parts {
            units: units(state, lease),
            owner: owner.map(node_key),
            guest: host.map(|host| node_key(neighbour(host, nodes))),
        }
    }

    /// Step 2.
    fn hold(&self, node: usize, cluster: &Cluster) -> Result<(), String> {
        for (key, ranks) in all(node, cluster) {
            let owns = !self.units.is_empty() && self.owner.is_none_or(|owner| owner == key);
            let tasks = ranks.iter().any(|rank| is_task(*rank));
            let guest = ranks.iter().any(|rank| GUESTS.contains(rank));
            let invited = self.guest.is_none_or(|guest| guest == key);
            let unfit = tasks && !self.units.contains_key(&key) || guest && !invited;
            if unfit || ranks.contains(&OWNER) && !owns {
                return Err(format!("{key} in lease {} without a unit", cluster.lease));
            }
        }
        Ok(())
    }

    /// Step 1.
    fn held(&self, node: usize, cluster: &Cluster) -> Result<(), String> {
        self.hold(node, cluster)?;
        for (key, ranks) in all(node, cluster) {
            let units = self.units.get(&key).copied().unwrap_or_default();
            let tasks = ranks.iter().filter(|rank| is_task(**rank)).count();
            if ranks.is_empty() || tasks > units as usize {
                let lease = cluster.lease;
                return Err(format!(
                    "{tasks} ranks of {key} in lease {lease} on {units} units"
                ));
            }
        }
        Ok(())
    }
}

/// The members, with their ranks, of the network that a node is in.
fn all(node: usize, cluster: &Cluster) -> Vec<(PublicKey, &[u32])> {
    let others = cluster.others.iter().map(|m| (m.node, &m.ranks[..]));
    others
        .chain([(node_key(node), &cluster.ranks[..])])
        .collect()
}

impl Members {
    /// Step 3.
    fn secret(&mut self, node: usize, cluster: &Cluster) -> Result<(), String> {
        let of = *self.secrets.entry(cluster.secret).or_insert(cluster.lease);
        let last = self.open.insert((node, cluster.lease), cluster.clone());
        let others = self.open.values().filter(|c| c.lease == cluster.lease);
        let one = others.chain(&last).all(|c| c.secret == cluster.secret);
        (one && of == cluster.lease).then_some(()).ok_or(format!(
            "two secrets for lease {}, or one for two",
            cluster.lease
        ))
    }
    fn effect(
        &mut self,
        parts: impl Fn(&LeaseId) -> Parts,
        node: usize,
        effect: &Effect,
    ) -> Result<(), String> {
        match effect {
            Effect::Connect { cluster, token } => {
                if token.is_some() {
                    parts(&cluster.lease).held(node, cluster)?;
                }
                self.secret(node, cluster)
            }
            Effect::Disconnect(lease) => {
                self.open.remove(&(node, *lease));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Check for Members {
    fn id(&self) -> &'static str {
        "I19"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                let Some(state) = world.core(*node).map(gridbay_core::Core::state) else {
                    return Ok(());
                };
                let parts = |lease: &LeaseId| Parts::of(state, world, lease);
                for effect in *effects {
                    self.effect(parts, *node, effect)?;
                }
                let of_node = self.open.iter().filter(|((of, _), _)| of == node);
                for (_, cluster) in of_node {
                    let sound = parts(&cluster.lease).hold(*node, cluster);
                    sound.map_err(|e| format!("node {node}: {e}"))?;
                }
                Ok(())
            }
            Sight::Down { node } => {
                self.open.retain(|(of, _), _| of != node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::cluster::{Card, Member};

    fn cluster(lease: u8, secret: u8, others: &[(usize, &[u32])]) -> Cluster {
        let member = |(n, ranks): &(usize, &[u32])| Member {
            node: node_key(*n),
            ranks: ranks.to_vec(),
            card: Card {
                public: [*n as u8; 32],
                places: vec![],
                outside: None,
            },
            relays: vec![],
        };
        Cluster {
            lease: LeaseId([lease; 32]),
            secret: [secret; 32],
            ranks: vec![0],
            others: others.iter().map(member).collect(),
        }
    }

    #[test]
    fn a_member_without_units_is_reported() {
        let parts = Parts {
            units: BTreeMap::from([(node_key(0), 1), (node_key(1), 2)]),
            owner: Some(node_key(3)),
            guest: Some(node_key(4)),
        };
        let check = |others: &[(usize, &[u32])]| parts.held(0, &cluster(1, 1, others));
        assert!(check(&[(1, &[1, 2])]).is_ok());
        assert!(check(&[(2, &[1])]).is_err(), "a stranger");
        assert!(check(&[(1, &[1, 2, 3])]).is_err(), "more than its units");
        assert!(check(&[(3, &[OWNER])]).is_ok(), "the buyer's");
        assert!(check(&[(3, &[4, OWNER])]).is_err(), "a task of the buyer's");
        assert!(check(&[(1, &[1, OWNER])]).is_err(), "in the buyer's place");
        assert!(check(&[(4, &[GUESTS.start])]).is_ok(), "its guest");
        assert!(check(&[(4, &[5])]).is_err(), "a task of its guest's");
        assert!(check(&[(2, &[GUESTS.start])]).is_err(), "nobody's guest");
        assert!(parts.held(2, &cluster(1, 1, &[])).is_err(), "itself");
        let units = BTreeMap::new();
        let over = Parts { units, ..parts };
        assert!(over.held(3, &cluster(1, 1, &[])).is_err(), "over");
    }

    #[test]
    fn secrets_that_are_shared_wrongly_are_reported() {
        let mut check = Members::default();
        assert!(check.secret(0, &cluster(1, 1, &[])).is_ok());
        assert!(check.secret(1, &cluster(1, 1, &[])).is_ok());
        assert!(check.secret(1, &cluster(2, 2, &[])).is_ok());
        assert!(
            check.secret(2, &cluster(2, 1, &[])).is_err(),
            "another lease's"
        );
        assert!(
            check.secret(2, &cluster(1, 3, &[])).is_err(),
            "a second one"
        );
    }
}
