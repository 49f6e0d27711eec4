//! Has several accounts whose entries exclude one another. Each account sends all its money to the
//! next, again and again, and all of them claim one new key. Each entry alone is admitted, but few
//! of them together are.
//!
//! Attacks I6 and I12: a proposer that judged the oldest entries one by one would fill its draft
//! with entries that the ledger then refuses, and a judge that asked whether an entry alone is
//! admitted would blame honest blocks for leaving it out.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;

/// Accounts besides its own.
const MATES: usize = 2;
/// The endowment of each mate, in millionths of a credit.
const ENDOWMENT: u64 = 5_000_000;
/// Transfers of one mate in one whim.
const TRANSFERS: usize = 8;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct AccountConspirators {
    mates: Vec<(AccountId, SecretKey)>,
    deeds: u64,
}

fn list(keys: &[(&SecretKey, Roles)]) -> Vec<AccountKey> {
    let listed = keys.iter().map(|(key, roles)| AccountKey {
        key: key.public(),
        roles: *roles,
    });
    let mut list: Vec<AccountKey> = listed.collect();
    list.sort_by_key(|k| k.key);
    list
}

impl AccountConspirators {
    /// The entry that opens one more account.
    fn recruit(&mut self, puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
        let key = SecretKey::from_seed(&puppet.rng.bytes32());
        let entry = puppet.entry(EntryBody::OpenAccount {
            grant: None,
            keys: list(&[(&key, Roles::ALL)]),
            endowment: Credits::from_micros(ENDOWMENT)?,
        })?;
        self.mates.push((opened_by(&entry.id()), key));
        Some(entry)
    }
    /// The present entries of its accounts: each sends its whole balance to the next one, and
    /// claims one key for all.
    fn contend(&mut self, puppet: &mut Puppet<'_>) -> Vec<SignedEntry> {
        let new = SecretKey::from_seed(&puppet.rng.bytes32());
        let mut out = Vec::new();
        for (i, (account, key)) in self.mates.iter().enumerate() {
            if puppet.state().account(account).is_none() {
                continue;
            }
            let (to, _) = self.mates[(i + 1) % self.mates.len()];
            let has = u64::try_from(puppet.state().balance(account).free)
                .unwrap_or(0)
                .max(1);
            for _ in 0..TRANSFERS {
                let body = EntryBody::Transfer {
                    to,
                    amount: Credits::from_micros(has).unwrap_or_default(),
                    memo: Hash32(puppet.rng.bytes32()),
                };
                out.push(puppet.entry_of(*account, body, key));
            }
            let keys = list(&[(key, Roles::ALL), (&new, Roles::TRADE)]);
            out.push(puppet.entry_of(*account, EntryBody::SetKeys { keys }, key));
        }
        out
    }
}

impl Lie for AccountConspirators {
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let entries = if self.mates.len() < MATES {
            self.recruit(puppet).into_iter().collect()
        } else {
            self.contend(puppet)
        };
        self.deeds += u64::from(!entries.is_empty());
        puppet.tell_voters(entries)
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
