//! I6: an entry acknowledged in time by more than two thirds of the power is in the book of its round.
//!
//! What makes it true: in the rounds 0..f of a height an honest validator votes for no block that omits an entry
//! which it has held as ready for two blocks. So, whoever makes the block of a height:
//!
//! 1. After every block the ready entries of every honest validator are noted, with the height since which they
//!    have been ready without a pause of its process.
//! 2. If so many of them have held an entry for [`HEIGHTS`] blocks that the rest of the power is no quorum, then the
//!    next block, decided in one of those rounds, holds the entry; unless it is full, or holds another entry of
//!    that account, which may stand in its way.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::limits::{BLOCK_BYTES, BLOCK_ENTRIES};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that an entry must have been ready for.
const HEIGHTS: u64 = 2;
/// Bytes of a block that are free for certain if its entries take less.
const ROOM: usize = BLOCK_BYTES / 2;

/// What a validator holds.
#[derive(Debug, Default)]
struct Held {
    /// Height at which it was looked at.
    height: u64,
    since: BTreeMap<EntryId, u64>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Inclusion {
    held: BTreeMap<usize, Held>,
    accounts: BTreeMap<EntryId, AccountId>,
}

impl Inclusion {
    /// Step 1.
    fn note(&mut self, node: usize, height: u64, ready: &[EntryId]) {
        let before = self.held.remove(&node).unwrap_or_default();
        let since = |id: &EntryId| before.since.get(id).copied().unwrap_or(height);
        let since = ready.iter().map(|id| (*id, since(id))).collect();
        self.held.insert(node, Held { height, since });
    }
    /// Entries that the block of `height` cannot omit in an early round, of `validators` of equal power.
    fn due(&self, height: u64, validators: usize) -> Vec<EntryId> {
        let here = self.held.values().filter(|h| h.height + 1 == height);
        let mut holders: BTreeMap<EntryId, usize> = BTreeMap::new();
        for held in here {
            let old = held.since.iter().filter(|(_, s)| *s + HEIGHTS < height);
            for (id, _) in old {
                *holders.entry(*id).or_default() += 1;
            }
        }
        let blocking = |n: usize| 3 * (validators - n) <= 2 * validators;
        let due = holders.into_iter().filter(|(_, n)| blocking(*n));
        due.map(|(id, _)| id).collect()
    }
    /// Step 2.
    fn judge(&self, due: &[EntryId], height: u64, entries: &[SignedEntry]) -> Result<(), String> {
        let there: BTreeSet<EntryId> = entries.iter().map(SignedEntry::id).collect();
        let accounts: BTreeSet<AccountId> = entries.iter().map(|e| e.entry.account).collect();
        let left_out = due.iter().find(|id| {
            let account = self.accounts.get(id);
            !there.contains(id) && account.is_none_or(|a| !accounts.contains(a))
        });
        match left_out {
            Some(id) => Err(format!("block {height} leaves out {id}, which was due")),
            None => Ok(()),
        }
    }
    fn block(&self, fact: &Fact, validators: usize) -> Result<(), String> {
        let block = &fact.decided.block;
        let tolerated = validators.saturating_sub(1) / 3;
        if fact.decided.certificate.round as usize > tolerated {
            return Ok(());
        }
        let due = self.due(fact.height, validators);
        if due.is_empty() || block.entries.len() >= BLOCK_ENTRIES || block.encode().len() > ROOM {
            return Ok(());
        }
        self.judge(&due, fact.height, &block.entries)
    }
}

impl Check for Inclusion {
    fn id(&self) -> &'static str {
        "I6"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let votes = |n: &usize| *n < world.plan.validators && world.machines[*n].is_honest();
        match sight {
            Sight::Block(fact) => self.block(fact, world.plan.validators),
            Sight::Decided { node, height, .. } if votes(node) => {
                let core = world.core(*node).filter(|c| c.state().height() == *height);
                let ready = core.map(|c| c.host().waiting()).unwrap_or_default();
                let ids: Vec<EntryId> = ready.iter().map(|(id, _)| *id).collect();
                self.accounts.extend(ready);
                self.note(*node, *height, &ids);
                Ok(())
            }
            Sight::Down { node } => {
                self.held.remove(node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_left_out_is_reported() {
        let id = EntryId([1; 32]);
        let mut check = Inclusion::default();
        for height in 5..=7 {
            for node in 0..2 {
                check.note(node, height, &[id]);
            }
        }
        assert_eq!(check.due(8, 4), [id], "two of four can stop a block");
        assert_eq!(check.due(8, 7), [], "two of seven cannot");
        assert_eq!(check.due(9, 4), [], "they were not asked at 8");
        assert!(check.judge(&[id], 8, &[]).is_err());
        check.note(0, 8, &[]);
        check.note(1, 8, &[id]);
        assert_eq!(check.due(9, 4), [], "one is not enough");
    }
}
