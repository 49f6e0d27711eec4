//! Blunders with leases: wrong deliveries, failures, heartbeats and complaints.

use super::super::desk::Desk;
use super::super::key::Key;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, LeaseId};

pub(super) fn no_lease(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let lease = LeaseId(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Deliver { lease })
}

/// The buyer claims to deliver.
pub(super) fn nothing_to_deliver(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    Some(desk.sign(account, &key, EntryBody::Deliver { lease }))
}

/// A seller's node is there a second time in a slot.
pub(super) fn heartbeat_twice(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let beaten = |seller: &AccountId, node| state.has_beaten(seller, node);
    let offers = state.offers().map(|(_, offer)| offer);
    let offers = offers.filter(|o| beaten(&o.seller, &o.terms.node));
    let offers: Vec<_> = offers.map(|o| (o.seller, o.terms.label)).collect();
    let (seller, label) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&seller)?;
    Some(desk.sign(seller, &key, EntryBody::Heartbeat { label }))
}

/// A seller's node says that it is there, and serves nobody.
pub(super) fn idle(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let serves = |offer| {
        let mut leases = state.leases();
        leases.any(|(_, lease)| lease.has_delivered(offer))
    };
    let offers = state.offers().filter(|(id, _)| !serves(id));
    let offers = offers.filter(|(_, o)| !state.has_beaten(&o.seller, &o.terms.node));
    let offers: Vec<_> = offers.map(|(_, o)| (o.seller, o.terms.label)).collect();
    let (seller, label) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&seller)?;
    Some(desk.sign(seller, &key, EntryBody::Heartbeat { label }))
}

/// A buyer complains of a slot that is long over.
pub(super) fn nothing_to_complain(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    let running = desk.state.lease(&lease)?;
    let (offer, slot) = (running.shares.first()?.offer, running.slot.checked_sub(3)?);
    let body = EntryBody::Complain { lease, offer, slot };
    Some(desk.sign(account, &key, body))
}

pub(super) fn nothing_to_fail(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (lease, account, key) = bought(desk)?;
    Some(desk.sign(account, &key, EntryBody::Fail { lease }))
}

/// A lease whose buyer sells nothing of it.
fn bought(desk: &mut Desk<'_>) -> Option<(LeaseId, AccountId, Key)> {
    let (state, load) = (desk.state, &mut desk.load);
    let leases = state.leases().filter(|(_, lease)| {
        let mut sellers = lease.shares.iter().map(|s| state.offer(&s.offer));
        sellers.all(|offer| offer.is_some_and(|o| o.seller != lease.account))
    });
    let leases: Vec<_> = leases.collect();
    let (id, lease) = load.rng.pick(&leases).copied()?;
    Some((*id, lease.account, desk.key_of(&lease.account)?))
}
