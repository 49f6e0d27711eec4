//! Receipts: a validator's promise not to leave an entry out.
//!
//! 1. A validator that finds an entry admissible tells all validators of it, keeps it on disk and
//!    gives the sender a [`Receipt`] that names its tip of that moment: signed for an opening, by
//!    word for all others, since only openings are ever appealed for.
//! 2. From the block [`limits::INCLUSION_HEIGHTS`] above that tip on it votes, in the first rounds
//!    of consensus, for no block that has room for the entry and omits it.
//! 3. Receipts of more than two thirds of the power show that the entry must be in the book; of
//!    more than a third, that an honest validator knew it. The latter excuse a bid that was never
//!    opened ([`crate::appeal`]).
//!
//! A receipt is no proof against its signer: it states the signer's knowledge, not others'
//! proposals.

use crate::codec;
use crate::hash::Domain;
use crate::ids::{EntryId, NetworkId, ValidatorId};
use crate::keys::{SecretKey, Signature};
use crate::limits;
use crate::validator::ValidatorSet;
use serde::{Deserialize, Serialize};

/// The promise of a validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The entry.
    pub entry: EntryId,
    /// Height of the validator's tip since which the entry counts as acknowledged.
    pub height: u64,
    /// Who promises.
    pub validator: ValidatorId,
}

/// A receipt with its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// By the validator's consensus key, domain [`Domain::Receipt`].
    pub signature: Signature,
}

/// Why a receipt, or a list of them, shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// Not a list of different validators in ascending order.
    #[error("receipts are not an ascending list of validators")]
    Order,
    /// Of another entry.
    #[error("a receipt of entry {0}")]
    Entry(EntryId),
    /// By someone who is no validator.
    #[error("{0} is no validator")]
    Stranger(ValidatorId),
    /// A signature that does not verify.
    #[error("wrong signature of {0}")]
    Signature(ValidatorId),
}

impl SignedReceipt {
    /// Signs a receipt.
    pub fn new(receipt: Receipt, network: &NetworkId, key: &SecretKey) -> SignedReceipt {
        let signature = key.sign(Domain::Receipt, network, &codec::encode(&receipt));
        SignedReceipt { receipt, signature }
    }
    /// Checks membership and signature; returns the signer's power.
    pub fn verify(&self, network: &NetworkId, set: &ValidatorSet) -> Result<u64, ReceiptError> {
        let validator = self.receipt.validator;
        let member = set.get(&validator);
        let member = member.ok_or(ReceiptError::Stranger(validator))?;
        let bytes = codec::encode(&self.receipt);
        let right = member
            .key
            .verify(Domain::Receipt, network, &bytes, &self.signature);
        right.map_err(|_| ReceiptError::Signature(validator))?;
        Ok(member.power)
    }
}

/// Whether receipts are 1 to [`limits::VALIDATORS`], ascending by validator.
pub fn are_in_order(receipts: &[SignedReceipt]) -> bool {
    let by = |r: &SignedReceipt| r.receipt.validator;
    (1..=limits::VALIDATORS).contains(&receipts.len())
        && receipts.windows(2).all(|w| by(&w[0]) < by(&w[1]))
}

/// Power of the validators whose receipts of one entry these are. Order, entry and membership are
/// checked before any signature.
pub fn power(
    receipts: &[SignedReceipt],
    entry: &EntryId,
    network: &NetworkId,
    set: &ValidatorSet,
) -> Result<u64, ReceiptError> {
    if !are_in_order(receipts) {
        return Err(ReceiptError::Order);
    }
    for SignedReceipt { receipt, .. } in receipts {
        if receipt.entry != *entry {
            return Err(ReceiptError::Entry(receipt.entry));
        }
        if set.get(&receipt.validator).is_none() {
            return Err(ReceiptError::Stranger(receipt.validator));
        }
    }
    receipts
        .iter()
        .try_fold(0, |sum, signed| Ok(sum + signed.verify(network, set)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::AccountId;
    use crate::validator::{Validator, validator_id};

    const NETWORK: NetworkId = NetworkId([1; 32]);
    const ENTRY: EntryId = EntryId([2; 32]);

    fn key(n: u8) -> SecretKey {
        SecretKey::from_seed(&[n; 32])
    }
    fn set() -> ValidatorSet {
        let member = |n: u8| Validator {
            id: validator_id(&key(n).public()),
            key: key(n).public(),
            node: key(n + 100).public(),
            account: AccountId([n; 32]),
            power: u64::from(n),
        };
        ValidatorSet::new((1..=3).map(member).collect()).unwrap()
    }
    fn receipt(n: u8, entry: EntryId) -> SignedReceipt {
        let receipt = Receipt {
            entry,
            height: 7,
            validator: validator_id(&key(n).public()),
        };
        SignedReceipt::new(receipt, &NETWORK, &key(n))
    }
    fn sorted(mut receipts: Vec<SignedReceipt>) -> Vec<SignedReceipt> {
        receipts.sort_by_key(|r| r.receipt.validator);
        receipts
    }

    #[test]
    fn the_power_of_right_receipts_adds_up() {
        let both = sorted(vec![receipt(2, ENTRY), receipt(3, ENTRY)]);
        assert_eq!(power(&both, &ENTRY, &NETWORK, &set()), Ok(5));
    }

    #[test]
    fn everything_else_shows_nothing() {
        let judge = |receipts: &[SignedReceipt]| power(receipts, &ENTRY, &NETWORK, &set());
        assert_eq!(judge(&[]), Err(ReceiptError::Order));
        let twice = [receipt(2, ENTRY), receipt(2, ENTRY)];
        assert_eq!(judge(&twice), Err(ReceiptError::Order));
        let other = EntryId([3; 32]);
        let of_other = receipt(2, other);
        assert_eq!(judge(&[of_other]), Err(ReceiptError::Entry(other)));
        let mut renamed = of_other;
        renamed.receipt.entry = ENTRY;
        let signer = renamed.receipt.validator;
        assert_eq!(judge(&[renamed]), Err(ReceiptError::Signature(signer)));
        let mut earlier = receipt(2, ENTRY);
        earlier.receipt.height = 6;
        assert_eq!(judge(&[earlier]), Err(ReceiptError::Signature(signer)));
        let stranger = receipt(9, ENTRY);
        let id = stranger.receipt.validator;
        assert_eq!(judge(&[stranger]), Err(ReceiptError::Stranger(id)));
        let elsewhere = power(&[receipt(2, ENTRY)], &ENTRY, &NetworkId([9; 32]), &set());
        assert_eq!(elsewhere, Err(ReceiptError::Signature(signer)));
    }
}
