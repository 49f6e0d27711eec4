//! Entries, one file per kind, each with two functions: `check` decides on funds and rules and changes nothing;
//! `apply` follows at once on the same working set and cannot fail.

mod appeal;
mod buy;
mod cancel;
mod close_account;
mod commit;
mod complain;
mod contract;
mod deadline;
mod deliver;
mod fail;
mod heartbeat;
mod open;
mod open_account;
mod register_beacon;
mod set_keys;
mod set_offer;
mod share;
#[cfg(test)]
pub(crate) mod steps;
mod transfer;
mod withdraw_offer;

pub(crate) use deadline::check as check_deadline;

use crate::admit::Admitted;
use crate::entry_budget;
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::stage::Authentic;

/// Whether an eligible entry may take effect now.
pub(crate) fn check(work: &Work<'_>, entry: &Authentic) -> Result<(), Refusal> {
    let entry = entry.entry();
    let account = &entry.account;
    match &entry.body {
        EntryBody::SetKeys { keys } => set_keys::check(work, account, keys),
        EntryBody::OpenAccount {
            grant,
            keys,
            endowment,
        } => open_account::check(work, entry, grant.as_deref(), keys, *endowment),
        EntryBody::RegisterBeacon { .. } => register_beacon::check(work, account),
        EntryBody::Transfer { to, amount, .. } => transfer::check(work, account, to, *amount),
        EntryBody::SetOffer(terms) => set_offer::check(work, account, terms),
        EntryBody::WithdrawOffer { label } => withdraw_offer::check(work, account, *label),
        EntryBody::Deliver { lease } => deliver::check(work, account, lease),
        EntryBody::Fail { lease } => fail::check(work, account, lease),
        EntryBody::Cancel { order } => cancel::check(work, account, order),
        EntryBody::Commit(commit) => commit::check(work, account, commit),
        EntryBody::Open(open) => open::check(work, account, open),
        EntryBody::Buy(buy) => buy::check(work, account, buy),
        EntryBody::Appeal(appeal) => appeal::check(work, account, appeal),
        EntryBody::Deadline(job) => deadline::check(work, account, job),
        EntryBody::Contract(entry) => contract::check(work, account, entry),
        EntryBody::Share(claim) => share::check(work, account, claim),
        EntryBody::Heartbeat { label } => heartbeat::check(work, account, *label),
        EntryBody::Complain { lease, offer, slot } => {
            complain::check(work, account, lease, offer, *slot)
        }
        EntryBody::CloseAccount { to } => close_account::check(work, account, to),
    }
}

/// Makes an admitted entry take effect.
pub(crate) fn apply(work: &mut Work<'_>, admitted: &Admitted) {
    let (id, entry) = (admitted.entry().id(), admitted.entry().entry());
    let account = &entry.account;
    if !planted::is(Planted::ForgetUsedEntries) {
        work.tables.seen.insert((entry.valid_until, id), ());
    }
    entry_budget::count(work, admitted.entry());
    match &entry.body {
        EntryBody::SetKeys { keys } => set_keys::apply(work, account, keys),
        EntryBody::OpenAccount {
            grant,
            keys,
            endowment,
        } => open_account::apply(work, &id, entry, grant.as_deref(), keys, *endowment),
        EntryBody::RegisterBeacon { tip } => register_beacon::apply(work, account, *tip),
        EntryBody::Transfer { to, amount, .. } => transfer::apply(work, account, to, *amount),
        EntryBody::SetOffer(terms) => set_offer::apply(work, account, terms),
        EntryBody::WithdrawOffer { label } => withdraw_offer::apply(work, account, *label),
        EntryBody::Deliver { lease } => deliver::apply(work, account, lease),
        EntryBody::Fail { lease } => fail::apply(work, account, lease),
        EntryBody::Cancel { order } => cancel::apply(work, order),
        EntryBody::Commit(commit) => commit::apply(work, &id, account, commit),
        EntryBody::Open(open) => open::apply(work, account, open),
        EntryBody::Buy(buy) => buy::apply(work, &id, account, buy),
        EntryBody::Appeal(appeal) => appeal::apply(work, appeal),
        EntryBody::Deadline(job) => deadline::apply(work, &id, account, job),
        EntryBody::Contract(entry) => contract::apply(work, &id, account, entry),
        EntryBody::Share(claim) => share::apply(work, &id, account, claim),
        EntryBody::Heartbeat { label } => heartbeat::apply(work, account, *label),
        EntryBody::Complain { lease, offer, slot } => {
            complain::apply(work, account, lease, offer, *slot);
        }
        EntryBody::CloseAccount { to } => close_account::apply(work, account, to),
    }
}
