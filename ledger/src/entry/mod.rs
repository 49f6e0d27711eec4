//! Entries. Every kind has a `check` that decides on funds and rules and changes nothing, and an
//! `apply` that follows at once on the same working set and cannot fail. Kinds that sell nothing
//! have a file here; those of the ways of selling lie in `sell`, where `apply` is called `enter`.

mod cancel;
mod close_account;
mod complain;
mod deliver;
mod fail;
mod heartbeat;
mod open_account;
mod register_beacon;
mod set_keys;
mod set_offer;
#[cfg(test)]
pub(crate) mod steps;
mod transfer;
mod withdraw_offer;

use crate::admit::Admitted;
use crate::entry_budget;
use crate::refusal::Refusal;
use crate::sell::sealed::{appeal, commit, open, unopened};
use crate::sell::{buy, contract, deadline, posted, share};
use crate::work::Work;
use gridbay_protocol::entry::EntryBody;
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
        EntryBody::Buy(buy) => buy::entry::check(work, account, buy),
        EntryBody::Appeal(appeal) => appeal::check(work, account, appeal),
        EntryBody::Deadline(job) => deadline::entry::check(work, account, job),
        EntryBody::Contract(entry) => contract::entry::check(work, account, entry),
        EntryBody::Share(claim) => share::entry::check(work, account, claim),
        EntryBody::Heartbeat { label } => heartbeat::check(work, account, *label),
        EntryBody::Complain { lease, offer, slot } => {
            complain::check(work, account, lease, offer, *slot)
        }
        EntryBody::CloseAccount { to } => close_account::check(work, account, to),
        EntryBody::Posted(hire) => posted::entry::check(work, account, hire),
    }
}

/// Makes an admitted entry take effect.
pub(crate) fn apply(work: &mut Work<'_>, admitted: &Admitted) {
    let (id, entry) = (admitted.entry().id(), admitted.entry().entry());
    let account = &entry.account;
    work.tables.seen.insert((entry.valid_until, id), ());
    entry_budget::count(&mut work.register(), admitted.entry());
    match &entry.body {
        EntryBody::SetKeys { keys } => {
            set_keys::apply(&mut work.register(), account, keys);
            unopened::note_keys(&mut work.book(), account);
        }
        EntryBody::OpenAccount {
            grant,
            keys,
            endowment,
        } => open_account::apply(
            &mut work.register(),
            &id,
            entry,
            grant.as_deref(),
            keys,
            *endowment,
        ),
        EntryBody::RegisterBeacon { tip } => {
            register_beacon::apply(&mut work.beacons(), account, *tip)
        }
        EntryBody::Transfer { to, amount, .. } => {
            transfer::apply(&mut work.money(), account, to, *amount)
        }
        EntryBody::SetOffer(terms) => set_offer::apply(&mut work.shelf(), account, terms),
        EntryBody::WithdrawOffer { label } => {
            withdraw_offer::apply(&mut work.shelf(), account, *label)
        }
        EntryBody::Deliver { lease } => deliver::apply(&mut work.floor(), account, lease),
        EntryBody::Fail { lease } => fail::apply(&mut work.floor(), account, lease),
        EntryBody::Cancel { order } => cancel::apply(&mut work.book(), order),
        EntryBody::Commit(commit) => commit::enter(&mut work.book(), &id, account, commit),
        EntryBody::Open(open) => open::enter(&mut work.book(), account, open),
        EntryBody::Buy(buy) => {
            let order = buy::entry::enter(&mut work.book(), &id, account, buy);
            work.fresh.push(order);
        }
        EntryBody::Appeal(appeal) => appeal::enter(&mut work.seals(), appeal),
        EntryBody::Deadline(job) => deadline::entry::enter(&mut work.book(), &id, account, job),
        EntryBody::Contract(entry) => {
            contract::entry::enter(&mut work.pacts(), &id, account, entry)
        }
        EntryBody::Share(claim) => share::entry::enter(&mut work.book(), &id, account, claim),
        EntryBody::Heartbeat { label } => heartbeat::apply(&mut work.floor(), account, *label),
        EntryBody::Complain { lease, offer, slot } => {
            complain::apply(&mut work.till(), account, lease, offer, *slot);
        }
        EntryBody::CloseAccount { to } => close_account::apply(&mut work.register(), account, to),
        EntryBody::Posted(hire) => {
            let order = posted::entry::enter(&mut work.book(), &id, account, hire);
            work.fresh.push(order);
        }
    }
}
