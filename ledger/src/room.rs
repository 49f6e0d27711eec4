//! The share of a block that entries may take: in all, for each house, and for each account in a
//! house. Proposers and validators count alike.

use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::{BLOCK_ENTRIES, BLOCK_ENTRIES_BYTES, SIGNED_ENTRY_BYTES};
use std::collections::BTreeMap;

/// An account and its house.
pub(crate) type Holder = (AccountId, AccountId);

/// Entries by whose they are, and the most that any of those has.
#[derive(Clone, Debug, Default)]
struct Shares {
    of: BTreeMap<AccountId, usize>,
    largest: usize,
}

impl Shares {
    fn of(&self, whose: &AccountId) -> usize {
        self.of.get(whose).copied().unwrap_or(0)
    }
    fn add(&mut self, whose: AccountId) {
        let share = self.of.entry(whose).or_default();
        *share += 1;
        self.largest = self.largest.max(*share);
    }
    /// Whether nobody has two more.
    fn is_fair_to(&self, whose: &AccountId) -> bool {
        self.largest <= self.of(whose) + 1
    }
}

/// The room that the entries taken so far leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    entries: usize,
    bytes: usize,
    houses: Shares,
    /// By house, what its accounts have.
    accounts: BTreeMap<AccountId, Shares>,
}

impl Room {
    /// Whether an entry of so many bytes fits beside them.
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.entries < BLOCK_ENTRIES && self.bytes + bytes <= BLOCK_ENTRIES_BYTES
    }
    /// Whether there is an entry, a large one, that would not fit: then the block counts as full.
    pub(crate) fn is_full(&self) -> bool {
        !self.fits(SIGNED_ENTRY_BYTES)
    }
    /// Takes an entry in.
    pub(crate) fn take(&mut self, (account, house): Holder, bytes: usize) {
        self.entries += 1;
        self.bytes += bytes;
        self.houses.add(house);
        self.accounts.entry(house).or_default().add(account);
    }
    /// Entries of a house.
    pub(crate) fn share(&self, house: &AccountId) -> usize {
        self.houses.of(house)
    }
    /// Whether an entry that the ledger would admit may be left out all the same: the block is
    /// full, no house has two entries more than its house, and no account of this house two more
    /// than its account.
    pub(crate) fn excuses(&self, (account, house): &Holder) -> bool {
        let mut within = self.accounts.get(house).into_iter();
        self.is_full()
            && self.houses.is_fair_to(house)
            && within.all(|accounts| accounts.is_fair_to(account))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::block::{BLOCK_EVIDENCE, Header};
    use gridbay_protocol::codec;
    use gridbay_protocol::evidence::Evidence;
    use gridbay_protocol::ids::{BlockId, ValidatorId};
    use gridbay_protocol::keys::Signature;
    use gridbay_protocol::limits::{BLOCK_RESERVE, HINT_BYTES, VALIDATORS};
    use gridbay_protocol::vote::{Certificate, CertificateSignature, Vote, VoteKind};

    #[test]
    fn what_a_block_carries_beside_entries_fits_the_reserve() {
        let signature = Signature([255; 64]);
        let validator = ValidatorId([255; 32]);
        let signed = CertificateSignature {
            validator,
            signature,
        };
        let certificate = Certificate {
            height: u64::MAX,
            round: u32::MAX,
            block: BlockId([255; 32]),
            signatures: vec![signed; VALIDATORS],
        };
        let vote = Vote {
            kind: VoteKind::Precommit,
            height: u64::MAX,
            round: u32::MAX,
            block: Some(BlockId([255; 32])),
            validator,
        };
        let evidence = Evidence::new((vote, signature), (vote, signature));
        let beside = codec::encode(&(certificate, vec![evidence; BLOCK_EVIDENCE])).len();
        let header = std::mem::size_of::<Header>() * 2 + 1_024;
        assert!(HINT_BYTES + beside + header <= BLOCK_RESERVE, "{beside}");
    }

    #[test]
    fn a_block_is_full_when_the_largest_entry_does_not_fit() {
        let [one, two] = [1, 2].map(|n| (AccountId([n; 32]), AccountId([n; 32])));
        let mut room = Room::default();
        while !room.is_full() {
            assert!(!room.excuses(&two));
            room.take(one, SIGNED_ENTRY_BYTES);
        }
        assert!(!room.fits(SIGNED_ENTRY_BYTES) && !room.excuses(&two));
        assert!(room.excuses(&one));
    }

    #[test]
    fn shares_count_by_house_and_within_a_house_by_account() {
        let holder = |account: u8, house: u8| (AccountId([account; 32]), AccountId([house; 32]));
        let mut room = Room::default();
        for account in 0..100 {
            room.take(holder(account, 1), 0);
        }
        while !room.is_full() {
            room.take(holder(200, 2), 0);
        }
        assert!(!room.excuses(&holder(7, 1)), "its house has 100 of 2,000");
        assert!(
            !room.excuses(&holder(201, 2)),
            "its house's other account has all"
        );
        assert!(room.excuses(&holder(200, 2)));
    }
}
