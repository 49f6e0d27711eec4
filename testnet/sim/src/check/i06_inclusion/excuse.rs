//! Excuses of a block for leaving out an entry that the ledger admits before and after it.
//!
//! Nothing is executed. An excuse counts unless its opposite is certain:
//!
//! 1. *Room.* The block is full, no house has two entries more than the entry's house, and no
//!    account of this house two more than the entry's account. A house is a member with the
//!    accounts that it answers for.
//! 2. *A key.* Another entry names a key that this one names: keys may change hands and come back.
//! 3. *Its own account.* Other entries of it are in the block, and may have shut it out. They have
//!    not for certain if none of them replaces keys or closes the account, no epoch ends with the
//!    block, and
//!    - the entry is a transfer, and the account had twice its amount at any place in the block;
//!    - or it is of one of a few other kinds, all others are transfers, and the account had twice
//!      the money that it needs.
//!
//!    The least money that an account had is its balance after the block, less all receipts in it.

use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::{BLOCK_BYTES, BLOCK_ENTRIES, BLOCK_RESERVE, SIGNED_ENTRY_BYTES};
use gridbay_protocol::payment::Purse;
use std::collections::{BTreeMap, BTreeSet};

/// An account after a block.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Standing {
    /// The member that answers for it.
    pub(in crate::check) house: AccountId,
    /// The money of its own that it can pay.
    pub(in crate::check) free: i64,
}

/// A block, what it did, and what came of it.
pub(in crate::check) struct Made<'a> {
    pub(in crate::check) entries: &'a [SignedEntry],
    pub(in crate::check) effects: &'a [Effect],
    /// Accounts after it; `None` if nobody can tell.
    pub(in crate::check) after: &'a dyn Fn(&AccountId) -> Option<Standing>,
    /// Whether no epoch ends with it, and entries were so few that all honest mempools hold the
    /// same.
    pub(in crate::check) quiet: bool,
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

/// The money that an entry needs at the most; of those kinds alone that other transfers of their
/// account shut out by taking its money, or not at all.
fn needs(body: &EntryBody) -> Option<u64> {
    match body {
        EntryBody::Transfer { amount, .. } => Some(amount.micros()),
        EntryBody::Open(open) => Some(open.wish.lock().micros()),
        EntryBody::Appeal(_)
        | EntryBody::Cancel { .. }
        | EntryBody::Complain { .. }
        | EntryBody::Deliver { .. }
        | EntryBody::Heartbeat { .. }
        | EntryBody::WithdrawOffer { .. } => Some(0),
        _ => None,
    }
}

/// How many of each, and the most of any.
fn count(of: impl Iterator<Item = AccountId>) -> (BTreeMap<AccountId, usize>, usize) {
    let mut counts: BTreeMap<AccountId, usize> = BTreeMap::new();
    of.for_each(|id| *counts.entry(id).or_default() += 1);
    let most = counts.values().copied().max().unwrap_or(0);
    (counts, most)
}

