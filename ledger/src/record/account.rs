//! Accounts as the ledger keeps them. The money of an account lies in its purse.

use crate::record::{Closed, Seats, Spent};
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
    /// The account that invited or opened it; itself for a member.
    pub inviter: AccountId,
    /// Steps of invitation from its sponsor; 0 for a member.
    pub depth: u8,
    /// Open accounts that it invited or opened.
    pub invited: u32,
    /// Of those, accounts that were closed in the running epoch: their seats come back with the
    /// next one.
    pub closed: Closed,
    /// Of a member: the accounts that it answers for, by depth from 1 on.
    pub seats: Vec<Seats>,
    /// Its recent spending of the budget of entries.
    pub spent: Spent,
}

impl Account {
    /// The roles of a key; `None` for a stranger's key.
    pub fn roles(&self, key: &PublicKey) -> Option<Roles> {
        self.keys.iter().find(|k| k.key == *key).map(|k| k.roles)
    }
}
