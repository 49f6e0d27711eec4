//! I19, for keys: no two members of a lease's network have one key, whatever a liar copies.
//!
//! 1. No honest node's network has two other members with one key.
//! 2. An honest buyer's node tells nobody of two with one key either.
//! 3. Nor does it tell an honest node of another with its own key, once it has told others that
//!    this is the node's. That is so until it forgets: with its own end, or when the node has been
//!    none of the members.

use super::{Check, Sight};
use crate::world::World;
use gridbay_core::agent::AgentRequest;
use gridbay_core::cluster::{Cluster, Member};
use gridbay_core::effect::Effect;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The keys of members, as a buyer's node has told others of them.
    told: BTreeMap<(usize, LeaseId), BTreeMap<PublicKey, [u8; 32]>>,
}

/// A key without its highest bit, which does not count: all its spellings become one.
fn spelled(mut public: [u8; 32]) -> [u8; 32] {
    public[31] &= 0x7f;
    public
}

/// Steps 1 and 2.
fn distinct(cluster: &Cluster) -> Result<(), String> {
    let keys = cluster.others.iter().map(|m| spelled(m.card.public));
    let keys: BTreeSet<_> = keys.collect();
    match keys.len() == cluster.others.len() {
        true => Ok(()),
        false => Err(format!("two members of lease {}, one key", cluster.lease)),
    }
}

impl Keys {
    /// Steps 2 and 3. `own` is the key of the node that is told, if it is honest; `known` are those
    /// of whom the buyer's node still knows.
    fn tells(
        &mut self,
        buyer: usize,
        (to, own): (&PublicKey, Option<[u8; 32]>),
        known: &BTreeSet<PublicKey>,
        cluster: &Cluster,
    ) -> Result<(), String> {
        distinct(cluster)?;
        let told = self.told.entry((buyer, cluster.lease)).or_default();
        told.retain(|node, _| known.contains(node));
        let is_owner = own.is_some() && told.get(to).copied() == own;
        let bears = |m: &&Member| is_owner && own == Some(spelled(m.card.public));
        if let Some(copier) = cluster.others.iter().find(bears) {
            let (lease, by) = (cluster.lease, copier.node);
            return Err(format!("{to} in lease {lease}: {by} is told with its key"));
        }
        let keys = cluster.others.iter();
        told.extend(keys.map(|m| (m.node, spelled(m.card.public))));
        Ok(())
    }

    fn effect(&mut self, world: &World, node: usize, effect: &Effect) -> Result<(), String> {
        let (to, request) = match effect {
            Effect::Connect { cluster, .. } => return distinct(cluster),
            Effect::Ask { to, request, .. } => (to, request),
            _ => return Ok(()),
        };
        let (AgentRequest::Connect(cluster), Some(core)) = (request, world.core(node)) else {
            return Ok(());
        };
        let honest = world.node_of(to.as_bytes());
        let honest = honest.filter(|n| world.machines[*n].is_honest());
        let own = honest.map(|n| spelled(world.card(n, &cluster.lease).public));
        let orders = core.buyer().orders();
        let heard = orders.flat_map(|(_, agent)| agent.introductions().reached(&cluster.lease));
        let known = heard.map(|member| member.node).collect();
        self.tells(node, (to, own), &known, cluster)
    }
}

impl Check for Keys {
    fn id(&self) -> &'static str {
        "I19"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                let mut effects = effects.iter();
                effects.try_for_each(|effect| self.effect(world, *node, effect))
            }
            Sight::Down { node } => {
                self.told.retain(|(of, _), _| of != node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::node_key;
    use gridbay_core::cluster::Card;

    fn cluster(others: &[(usize, u8)]) -> Cluster {
        let member = |(n, key): &(usize, u8)| Member {
            node: node_key(*n),
            ranks: vec![*n as u32],
            card: Card {
                public: [*key; 32],
                places: vec![],
                outside: None,
            },
            relays: vec![],
        };
        Cluster {
            lease: LeaseId([1; 32]),
            secret: [1; 32],
            ranks: vec![0],
            others: others.iter().map(member).collect(),
        }
    }

    #[test]
    fn a_key_that_two_members_bear_is_reported() {
        assert!(distinct(&cluster(&[(1, 1), (2, 2)])).is_ok());
        let mut twice = cluster(&[(1, 2), (2, 2)]);
        assert!(distinct(&twice).is_err());
        twice.others[0].card.public[31] |= 0x80;
        assert!(distinct(&twice).is_err(), "spelled another way");
    }

    #[test]
    fn whose_key_is_told_as_anothers_is_displaced() {
        let (one, two) = (node_key(1), node_key(2));
        let (none, all) = (BTreeSet::new(), BTreeSet::from([one, two]));
        let mut check = Keys::default();
        let mut tells = |buyer, own: Option<u8>, known, of, key| {
            let own = own.map(|n| [n; 32]);
            check.tells(buyer, (&two, own), known, &cluster(&[(of, key)]))
        };
        assert!(tells(0, Some(2), &all, 1, 2).is_ok(), "nobody knew it yet");
        assert!(tells(0, Some(2), &all, 2, 2).is_ok(), "others hear of it");
        assert!(tells(0, Some(2), &all, 1, 2).is_err());
        assert!(tells(0, Some(3), &all, 1, 2).is_ok(), "its old key");
        assert!(tells(0, None, &all, 1, 2).is_ok(), "a liar's");
        assert!(tells(4, Some(2), &all, 1, 2).is_ok(), "another buyer");
        assert!(tells(0, Some(2), &none, 1, 2).is_ok(), "it was none");
    }
}
