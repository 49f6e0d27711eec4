//! I11: no account puts more into the ledger in an epoch than the genesis lets it.
//!
//! Recounts every block's entries by account and epoch: an entry beyond the budget must answer for
//! a record of the ledger (an opening, an acknowledgement, a failure, a cancellation, an appeal),
//! or be one of the few replacements of keys that are allowed beyond it.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::entry_budget::{EntryBudget, EntryBudgets};
use gridbay_protocol::ids::AccountId;
use std::collections::{BTreeMap, BTreeSet};

/// Heights of an epoch, and entries for new keys beyond the budget: the rules, told again.
const EPOCH: u64 = 1_200;
const NEW_KEYS: u32 = 8;
const NEW_KEYS_BYTES: u64 = 8 * 8_192;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Budgets {
    epoch: u64,
    spent: BTreeMap<AccountId, (u32, u64)>,
}

impl Budgets {
    fn count(
        &mut self,
        budgets: &EntryBudgets,
        members: &BTreeSet<AccountId>,
        signed: &SignedEntry,
    ) -> Result<(), String> {
        let account = signed.entry.account;
        let spent = self.spent.entry(account).or_default();
        spent.0 += 1;
        spent.1 += codec::encode(&signed.entry).len() as u64;
        let EntryBudget { entries, bytes } = match members.contains(&account) {
            true => budgets.member,
            false => budgets.user,
        };
        let (entries, bytes) = match &signed.entry.body {
            EntryBody::Open(_)
            | EntryBody::Deliver { .. }
            | EntryBody::Fail { .. }
            | EntryBody::Cancel { .. }
            | EntryBody::Appeal(_)
            | EntryBody::Heartbeat { .. }
            | EntryBody::Complain { .. } => return Ok(()),
            EntryBody::SetKeys { .. } => (entries + NEW_KEYS, bytes + NEW_KEYS_BYTES),
            _ => (entries, bytes),
        };
        if spent.0 <= entries && spent.1 <= bytes {
            return Ok(());
        }
        let (n, size) = spent;
        let name = signed.entry.body.kind().name;
        Err(format!(
            "a {name} of account {account}: {n} entries of {entries}, {size} bytes of {bytes} in epoch {}",
            self.epoch
        ))
    }
    fn block(&mut self, world: &World, height: u64, entries: &[SignedEntry]) -> Result<(), String> {
        let epoch = (height - 1) / EPOCH;
        if epoch != self.epoch {
            *self = Budgets {
                epoch,
                ..Budgets::default()
            };
        }
        if entries.is_empty() {
            return Ok(());
        }
        let genesis = &world.genesis;
        let members = genesis.members.iter().map(|m| genesis.account(m)).collect();
        let budgets = genesis.policy.entries;
        let mut entries = entries.iter();
        entries.try_for_each(|signed| self.count(&budgets, &members, signed))
    }
}

impl Check for Budgets {
    fn id(&self) -> &'static str {
        "I11"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(Fact {
            height, decided, ..
        }) = sight
        else {
            return Ok(());
        };
        self.block(world, *height, &decided.block.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::Entry;
    use gridbay_protocol::ids::{LeaseId, NetworkId};
    use gridbay_protocol::keys::SecretKey;

    fn signed(body: EntryBody) -> SignedEntry {
        let key = SecretKey::from_seed(&[1; 32]);
        let entry = Entry {
            network: NetworkId::default(),
            account: AccountId([1; 32]),
            key: key.public(),
            valid_until: 9,
            body,
        };
        SignedEntry::new(entry, &key)
    }

    #[test]
    fn what_is_beyond_the_budget_is_reported() {
        let budget = |entries| EntryBudget {
            entries,
            bytes: 1 << 20,
        };
        let budgets = EntryBudgets {
            member: budget(2),
            user: budget(1),
        };
        let withdraw = signed(EntryBody::WithdrawOffer { label: 1 });
        let lease = LeaseId([2; 32]);
        let (users, members) = (BTreeSet::new(), BTreeSet::from([AccountId([1; 32])]));
        let mut check = Budgets::default();
        let mut count = |who, entry: &SignedEntry| check.count(&budgets, who, entry);
        assert_eq!(count(&users, &withdraw), Ok(()));
        assert_eq!(count(&members, &withdraw), Ok(()));
        assert!(count(&members, &withdraw).is_err());
        assert_eq!(count(&users, &signed(EntryBody::Deliver { lease })), Ok(()));
        assert!(count(&users, &withdraw).is_err());
    }
}
