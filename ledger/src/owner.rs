//! The account that a key belongs to. At most one account lists a key, so a search by key finds the
//! right account: once an account is open, nobody else can list its keys in an account of their
//! own.

use crate::refusal::Refusal;
use crate::view::Register;
use crate::work::Work;
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::ids::AccountId;

/// Whether no account but `account` lists one of the keys; `None` for an account yet to open.
pub(crate) fn check(
    work: &Work<'_>,
    account: Option<&AccountId>,
    keys: &[AccountKey],
) -> Result<(), Refusal> {
    let foreign = |k: &&AccountKey| {
        let owner = work.tables.keys.get(&k.key);
        owner.is_some() && owner != account
    };
    match keys.iter().find(foreign) {
        Some(taken) => Err(Refusal::KeyTaken(Box::new(taken.key))),
        None => Ok(()),
    }
}

/// Gives an account the keys of its record instead of `before`.
pub(crate) fn update(at: &mut Register<'_, '_>, account: &AccountId, before: &[AccountKey]) {
    for old in before {
        at.keys().remove(&old.key);
    }
    let record = at.tables.accounts.get(account);
    let keys = record.map_or_else(Vec::new, |a| a.keys.clone());
    for new in keys {
        at.keys().insert(new.key, *account);
    }
}
