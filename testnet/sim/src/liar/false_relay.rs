//! Lies about relaying: as a relay it says that it carries as much as there is, and does not; as a
//! member it says that it reaches nobody, has sent much and heard nothing; and it asks others to
//! carry for leases that are not its own, or on leases that are not.
//!
//! Attacks I21.

use super::{Lie, Puppet};
use crate::found::{node_key, node_secret, place};
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::effect::Effect;
use gridbay_core::relay::{Carried, Grant, Link, Links, Purse, Signed, Tickets, Wish};
use gridbay_protocol::ids::LeaseId;

/// Of a million whims this many ask for what it has no right to.
const OFTEN: u64 = 300_000;
/// Of a million words as a member this many are lies.
const LIES: u64 = 500_000;
/// Tokens of its own questions, apart from its process's.
const TOKENS: u64 = 1 << 61;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct FalseRelay {
    deeds: u64,
}

fn claims(puppet: &Puppet<'_>, grant: &Grant) -> AgentReply {
    let said = Carried {
        carries: grant.carries,
        paid_by: match grant.purse {
            Purse::Lease(lease) => Some(lease),
            Purse::Free(_) => None,
        },
        places: vec![place(puppet.node)],
        left: u64::MAX,
        bytes: grant.pairs.iter().map(|_| [u64::MAX; 2]).collect(),
    };
    let key = node_secret(puppet.node);
    let signed = Signed::new(&puppet.state().network(), said, &key);
    AgentReply::Carried(Box::new(signed))
}

fn denies(puppet: &Puppet<'_>, lease: LeaseId, effect: &Effect) -> AgentReply {
    let others = match effect {
        Effect::ShowLinks { others, .. } => others.as_slice(),
        _ => &[],
    };
    let link = |node| Link {
        node,
        reached: false,
        relayed: vec![],
    };
    let links = others.iter().map(|(node, _)| link(*node)).collect();
    let said = Links { lease, links };
    let key = node_secret(puppet.node);
    let signed = Signed::new(&puppet.state().network(), said, &key);
    AgentReply::Links(Box::new(signed))
}

/// Asks any node to carry for any lease, on any other one or for nothing.
fn asks(puppet: &mut Puppet<'_>, token: u64) -> Option<Effect> {
    let leases: Vec<LeaseId> = puppet.state().leases().map(|(id, _)| *id).collect();
    let carries = *puppet.rng.pick(&leases)?;
    let other = *puppet.rng.pick(&leases)?;
    let to = node_key(puppet.rng.index(puppet.plan.nodes()));
    let key = puppet.account_key();
    let wish = Wish {
        relay: to,
        carries,
        paid_by: puppet.rng.chance(500_000).then_some(other),
        pairs: vec![Tickets(puppet.rng.bytes32())],
        key: key.public(),
    };
    let signed = Signed::new(&puppet.state().network(), wish, &key);
    let request = AgentRequest::Relay(Box::new(signed));
    Some(Effect::Ask { token, to, request })
}

impl Lie for FalseRelay {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let mut said = Vec::new();
        for effect in effects {
            match effect {
                Effect::Relay {
                    token: Some(token),
                    grant,
                } => {
                    self.deeds += 1;
                    let reply = claims(puppet, &grant);
                    said.push(Effect::Answer { token, reply });
                }
                Effect::ShowLinks { token, lease, .. } if puppet.rng.chance(LIES) => {
                    self.deeds += 1;
                    let reply = denies(puppet, lease, &effect);
                    said.push(Effect::Answer { token, reply });
                }
                other => said.push(other),
            }
        }
        said
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        if !puppet.rng.chance(OFTEN) {
            return vec![];
        }
        let asked = asks(puppet, TOKENS + self.deeds);
        self.deeds += u64::from(asked.is_some());
        asked.into_iter().collect()
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
