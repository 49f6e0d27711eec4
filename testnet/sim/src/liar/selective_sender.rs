//! Tells entries, its own and those it hears of, to all validators but one, another one each time.
//!
//! Attacks I6 and I12: validators do not pass on entries that another validator told them, so the
//! one left out makes blocks without an entry that all others have promised to insist on. A
//! validator that votes such a block down sends what it misses along, and an entry that came from a
//! validator and that a block left out is told to all once more.

use super::craft::said;
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::units::Credits;

/// Of a million whims so many make an entry: seldom enough that the budget of an epoch lasts.
const CHANCE: u64 = 700_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SelectiveSender {
    deeds: u64,
}

impl SelectiveSender {
    fn tell_some(&mut self, puppet: &mut Puppet<'_>, message: &HostMessage) -> Vec<Effect> {
        let mut ears = puppet.voters();
        if !ears.is_empty() {
            ears.remove(puppet.rng.index(ears.len()));
            self.deeds += 1;
        }
        ears.iter().map(|to| puppet.send(*to, message)).collect()
    }
}

impl Lie for SelectiveSender {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let mut out = Vec::new();
        for effect in effects {
            match (&effect, said(&effect)) {
                (Effect::Broadcast { .. }, Some(entries @ HostMessage::Entries(_))) => {
                    out.extend(self.tell_some(puppet, &entries));
                }
                _ => out.push(effect),
            }
        }
        out
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let strangers = puppet.strangers();
        let Some(to) = puppet.rng.pick(&strangers).copied() else {
            return vec![];
        };
        let transfer = EntryBody::Transfer {
            to,
            amount: Credits::from_micros(1).unwrap_or_default(),
            memo: Hash32(puppet.rng.bytes32()),
        };
        match puppet.entry(transfer) {
            Some(entry) if puppet.rng.chance(CHANCE) => {
                self.tell_some(puppet, &HostMessage::Entries(vec![entry]))
            }
            _ => vec![],
        }
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
