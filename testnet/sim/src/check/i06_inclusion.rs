//! I6: an entry acknowledged in time by more than two thirds of the power is in the book of its round.
//!
//! What makes it true: in the rounds 0..f of a height an honest validator votes for no block that omits an entry
//! which it has held as ready for [`INCLUSION_HEIGHTS`]. So, whoever makes the block of a height:
//!
//! 1. After every block the ready entries of every honest validator are noted, with the height since which they
//!    have been ready without a pause, of theirs or of its process, or that its signed receipt names: a receipt
//!    outlives a crash. What waited in between counts from when it is ready again, and so does all after blocks that
//!    were not watched.
//! 2. If so many of them have held an entry for so long that the rest of the power is no quorum, then the
//!    next block, decided in one of those rounds, holds the entry; unless it is full, or holds another entry of
//!    that account, which may stand in its way, or one of another that contends with it: then the
//!    ledger does not admit the entry after the block, and the validators no longer note it as
//!    ready. Keys may change hands and come back within a block: an entry is excused if one of another
//!    account in the block names a key that it names.

use super::{Check, Fact, Sight};
use crate::found::validator_key;
use crate::world::World;
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::{BLOCK_BYTES, BLOCK_ENTRIES, INCLUSION_HEIGHTS};
use gridbay_protocol::receipt::SignedReceipt;
use gridbay_protocol::validator::validator_id;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a block that are free for certain if its entries take less.
const ROOM: usize = BLOCK_BYTES / 2;

