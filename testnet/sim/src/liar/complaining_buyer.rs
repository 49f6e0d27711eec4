//! Rents units of honest sellers and says that it was not served: of every lease as soon as its
//! seller has acknowledged it, of every slot of it whose earnings are held, and as often as it can.
//! Its leases are real: it buys with money.
//!
//! Attacks I16 and the sellers' money and good name. A complaint brings one slot of one lease and
//! ends the lease; a sponsor has so many of them in an epoch, and alone withdraws an offer with
//! four.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{Hash32, LeaseId, OfferId};
use gridbay_protocol::order::{Buy, BuyPart};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Leases that it remembers at the most.
const LEASES: usize = 256;
/// Most that it pays for a unit and slot, in micro-credits.
const LIMIT: u64 = 400;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ComplainingBuyer {
    /// Leases that it had, with the offers and the last slot.
    had: BTreeMap<(LeaseId, OfferId), u64>,
    deeds: u64,
}

impl ComplainingBuyer {
    fn buy(&self, puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
        let classes = puppet.state().classes();
        let classes: Vec<_> = classes.iter().map(|c| c.key.id()).collect();
        let class = *puppet.rng.pick(&classes)?;
        let work = Hash32(puppet.rng.bytes32());
        puppet.entry(EntryBody::Buy(Buy {
            parts: vec![BuyPart::anywhere(class, 1)],
            slots: 3,
            limit: Credits::from_micros(LIMIT)?,
            stands_until: 0,
            surcharge: Credits::ZERO,
            work,
        }))
    }
    /// Complaints of all that it has or had, of the running slot and of the one before.
    fn complaints(&mut self, puppet: &Puppet<'_>) -> Vec<SignedEntry> {
        let Some(own) = puppet.core.account() else {
            return Vec::new();
        };
        let state = puppet.state();
        let now = state.calendar().slot(state.height() + 1);
        for (id, lease) in state.leases_of(&own) {
            for offer in &lease.delivered {
                self.had.insert((*id, *offer), lease.slot);
            }
        }
        self.had.retain(|_, last| *last + 2 >= now);
        while self.had.len() > LEASES {
            self.had.pop_first();
        }
        let slots = |last: u64| [last, last.saturating_sub(1)];
        let said = self.had.iter().flat_map(|((lease, offer), last)| {
            slots(*last).map(|slot| EntryBody::Complain {
                lease: *lease,
                offer: *offer,
                slot,
            })
        });
        said.filter_map(|body| puppet.entry(body)).collect()
    }
}

impl Lie for ComplainingBuyer {
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let voters = puppet.voters();
        let bought = self.buy(puppet);
        let said = self.complaints(puppet);
        self.deeds += said.len() as u64;
        let entries = bought.into_iter().chain(said);
        entries
            .flat_map(|entry| puppet.tell(&voters, &entry))
            .collect()
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
