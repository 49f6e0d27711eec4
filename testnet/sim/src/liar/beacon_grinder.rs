//! Registers the tip of a beacon chain that it has just made up, and reveals from that chain at its
//! next turn: of many reveals the one that gives the beacon it likes best.
//!
//! Attacks I18. A registered tip counts from the epoch after the next on, so such a block gets no
//! vote and the turn is lost.

use super::craft::Instead;
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::beacon;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::Hash32;

/// Reveals among which it chooses.
const TRIES: usize = 16;
/// Of a million turns it spends this many on the attack: else it would never trade.
const OFTEN: u64 = 500_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct BeaconGrinder {
    instead: Instead,
    /// The reveal whose tip it registered last.
    ground: Option<[u8; 32]>,
}

impl BeaconGrinder {
    /// Whether the ledger knows the tip, counting or not.
    fn is_registered(&self, puppet: &Puppet<'_>) -> bool {
        let own = puppet.validator();
        let tip = self.ground.map(|reveal| beacon::step(&reveal));
        let (state, waits) = (puppet.state(), puppet.state().beacon_successor(&own));
        tip.is_some() && (state.beacon_tip(&own) == tip || waits.map(|s| s.tip.0) == tip)
    }
}

impl Lie for BeaconGrinder {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let ground = self.ground.filter(|_| self.is_registered(puppet));
        self.instead.bend(puppet, effects, |puppet, block| {
            let reveal = ground.filter(|_| puppet.rng.chance(OFTEN))?;
            puppet.redraft(block, |draft| draft.reveal = reveal)
        })
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        if self.is_registered(puppet) {
            return vec![];
        }
        let now = puppet.state().beacon();
        let tries = (0..TRIES).map(|_| puppet.rng.bytes32());
        let Some(best) = tries.min_by_key(|reveal| beacon::mix(&now, reveal)) else {
            return vec![];
        };
        self.ground = Some(best);
        let tip = Hash32(beacon::step(&best));
        let entry = puppet.entry(EntryBody::RegisterBeacon { tip });
        let voters = puppet.voters();
        entry.map_or_else(Vec::new, |entry| puppet.tell(&voters, &entry))
    }
    fn deeds(&self) -> u64 {
        self.instead.count
    }
}
