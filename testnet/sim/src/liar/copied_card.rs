//! Answers its introduction to a lease with another member's card: its key, whole or spelled
//! another way, its places, or both. It has the card from the words of the buyer's node, whose own
//! it copies as well, and remembers it: where that node was restarted, it may be heard before the
//! owner.
//!
//! Attacks I19: members who believed it would seal what is the owner's to somebody else, or have
//! the owner put out of the network.

use super::{Lie, Puppet};
use crate::found::place;
use gridbay_core::agent::AgentReply;
use gridbay_core::cluster::{Card, Cluster};
use gridbay_core::effect::Effect;
use gridbay_core::presence::Presence;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Of a million introductions this many are answered with a lie.
const OFTEN: u64 = 700_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct CopiedCard {
    /// The last card of each member that it was told of.
    known: BTreeMap<LeaseId, BTreeMap<PublicKey, Card>>,
    deeds: u64,
}

fn bend(puppet: &mut Puppet<'_>, theirs: Card) -> Card {
    match puppet.rng.below(4) {
        0 => theirs,
        1 => Card {
            places: vec![place(puppet.node)],
            outside: None,
            ..theirs
        },
        // The highest bit of a key does not count.
        2 => {
            let mut public = theirs.public;
            public[31] |= 0x80;
            Card { public, ..theirs }
        }
        _ => {
            let mut public = puppet.rng.bytes32();
            public[31] &= 0x7f;
            Card { public, ..theirs }
        }
    }
}

impl CopiedCard {
    fn learn(&mut self, cluster: &Cluster) {
        let known = self.known.entry(cluster.lease).or_default();
        let told = cluster.others.iter().map(|m| (m.node, m.card.clone()));
        known.extend(told);
    }
    fn copy(&self, puppet: &mut Puppet<'_>, lease: &LeaseId) -> Option<Card> {
        let cards: Vec<_> = self.known.get(lease)?.values().collect();
        let card = (*puppet.rng.pick(&cards)?).clone();
        puppet.rng.chance(OFTEN).then(|| bend(puppet, card))
    }
}

impl Lie for CopiedCard {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let mut said = Vec::new();
        for effect in effects {
            let Effect::Connect { token, cluster } = effect else {
                said.push(effect);
                continue;
            };
            self.learn(&cluster);
            let copy = token.and_then(|token| Some((token, self.copy(puppet, &cluster.lease)?)));
            let Some((token, card)) = copy else {
                said.push(Effect::Connect { token, cluster });
                continue;
            };
            self.deeds += 1;
            let reach = vec![];
            let reply = AgentReply::Present(Box::new(Presence { card, reach }));
            said.push(Effect::Connect {
                token: None,
                cluster,
            });
            said.push(Effect::Answer { token, reply });
        }
        said
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
