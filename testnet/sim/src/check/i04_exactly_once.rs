//! I4: each idempotency key takes effect at most once.
//!
//! 1. No entry id is in two places of the chain, and none after its last height.
//! 2. No commitment is opened twice; no order ends twice, and nothing is locked for it afterwards;
//!    no auction is on record twice.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, OrderId};
use gridbay_protocol::payment::Purse;
use std::collections::BTreeSet;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ExactlyOnce {
    entries: BTreeSet<EntryId>,
    opened: BTreeSet<EntryId>,
    ended: BTreeSet<OrderId>,
    auctions: BTreeSet<[u8; 32]>,
}

impl ExactlyOnce {
    fn entry(&mut self, height: u64, signed: &SignedEntry) -> Result<(), String> {
        let (id, until) = (signed.id(), signed.entry.valid_until);
        if until < height {
            return Err(format!(
                "entry {id} was valid until {until}, is in {height}"
            ));
        }
        if !self.entries.insert(id) {
            return Err(format!("entry {id} takes effect again in {height}"));
        }
        match &signed.entry.body {
            EntryBody::Open(open) if !self.opened.insert(open.commit) => Err(format!(
                "commitment {} is opened again in {height}",
                open.commit
            )),
            _ => Ok(()),
        }
    }
    fn effect(&mut self, effect: &Effect) -> Result<(), String> {
        let once = match effect {
            Effect::Order { order, .. } => self.ended.insert(*order),
            Effect::Posting(posting) => match posting.to {
                Purse::Escrow(order) => !self.ended.contains(&order),
                _ => true,
            },
            _ => effect
                .auction()
                .is_none_or(|a| self.auctions.insert(a.id())),
        };
        once.then_some(())
            .ok_or(format!("a second time: {effect:?}"))
    }
}

impl Check for ExactlyOnce {
    fn id(&self) -> &'static str {
        "I4"
    }
    fn see(&mut self, _world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(Fact {
            height,
            decided,
            effects,
            ..
        }) = sight
        else {
            return Ok(());
        };
        let entries = decided.block.entries.iter();
        entries
            .into_iter()
            .try_for_each(|e| self.entry(*height, e))?;
        effects.iter().try_for_each(|e| self.effect(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::account_key;
    use gridbay_protocol::effect::OrderEnd;
    use gridbay_protocol::entry::Entry;
    use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
    use gridbay_protocol::units::Credits;

    #[test]
    fn what_happens_twice_or_too_late_is_reported() {
        let entry = Entry {
            network: NetworkId([1; 32]),
            account: AccountId([2; 32]),
            key: account_key(0).public(),
            valid_until: 5,
            body: EntryBody::Transfer {
                to: AccountId([3; 32]),
                amount: Credits::MAX,
                memo: Hash32([0; 32]),
            },
        };
        let signed = SignedEntry::new(entry, &account_key(0));
        let mut check = ExactlyOnce::default();
        assert!(check.entry(6, &signed).is_err());
        assert_eq!(check.entry(4, &signed), Ok(()));
        assert!(check.entry(5, &signed).is_err());
        let end = Effect::Order {
            order: OrderId([1; 32]),
            end: OrderEnd::Served,
        };
        assert_eq!(check.effect(&end), Ok(()));
        assert!(check.effect(&end).is_err());
    }
}
