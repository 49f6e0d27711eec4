//! Accounts: their keys, and the roles in which keys act for them.

use crate::hash::{Domain, hash};
use crate::ids::{AccountId, EntryId};
use crate::keys::PublicKey;
use crate::limits;
use serde::{Deserialize, Serialize};

/// Roles of a key, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Roles(u8);

impl Roles {
    /// Move money and change keys.
    pub const SPEND: Roles = Roles(1);
    /// Order and buy: commits money to escrow.
    pub const TRADE: Roles = Roles(2);
    /// Offer units, deliver leases, register beacons.
    pub const OPERATE: Roles = Roles(4);
    /// Everything.
    pub const ALL: Roles = Roles(7);

    /// Both sets together.
    pub const fn with(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }
    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Roles) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether the bits name at least one role and no unknown one.
    pub const fn is_valid(self) -> bool {
        self.0 != 0 && self.0 & !Roles::ALL.0 == 0
    }
}

/// A key of an account with its roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountKey {
    /// The key.
    pub key: PublicKey,
    /// Its roles.
    pub roles: Roles,
}

/// Whether `keys` is a legal set: 1 to [`limits::ACCOUNT_KEYS`], ascending by key without
/// repeats, valid roles, and at least one that may spend (else the account is lost).
pub fn keys_are_valid(keys: &[AccountKey]) -> bool {
    !keys.is_empty()
        && keys.len() <= limits::ACCOUNT_KEYS
        && keys.windows(2).all(|w| w[0].key < w[1].key)
        && keys.iter().all(|k| k.roles.is_valid())
        && keys.iter().any(|k| k.roles.contains(Roles::SPEND))
}

/// Id of an account opened by an entry.
pub fn opened_by(entry: &EntryId) -> AccountId {
    AccountId(hash(Domain::Account, &[entry.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;

    #[test]
    fn legal_key_sets() {
        let key = |n: u8, roles| AccountKey {
            key: SecretKey::from_seed(&[n; 32]).public(),
            roles,
        };
        let mut two = vec![key(1, Roles::SPEND), key(2, Roles::TRADE)];
        two.sort_by_key(|k| k.key);
        assert!(keys_are_valid(&two));
        assert!(!keys_are_valid(&[]));
        assert!(
            !keys_are_valid(&[key(1, Roles::TRADE.with(Roles::OPERATE))]),
            "nobody may spend"
        );
        assert!(!keys_are_valid(&[key(1, Roles(8))]), "unknown role");
        assert!(!keys_are_valid(&[two[0], two[0]]), "repeated");
        two.reverse();
        assert!(!keys_are_valid(&two), "unsorted");
    }
}
