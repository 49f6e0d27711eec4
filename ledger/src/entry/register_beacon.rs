//! `register_beacon`: a new beacon chain for the validator of a member. Its next block reveals the preimage
//! of the new tip.

use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, Hash32, ValidatorId};

pub(super) fn check(work: &Work<'_>, account: &AccountId) -> Result<(), Refusal> {
    let found = validator(work, account);
    found.map(|_| ()).ok_or(Refusal::NoValidator(*account))
}

pub(super) fn apply(work: &mut Work<'_>, account: &AccountId, tip: Hash32) {
    let id = validator(work, account).expect("the account's validator was checked");
    work.tables.beacons.insert(id, tip);
}

fn validator(work: &Work<'_>, account: &AccountId) -> Option<ValidatorId> {
    let mut members = work.constitution.validators.members().iter();
    members.find(|v| v.account == *account).map(|v| v.id)
}
