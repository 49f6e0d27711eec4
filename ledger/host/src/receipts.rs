//! What validators promise for this node's own entries: receipts of openings, and words for others.
//!
//! 1. An entry is watched from its submission until [`limits::RECEIPT_HEIGHTS`] after its last
//!    height, so that a broken promise can still be shown when the time for it is over.
//! 2. Of each validator, the promise with the lowest height is kept: the earliest binds most.
//! 3. A full memory forgets the entry whose time ends first, and an opening only if it holds
//!    nothing else: the receipts of an opening are what its bid's deposit is saved with.

use crate::limits;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{EntryId, ValidatorId};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::validator::ValidatorSet;
use std::collections::{BTreeMap, BTreeSet};

/// When the time of an entry ends, openings last.
type End = (bool, u64, EntryId);

#[derive(Clone, Debug, Default)]
struct Watched {
    /// Heights since which validators count the entry as acknowledged.
    promised: BTreeMap<ValidatorId, u64>,
    signed: BTreeMap<ValidatorId, SignedReceipt>,
    told: bool,
}

/// The memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    entries: BTreeMap<EntryId, Watched>,
    by_end: BTreeSet<End>,
}

impl Receipts {
    /// Watches an own entry; true if it was not watched before.
    pub(crate) fn watch(&mut self, entry: &Authentic) -> bool {
        let (id, entry) = (entry.id(), entry.entry());
        let opens = matches!(entry.body, EntryBody::Open(_));
        self.watch_until(id, entry.valid_until, opens)
    }
    fn watch_until(&mut self, entry: EntryId, valid_until: u64, opens: bool) -> bool {
        if self.entries.contains_key(&entry) {
            return false;
        }
        if self.entries.len() >= limits::RECEIPTS
            && let Some((.., oldest)) = self.by_end.pop_first()
        {
            self.entries.remove(&oldest);
        }
        let until = valid_until.saturating_add(limits::RECEIPT_HEIGHTS);
        self.by_end.insert((opens, until, entry));
        self.entries.insert(entry, Watched::default());
        true
    }
    /// Whether an entry is watched.
    pub(crate) fn watches(&self, entry: &EntryId) -> bool {
        self.entries.contains_key(entry)
    }
    /// Whether a receipt would tell us anything; its signature is checked only then.
    pub(crate) fn wants(&self, receipt: &Receipt) -> bool {
        self.entries.get(&receipt.entry).is_some_and(|watched| {
            let known = watched.signed.get(&receipt.validator);
            known.is_none_or(|known| receipt.height < known.receipt.height)
        })
    }
    /// Keeps a receipt whose signature is right. True if now, for the first time, more than two
    /// thirds of the power have acknowledged its entry.
    pub(crate) fn add(&mut self, signed: SignedReceipt, set: &ValidatorSet) -> bool {
        if !self.wants(&signed.receipt) {
            return false;
        }
        if let Some(watched) = self.entries.get_mut(&signed.receipt.entry) {
            watched.signed.insert(signed.receipt.validator, signed);
        }
        self.hear(signed.receipt, set)
    }
    /// Takes note of a validator's promise. True as in [`Receipts::add`].
    pub(crate) fn hear(&mut self, promise: Receipt, set: &ValidatorSet) -> bool {
        let Some(watched) = self.entries.get_mut(&promise.entry) else {
            return false;
        };
        let of_validator = watched.promised.entry(promise.validator);
        let height = of_validator.or_insert(promise.height);
        *height = (*height).min(promise.height);
        if watched.told {
            return false;
        }
        let members = watched.promised.keys().filter_map(|id| set.get(id));
        watched.told = set.is_quorum(members.map(|member| member.power).sum());
        watched.told
    }
    /// The receipts of an entry, ascending by validator.
    pub(crate) fn of(&self, entry: &EntryId) -> Vec<SignedReceipt> {
        let watched = self.entries.get(entry);
        watched.map_or_else(Vec::new, |w| w.signed.values().copied().collect())
    }
    /// All promises for an entry, ascending by validator.
    pub(crate) fn promises(&self, entry: &EntryId) -> Vec<Receipt> {
        let promised = self.entries.get(entry).map(|watched| &watched.promised);
        let receipt = |(validator, height): (&ValidatorId, &u64)| Receipt {
            entry: *entry,
            height: *height,
            validator: *validator,
        };
        promised.map_or_else(Vec::new, |promised| promised.iter().map(receipt).collect())
    }
    /// Whether a validator has promised an entry.
    pub(crate) fn has(&self, entry: &EntryId, validator: &ValidatorId) -> bool {
        let watched = self.entries.get(entry);
        watched.is_some_and(|watched| watched.promised.contains_key(validator))
    }
    /// Forgets the entries whose time is over at a tip.
    pub(crate) fn forget(&mut self, tip: u64) {
        for opens in [false, true] {
            let over = (opens, 0, EntryId::default())..(opens, tip, EntryId::default());
            let over: Vec<End> = self.by_end.range(over).copied().collect();
            for end in over {
                self.by_end.remove(&end);
                self.entries.remove(&end.2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::keys::{SecretKey, Signature};
    use gridbay_protocol::validator::{Validator, validator_id};

    fn id(n: usize) -> EntryId {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&n.to_be_bytes());
        EntryId(id)
    }
    fn set() -> ValidatorSet {
        let member = |n: u8| {
            let key = SecretKey::from_seed(&[n; 32]).public();
            Validator {
                id: validator_id(&key),
                key,
                node: key,
                account: AccountId([n; 32]),
                power: 1,
            }
        };
        ValidatorSet::new((1..=4).map(member).collect()).unwrap()
    }
    fn receipt(entry: EntryId, member: usize, height: u64) -> SignedReceipt {
        SignedReceipt {
            receipt: Receipt {
                entry,
                height,
                validator: set().members()[member].id,
            },
            signature: Signature([1; 64]),
        }
    }

    #[test]
    fn a_quorum_is_told_once_and_the_earliest_promise_counts() {
        let (mut receipts, set) = (Receipts::default(), set());
        assert!(!receipts.add(receipt(id(1), 0, 5), &set), "not ours");
        assert!(receipts.watch_until(id(1), 10, true));
        assert!(!receipts.watch_until(id(1), 10, true));
        assert!(!receipts.add(receipt(id(1), 0, 5), &set));
        assert!(!receipts.add(receipt(id(1), 1, 5), &set));
        assert!(!receipts.add(receipt(id(1), 1, 6), &set), "no later one");
        assert!(receipts.add(receipt(id(1), 2, 5), &set));
        assert!(!receipts.add(receipt(id(1), 3, 5), &set));
        assert!(!receipts.add(receipt(id(1), 1, 4), &set));
        let heights = receipts.of(&id(1)).into_iter().map(|r| r.receipt.height);
        assert_eq!(heights.collect::<Vec<_>>(), [5, 4, 5, 5]);
    }

    #[test]
    fn a_word_counts_like_a_receipt_and_shows_nothing_to_others() {
        let (mut receipts, set) = (Receipts::default(), set());
        let word = |member, height| receipt(id(1), member, height).receipt;
        assert!(!receipts.hear(word(0, 5), &set), "not ours");
        receipts.watch_until(id(1), 10, true);
        assert!(!receipts.hear(word(0, 5), &set));
        assert!(!receipts.hear(word(0, 4), &set), "the same again");
        assert!(!receipts.add(receipt(id(1), 1, 5), &set));
        assert!(receipts.hear(word(2, 6), &set));
        assert!(!receipts.hear(word(3, 6), &set), "told once");
        let promises = receipts.promises(&id(1)).into_iter();
        assert_eq!(promises.map(|p| p.height).collect::<Vec<_>>().len(), 4);
        assert!(receipts.promises(&id(1)).contains(&word(0, 4)));
        assert_eq!(receipts.of(&id(1)), [receipt(id(1), 1, 5)]);
    }

    #[test]
    fn what_is_over_is_forgotten_and_the_memory_is_bounded() {
        let mut receipts = Receipts::default();
        for n in 0..limits::RECEIPTS + 10 {
            receipts.watch_until(id(n), n as u64, false);
        }
        assert_eq!(receipts.entries.len(), limits::RECEIPTS);
        assert!(!receipts.wants(&receipt(id(9), 0, 1).receipt));
        assert!(receipts.wants(&receipt(id(10), 0, 1).receipt));
        receipts.forget(10 + limits::RECEIPT_HEIGHTS);
        assert!(receipts.wants(&receipt(id(10), 0, 1).receipt));
        receipts.forget(11 + limits::RECEIPT_HEIGHTS);
        assert!(!receipts.wants(&receipt(id(10), 0, 1).receipt));
        assert_eq!(receipts.entries.len(), receipts.by_end.len());
    }

    #[test]
    fn a_flood_of_other_entries_takes_no_openings_receipts() {
        let mut receipts = Receipts::default();
        receipts.watch_until(id(0), 5, true);
        for n in 1..limits::RECEIPTS * 2 {
            receipts.watch_until(id(n), 40, false);
        }
        assert_eq!(receipts.entries.len(), limits::RECEIPTS);
        assert!(receipts.wants(&receipt(id(0), 0, 1).receipt));
        receipts.forget(5 + limits::RECEIPT_HEIGHTS + 1);
        assert!(!receipts.wants(&receipt(id(0), 0, 1).receipt));
        assert_eq!(receipts.entries.len(), limits::RECEIPTS - 1);
        for n in 0..limits::RECEIPTS * 2 {
            receipts.watch_until(id(n), 40, true);
        }
        assert_eq!(receipts.entries.len(), limits::RECEIPTS, "bounded as well");
        assert_eq!(receipts.entries.len(), receipts.by_end.len());
    }
}
