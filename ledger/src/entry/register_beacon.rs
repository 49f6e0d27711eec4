//! `register_beacon`: the next beacon chain for the validator of a member. When it counts, see
//! `beacons`.

use crate::beacons;
use crate::refusal::Refusal;
use crate::view::Beacons;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, Hash32, ValidatorId};

pub(super) fn check(work: &Work<'_>, account: &AccountId) -> Result<(), Refusal> {
    let id = validator(work, account).ok_or(Refusal::NoValidator(*account))?;
    match work.tables.successors.get(&id) {
        Some(waiting) => Err(Refusal::BeaconWaits {
            validator: id,
            epoch: waiting.epoch,
        }),
        None => Ok(()),
    }
}

pub(super) fn apply(at: &mut Beacons<'_, '_>, account: &AccountId, tip: Hash32) {
    let id = validator(at, account).expect("the account's validator was checked");
    beacons::register(at, id, tip);
}

fn validator(work: &Work<'_>, account: &AccountId) -> Option<ValidatorId> {
    let mut members = work.constitution.validators.members().iter();
    members.find(|v| v.account == *account).map(|v| v.id)
}
