//! `set_keys`: replaces the keys of an account. From the next entry on only the new ones count. There is
//! nothing to check beyond the role and the form of the key set.

use crate::work::Work;
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::ids::AccountId;

pub(super) fn apply(work: &mut Work<'_>, account: &AccountId, keys: &[AccountKey]) {
    let account = work.tables.accounts.get_mut(account);
    account.expect("an eligible entry's account exists").keys = keys.to_vec();
}
