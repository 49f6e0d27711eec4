//! Accounts as the ledger keeps them. What an account owns lies in its purse.

use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Its keys, ascending.
    pub keys: Vec<AccountKey>,
    /// The founding member that answers for it; itself for a member.
    pub sponsor: AccountId,
    /// How far its balance may fall below zero; zero for all but members.
    pub credit_line: Credits,
    /// Accounts opened under its sponsorship so far.
    pub opened: u32,
}

impl Account {
    /// What a key may do; `None` for a stranger's key.
    pub fn roles(&self, key: &PublicKey) -> Option<Roles> {
        self.keys.iter().find(|k| k.key == *key).map(|k| k.roles)
    }
}
