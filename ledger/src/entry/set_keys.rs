//! `set_keys`: replaces the keys of an account by keys that no other account lists. From the next
//! entry on only the new ones count.

use crate::owner;
use crate::refusal::Refusal;
use crate::view::Register;
use crate::work::Work;
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::ids::AccountId;

pub(super) fn check(
    work: &Work<'_>,
    account: &AccountId,
    keys: &[AccountKey],
) -> Result<(), Refusal> {
    owner::check(work, Some(account), keys)
}

pub(super) fn apply(at: &mut Register<'_, '_>, account: &AccountId, keys: &[AccountKey]) {
    let record = at.accounts().get_mut(account);
    let record = record.expect("an eligible entry's account exists");
    let before = std::mem::replace(&mut record.keys, keys.to_vec());
    owner::update(at, account, &before);
}
