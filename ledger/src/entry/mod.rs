//! Entries, one file per kind, each with two functions: `check` decides on funds and rules and changes nothing;
//! `apply` follows at once on the same working set and cannot fail.

mod open_account;
mod register_beacon;
mod set_keys;
mod transfer;

use crate::admit::Admitted;
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::stage::Authentic;

/// Whether an eligible entry may take effect now.
pub(crate) fn check(work: &Work<'_>, entry: &Authentic) -> Result<(), Refusal> {
    match &entry.entry().body {
        EntryBody::SetKeys { .. } => Ok(()),
        EntryBody::OpenAccount {
            grant, endowment, ..
        } => open_account::check(work, entry.entry(), grant.as_deref(), *endowment),
        EntryBody::RegisterBeacon { .. } => register_beacon::check(work, &entry.entry().account),
        EntryBody::Transfer { to, amount, .. } => {
            transfer::check(work, &entry.entry().account, to, *amount)
        }
        _ => Err(Refusal::Overflow),
    }
}

/// Makes an admitted entry take effect.
pub(crate) fn apply(work: &mut Work<'_>, admitted: &Admitted) {
    let authentic = admitted.entry();
    let (id, entry) = (authentic.id(), authentic.entry());
    work.tables.seen.insert((entry.valid_until, id), ());
    match &entry.body {
        EntryBody::SetKeys { keys } => set_keys::apply(work, &entry.account, keys),
        EntryBody::OpenAccount {
            grant,
            keys,
            endowment,
        } => open_account::apply(work, &id, entry, grant.as_deref(), keys, *endowment),
        EntryBody::RegisterBeacon { tip } => register_beacon::apply(work, &entry.account, *tip),
        EntryBody::Transfer { to, amount, .. } => {
            transfer::apply(work, &entry.account, to, *amount);
        }
        _ => {}
    }
}