impl Made<'_> {
    /// Whether the block may leave the entry out, as far as this can tell.
    pub(in crate::check) fn excuses(&self, entry: &Entry) -> bool {
        (self.is_full() && self.is_fair_to(&entry.account))
            || self.takes_a_key_of(entry)
            || self.may_stand_in_the_way(entry)
    }
    /// Whether the largest entry that there can be would not fit any more.
    fn is_full(&self) -> bool {
        let bytes = self.entries.iter().map(|e| codec::encode(e).len());
        self.entries.len() >= BLOCK_ENTRIES
            || bytes.sum::<usize>() + SIGNED_ENTRY_BYTES > BLOCK_BYTES - BLOCK_RESERVE
    }
    /// Rule 1, of a full block.
    fn is_fair_to(&self, account: &AccountId) -> bool {
        let house = |id: &AccountId| (self.after)(id).map(|standing| standing.house);
        let accounts = || self.entries.iter().map(|e| e.entry.account);
        let houses: Option<Vec<AccountId>> = accounts().map(|id| house(&id)).collect();
        let (Some(houses), Some(own)) = (houses, house(account)) else {
            return true;
        };
        let within = accounts().zip(&houses).filter(|(_, house)| **house == own);
        let (within, most_within) = count(within.map(|(id, _)| id));
        let (by_house, most) = count(houses.iter().copied());
        let has = |counts: &BTreeMap<AccountId, usize>, id| counts.get(id).copied().unwrap_or(0);
        most <= has(&by_house, &own) + 1 && most_within <= has(&within, account) + 1
    }
    /// Rule 2.
    fn takes_a_key_of(&self, entry: &Entry) -> bool {
        let keys = keys_of(&entry.body);
        let mut taken = self.entries.iter().flat_map(|e| keys_of(&e.entry.body));
        taken.any(|key| keys.contains(&key))
    }
    /// Rule 3.
    fn may_stand_in_the_way(&self, entry: &Entry) -> bool {
        let own = self.entries.iter().map(|e| &e.entry);
        let own = own.filter(|e| e.account == entry.account);
        let others: Vec<&EntryBody> = own.map(|e| &e.body).collect();
        if others.is_empty() {
            return false;
        }
        let is_transfer = |body: &EntryBody| matches!(body, EntryBody::Transfer { .. });
        let changes = |body: &EntryBody| {
            matches!(
                body,
                EntryBody::SetKeys { .. } | EntryBody::CloseAccount { .. }
            )
        };
        let apart = match is_transfer(&entry.body) {
            true => !others.iter().any(|body| changes(body)),
            false => others.iter().all(|body| is_transfer(body)),
        };
        let paid = needs(&entry.body).is_some_and(|most| self.has(&entry.account, most));
        !(self.quiet && apart && paid)
    }
    /// Whether an account had twice as much at any place in the block.
    fn has(&self, account: &AccountId, micros: u64) -> bool {
        let came = self.effects.iter().map(|effect| match effect {
            Effect::Posting(p) if p.to == Purse::Account(*account) => i128::from(p.amount.micros()),
            _ => 0,
        });
        let came: i128 = came.sum();
        let after = (self.after)(account).map(|standing| i128::from(standing.free));
        let twice = 2 * i128::from(micros);
        twice == 0 || after.is_some_and(|free| free - came >= twice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::validator_key;
    use gridbay_protocol::account::{AccountKey, Roles};
    use gridbay_protocol::ids::{Hash32, NetworkId, OfferId};
    use gridbay_protocol::payment::{Posting, Reason};
    use gridbay_protocol::units::Credits;

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).expect("a small amount")
    }

    fn entry(account: u8, body: EntryBody) -> SignedEntry {
        let key = validator_key(1);
        let entry = Entry {
            network: NetworkId([1; 32]),
            account: AccountId([account; 32]),
            key: key.public(),
            valid_until: 9,
            body,
        };
        SignedEntry::new(entry, &key)
    }

    fn transfer(account: u8, amount: u64) -> SignedEntry {
        let body = EntryBody::Transfer {
            to: AccountId([99; 32]),
            amount: micros(amount),
            memo: Hash32::default(),
        };
        entry(account, body)
    }

    fn keys(account: u8, of: usize) -> SignedEntry {
        let (key, roles) = (validator_key(of).public(), Roles::ALL);
        let keys = vec![AccountKey { key, roles }];
        entry(account, EntryBody::SetKeys { keys })
    }

    /// Accounts from 100 on are of the house 100; the others are their own. All have 1,000.
    fn after(account: &AccountId) -> Option<Standing> {
        let house = match account.0[0] {
            100.. => AccountId([100; 32]),
            _ => *account,
        };
        Some(Standing { house, free: 1_000 })
    }

    fn made<'a>(entries: &'a [SignedEntry], effects: &'a [Effect]) -> Made<'a> {
        Made {
            entries,
            effects,
            after: &after,
            quiet: true,
        }
    }

    fn excused(entries: &[SignedEntry], left_out: &SignedEntry) -> bool {
        made(entries, &[]).excuses(&left_out.entry)
    }

    #[test]
    fn another_entry_of_the_account_excuses_only_what_it_may_shut_out() {
        let little = transfer(1, 500);
        assert!(!excused(&[], &little));
        assert!(!excused(&[transfer(1, 7), transfer(2, 7)], &little));
        assert!(excused(&[transfer(1, 7)], &transfer(1, 501)), "its money");
        assert!(!excused(&[transfer(2, 7)], &transfer(1, 501)));
        assert!(excused(&[keys(1, 3)], &little), "its keys");
        assert!(excused(&[transfer(1, 7)], &keys(1, 3)), "not looked into");
        let beat = |label| entry(1, EntryBody::Heartbeat { label });
        assert!(!excused(&[transfer(1, 7)], &beat(0)));
        assert!(excused(&[beat(1)], &beat(0)), "once a slot");
        assert!(!excused(&[beat(1)], &little));
        let back = EntryBody::Complain {
            lease: Default::default(),
            offer: OfferId::default(),
            slot: 4,
        };
        assert!(!excused(&[transfer(1, 7)], &entry(1, back)));
        let entries = [transfer(1, 7)];
        let restless = Made {
            quiet: false,
            ..made(&entries, &[])
        };
        assert!(restless.excuses(&little.entry));
    }

    #[test]
    fn money_that_came_in_the_block_may_have_come_too_late() {
        let came = Effect::Posting(Posting {
            from: Purse::Bank,
            to: Purse::Account(AccountId([1; 32])),
            amount: micros(600),
            reason: Reason::Refund,
            order: None,
        });
        let (entries, effects) = ([transfer(1, 7)], [came]);
        let made = made(&entries, &effects);
        assert!(made.excuses(&transfer(1, 201).entry));
        assert!(!made.excuses(&transfer(1, 200).entry));
    }

    #[test]
    fn contention_for_a_key_excuses() {
        assert!(!excused(&[keys(2, 3)], &keys(1, 2)), "another key");
        assert!(excused(&[keys(2, 2)], &keys(1, 2)));
    }

    #[test]
    fn a_full_block_excuses_only_if_it_is_shared_out() {
        let full = |accounts: &[u8]| {
            let of = accounts.iter().cycle().take(BLOCK_ENTRIES);
            let of = of.map(|n| (AccountId([*n; 32]), transfer(*n, 7)));
            of.map(|(_, entry)| entry).collect::<Vec<_>>()
        };
        let even = full(&[1, 2]);
        assert!(excused(&even, &transfer(1, 501)));
        assert!(!excused(&even, &transfer(3, 501)), "its house has none");
        assert!(!excused(&even[1..], &transfer(3, 501)), "there is room");
        let house = full(&[1, 100, 1, 101]);
        assert!(excused(&house, &transfer(100, 501)));
        assert!(!excused(&house, &transfer(102, 501)), "its mates have 500");
        let unknown = Made {
            after: &|_: &AccountId| None,
            ..made(&even, &[])
        };
        assert!(unknown.excuses(&transfer(3, 501).entry), "nobody can tell");
    }

    #[test]
    fn a_block_is_full_when_the_largest_entry_does_not_fit() {
        let one = transfer(1, 7);
        let bytes = codec::encode(&one).len();
        let most = (BLOCK_BYTES - BLOCK_RESERVE - SIGNED_ENTRY_BYTES) / bytes;
        assert!(most > BLOCK_ENTRIES, "small ones are bounded by number");
        let mut large = one.clone();
        let (key, roles) = (validator_key(2).public(), Roles::ALL);
        let keys = vec![AccountKey { key, roles }; 100];
        large.entry.body = EntryBody::SetKeys { keys };
        let most = (BLOCK_BYTES - BLOCK_RESERVE - SIGNED_ENTRY_BYTES) / codec::encode(&large).len();
        assert!(most < BLOCK_ENTRIES && most * codec::encode(&large).len() > BLOCK_BYTES / 2);
        let entries = vec![large; most + 1];
        assert!(!made(&entries[1..], &[]).is_full());
        assert!(made(&entries, &[]).is_full());
    }
}
