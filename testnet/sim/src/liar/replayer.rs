//! Keeps all messages that it hears and sends, and sends them again later, to anybody: votes,
//! proposals, bodies, decided blocks, entries, adverts, requests of agents.
//!
//! Attacks I2, I4 and I9: a replayed statement must count once. Old heights are ignored, entries
//! carry their own id until they expire, requests of agents are idempotent, adverts count up.
//! Honest nodes notice only what nobody asked for, such as bodies, and blame the replayer, not the
//! author.

use super::{Lie, Puppet};
use gridbay_core::agent::AgentRequest;
use gridbay_core::effect::Effect;
use gridbay_core::input::{AskToken, Input};
use std::collections::VecDeque;

/// Things remembered of each kind.
const REMEMBERED: usize = 512;
/// Messages replayed in one whim at the most.
const BURST: u64 = 40;
/// Longer messages are let go.
const LONGEST: usize = 64 * 1024;
/// Tokens of questions that its process did not ask.
const OWN_TOKENS: AskToken = 1 << 63;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Replayer {
    messages: VecDeque<Vec<u8>>,
    adverts: VecDeque<Vec<u8>>,
    requests: VecDeque<AgentRequest>,
    deeds: u64,
}

/// Keeps an item, at a place of chance once there is no room: the very old stay in the repertoire.
fn keep<T>(puppet: &mut Puppet<'_>, items: &mut VecDeque<T>, item: T) {
    if items.len() < REMEMBERED {
        items.push_back(item);
    } else if puppet.rng.chance(200_000) {
        let at = puppet.rng.index(items.len());
        if let Some(place) = items.get_mut(at) {
            *place = item;
        }
    }
}

fn pick<T: Clone>(puppet: &mut Puppet<'_>, items: &VecDeque<T>) -> Option<T> {
    items.get(puppet.rng.index(items.len())).cloned()
}

impl Replayer {
    fn message(&mut self, puppet: &mut Puppet<'_>, bytes: &[u8]) {
        if bytes.len() <= LONGEST {
            keep(puppet, &mut self.messages, bytes.to_vec());
        }
    }
}

impl Lie for Replayer {
    fn input(&mut self, puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        match &input {
            Input::Host { bytes, .. } => self.message(puppet, bytes),
            Input::Advert { bytes, .. } => keep(puppet, &mut self.adverts, bytes.clone()),
            Input::Asked { request, .. } => keep(puppet, &mut self.requests, request.clone()),
            Input::Answered { token, .. } if *token >= OWN_TOKENS => return None,
            _ => {}
        }
        Some(input)
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &effects {
            match effect {
                Effect::Broadcast { bytes } | Effect::Send { bytes, .. } => {
                    self.message(puppet, bytes);
                }
                Effect::Gossip(bytes) => keep(puppet, &mut self.adverts, bytes.clone()),
                Effect::Ask { request, .. } => keep(puppet, &mut self.requests, request.clone()),
                _ => {}
            }
        }
        effects
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        for _ in 0..puppet.rng.range(1, BURST) {
            let Some(bytes) = pick(puppet, &self.messages) else {
                break;
            };
            let to = *crate::found::node_key(puppet.somebody()).as_bytes();
            out.push(Effect::Send { to, bytes });
        }
        if puppet.rng.chance(100_000) {
            out.extend(pick(puppet, &self.adverts).map(Effect::Gossip));
        }
        if let Some(request) = pick(puppet, &self.requests) {
            let to = crate::found::node_key(puppet.somebody());
            let token = OWN_TOKENS + self.deeds;
            out.push(Effect::Ask { token, to, request });
        }
        self.deeds += out.len() as u64;
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