/// What a validator holds.
#[derive(Debug, Default)]
struct Held {
    /// Height at which it was looked at.
    height: u64,
    since: BTreeMap<EntryId, u64>,
    /// Whether its process ended since.
    down: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Inclusion {
    held: BTreeMap<usize, Held>,
    /// Accounts of the entries that wait, and the keys that these name.
    named: BTreeMap<EntryId, (AccountId, BTreeSet<PublicKey>)>,
    /// Entries left out of the block of a height, until an honest validator says whether they are
    /// ready after it.
    left_out: BTreeMap<EntryId, u64>,
    /// Heights that receipts name.
    promised: BTreeMap<(usize, EntryId), u64>,
}

/// The keys that an entry names for an account.
fn keys_of(body: &EntryBody) -> BTreeSet<PublicKey> {
    match body {
        EntryBody::SetKeys { keys } | EntryBody::OpenAccount { keys, .. } => {
            keys.iter().map(|k| k.key).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The receipts that a node gives.
fn receipts(effects: &[Effect]) -> impl Iterator<Item = SignedReceipt> + '_ {
    const RECEIPTS: &[u8] = b"\xa1\x68receipts";
    let given = effects.iter().filter_map(|effect| match effect {
        Effect::Send { bytes, .. } if bytes.starts_with(RECEIPTS) => {
            match HostMessage::decode(bytes) {
                Ok(HostMessage::Receipts(receipts)) => Some(receipts),
                _ => None,
            }
        }
        _ => None,
    });
    given.flatten()
}

impl Inclusion {
    /// A validator's word that an entry is acknowledged since a height.
    fn receipt(
        &mut self,
        node: usize,
        own: ValidatorId,
        tip: u64,
        given: &SignedReceipt,
    ) -> Result<(), String> {
        let receipt = given.receipt;
        if receipt.validator != own || receipt.height > tip {
            return Err(format!("node {node} at {tip} gives {receipt:?}"));
        }
        let place = (node, receipt.entry);
        let before = *self.promised.entry(place).or_insert(receipt.height);
        if before < receipt.height {
            return Err(format!("node {node} promised since {before}: {receipt:?}"));
        }
        Ok(())
    }
    /// Step 1.
    fn note(&mut self, node: usize, height: u64, ready: &[EntryId]) {
        let before = self.held.remove(&node).unwrap_or_default();
        let watched = before.height + 1 >= height;
        let promised = |id: &EntryId| {
            let promised = self.promised.get(&(node, *id));
            promised.filter(|promised| **promised >= before.height)
        };
        let since = |id: &EntryId| {
            let since = before.since.get(id).or(promised(id));
            since.copied().filter(|_| watched).unwrap_or(height)
        };
        let since = ready.iter().map(|id| (*id, since(id))).collect();
        self.held.insert(
            node,
            Held {
                height,
                since,
                down: false,
            },
        );
    }
    /// The process of a node ends: of what it held as ready its promises are left.
    fn down(&mut self, node: usize) {
        let promised = &self.promised;
        if let Some(held) = self.held.get_mut(&node) {
            held.since
                .retain(|id, _| promised.contains_key(&(node, *id)));
            held.down = true;
        }
    }
    /// Entries that the block of `height` cannot omit in an early round, of `validators` of equal power.
    fn due(&self, height: u64, validators: usize) -> Vec<EntryId> {
        let here = self
            .held
            .values()
            .filter(|h| !h.down && h.height + 1 == height);
        let mut holders: BTreeMap<EntryId, usize> = BTreeMap::new();
        for held in here {
            let old = held
                .since
                .iter()
                .filter(|(_, s)| *s + INCLUSION_HEIGHTS <= height);
            for (id, _) in old {
                *holders.entry(*id).or_default() += 1;
            }
        }
        let blocking = |n: usize| 3 * (validators - n) <= 2 * validators;
        let due = holders.into_iter().filter(|(_, n)| blocking(*n));
        due.map(|(id, _)| id).collect()
    }
    /// Step 2: what the block leaves out.
    fn judge(&mut self, due: &[EntryId], height: u64, entries: &[SignedEntry]) {
        let there: BTreeSet<EntryId> = entries.iter().map(SignedEntry::id).collect();
        let accounts: BTreeSet<AccountId> = entries.iter().map(|e| e.entry.account).collect();
        let taken = entries.iter().flat_map(|e| keys_of(&e.entry.body));
        let taken: BTreeSet<PublicKey> = taken.collect();
        let left_out = due.iter().filter(|id| {
            let excused = self.named.get(id).is_some_and(|(account, keys)| {
                accounts.contains(account) || !keys.is_disjoint(&taken)
            });
            !there.contains(id) && !excused
        });
        self.left_out = left_out.map(|id| (*id, height)).collect();
    }
    /// Step 2: whether any of it is ready after the block.
    fn confirm(&self, height: u64, ready: &[EntryId]) -> Result<(), String> {
        let left_out = |id: &&EntryId| self.left_out.get(id) == Some(&height);
        match ready.iter().find(left_out) {
            Some(id) => Err(format!("block {height} leaves out {id}, which was due")),
            None => Ok(()),
        }
    }
    fn block(&mut self, fact: &Fact, validators: usize) {
        let block = &fact.decided.block;
        let tolerated = validators.saturating_sub(1) / 3;
        if fact.decided.certificate.round as usize > tolerated {
            return;
        }
        let due = self.due(fact.height, validators);
        if due.is_empty() || block.entries.len() >= BLOCK_ENTRIES || block.encode().len() > ROOM {
            return;
        }
        self.judge(&due, fact.height, &block.entries);
    }
}

impl Check for Inclusion {
    fn id(&self) -> &'static str {
        "I6"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let votes = |n: &usize| *n < world.plan.validators && world.machines[*n].is_honest();
        match sight {
            Sight::Block(fact) => {
                self.block(fact, world.plan.validators);
                Ok(())
            }
            Sight::Decided { node, height, .. } if votes(node) => {
                let core = world.core(*node).filter(|c| c.state().height() == *height);
                let ready = core.map(|c| c.host().waiting()).unwrap_or_default();
                let ids: Vec<EntryId> = ready.iter().map(|e| e.id()).collect();
                for entry in ready.iter().map(|e| e.signed()) {
                    let named = || (entry.entry.account, keys_of(&entry.entry.body));
                    self.named.entry(entry.id()).or_insert_with(named);
                }
                self.note(*node, *height, &ids);
                self.confirm(*height, &ids)
            }
            Sight::Step { node, effects, .. } if votes(node) => {
                let tip = world.core(*node).map_or(0, |c| c.state().height());
                let own = validator_id(&validator_key(*node).public());
                receipts(effects).try_for_each(|given| self.receipt(*node, own, tip, &given))
            }
            Sight::Down { node } => {
                self.down(*node);
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
        check.judge(&[id], 8, &[]);
        assert_eq!(check.confirm(8, &[]), Ok(()), "it can pass no more");
        assert!(check.confirm(8, &[id]).is_err());
        check.note(0, 8, &[]);
        check.note(1, 8, &[id]);
        assert_eq!(check.due(9, 4), [], "one is not enough");
    }

    #[test]
    fn contention_for_a_key_within_the_block_excuses() {
        use gridbay_protocol::account::{AccountKey, Roles};
        use gridbay_protocol::entry::Entry;
        use gridbay_protocol::ids::NetworkId;
        let key = validator_key(1);
        let names = |account: u8, of: usize| {
            let (key_of, roles) = (validator_key(of).public(), Roles::ALL);
            let entry = Entry {
                network: NetworkId([1; 32]),
                account: AccountId([account; 32]),
                key: key.public(),
                valid_until: 9,
                body: EntryBody::SetKeys {
                    keys: vec![AccountKey { key: key_of, roles }],
                },
            };
            SignedEntry::new(entry, &key)
        };
        let mut check = Inclusion::default();
        let due = names(1, 2);
        let named = (due.entry.account, keys_of(&due.entry.body));
        check.named.insert(due.id(), named);
        check.judge(&[due.id()], 8, &[names(2, 3)]);
        assert!(check.confirm(8, &[due.id()]).is_err(), "another key");
        check.judge(&[due.id()], 9, &[names(2, 2)]);
        assert_eq!(check.confirm(9, &[due.id()]), Ok(()));
    }

    #[test]
    fn a_receipt_outlives_a_crash_and_is_not_taken_back() {
        use gridbay_protocol::ids::NetworkId;
        use gridbay_protocol::receipt::Receipt;
        let (id, key) = (EntryId([1; 32]), validator_key(1));
        let own = validator_id(&key.public());
        let given = |height| {
            let receipt = Receipt {
                entry: id,
                height,
                validator: own,
            };
            SignedReceipt::new(receipt, &NetworkId([1; 32]), &key)
        };
        let mut check = Inclusion::default();
        assert!(
            check.receipt(1, own, 4, &given(5)).is_err(),
            "not there yet"
        );
        let other = validator_id(&validator_key(2).public());
        assert!(check.receipt(1, other, 5, &given(5)).is_err(), "of another");
        assert_eq!(check.receipt(1, own, 5, &given(5)), Ok(()));
        assert_eq!(check.receipt(1, own, 9, &given(5)), Ok(()));
        assert!(check.receipt(1, own, 9, &given(6)).is_err(), "later");
        check.promised.insert((2, id), 5);
        for node in [1, 2] {
            (1..=5).for_each(|height| check.note(node, height, &[]));
            check.note(node, 6, &[id]);
            check.down(node);
        }
        assert_eq!(check.due(7, 4), [], "they are down");
        check.note(1, 7, &[id]);
        check.note(2, 7, &[id]);
        assert_eq!(check.due(8, 4), [id]);
        check.note(1, 8, &[]);
        check.note(1, 9, &[id]);
        assert_eq!(check.held[&1].since[&id], 9, "it waited in between");
    }
}
