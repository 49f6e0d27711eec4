//! How much of a block entries may take, and how much of it each account has: one reckoning for who
//! makes a block and who judges it.

use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::{BLOCK_ENTRIES, BLOCK_ENTRIES_BYTES, SIGNED_ENTRY_BYTES};
use std::collections::BTreeMap;

/// What the entries taken so far leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    entries: usize,
    bytes: usize,
    shares: BTreeMap<AccountId, usize>,
    largest: usize,
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
    /// Takes an entry of an account in.
    pub(crate) fn take(&mut self, account: AccountId, bytes: usize) {
        self.entries += 1;
        self.bytes += bytes;
        let share = self.shares.entry(account).or_default();
        *share += 1;
        self.largest = self.largest.max(*share);
    }
    /// Entries of an account.
    pub(crate) fn share(&self, account: &AccountId) -> usize {
        self.shares.get(account).copied().unwrap_or(0)
    }
    /// Whether an entry that the ledger would admit may be left out all the same: the block is
    /// full, and no account has more than one entry more than that of the entry.
    pub(crate) fn excuses(&self, account: &AccountId) -> bool {
        self.is_full() && self.largest <= self.share(account) + 1
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
        let (one, two) = (AccountId([1; 32]), AccountId([2; 32]));
        let mut room = Room::default();
        while !room.is_full() {
            assert!(!room.excuses(&two));
            room.take(one, SIGNED_ENTRY_BYTES);
        }
        assert!(!room.fits(SIGNED_ENTRY_BYTES) && !room.excuses(&two));
        assert!(room.excuses(&one));
    }
}
