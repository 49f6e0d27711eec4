//! The promises of the mempool: the entries that are acknowledged, and how far each acknowledgement
//! has got.
//!
//! All promises together are bounded, and those of one house to a quarter of that: however many
//! entries a member's accounts send, others' are acknowledged. Within a house each account has a
//! few, besides those of its openings and appeals, which have a deposit at stake.

use super::{Mempool, Pooled, Source};
use crate::catchup::Peer;
use crate::journal::Promise;
use crate::limits;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, EntryId};
use std::collections::{BTreeMap, BTreeSet};

/// How far the acknowledgement of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promised {
    /// Not acknowledged, or not by a validator.
    No,
    /// To be written down.
    Owed,
    /// Safe on disk.
    Given,
}

/// A promise that is safe on disk, as its entry's senders hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The entry.
    pub(crate) entry: EntryId,
    /// Height since which it counts as acknowledged.
    pub(crate) height: u64,
    /// Whether it opens a bid: the promise may have to be shown to strangers.
    pub(crate) opening: bool,
}

/// Entries with a promise, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    entries: usize,
    bytes: usize,
}

impl Sum {
    fn fits(self, bytes: usize, part: usize) -> bool {
        self.entries < limits::PROMISES / part
            && self.bytes + bytes <= limits::PROMISES_BYTES / part
    }
    fn add(&mut self, bytes: usize) {
        (self.entries, self.bytes) = (self.entries + 1, self.bytes + bytes);
    }
    fn remove(&mut self, bytes: usize) {
        (self.entries, self.bytes) = (self.entries - 1, self.bytes - bytes);
    }
}

/// How many promises there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Promises {
    all: Sum,
    houses: BTreeMap<AccountId, Sum>,
    /// Promises by account, without those of openings and appeals.
    accounts: BTreeMap<AccountId, usize>,
    /// Entries whose promise is owed.
    owed: BTreeSet<EntryId>,
}

impl Promises {
    fn have_room(&self, pooled: &Pooled) -> bool {
        let of = self.houses.get(&pooled.house).copied();
        let of = of.unwrap_or_default();
        let counted = counted(pooled).and_then(|account| self.accounts.get(&account));
        self.all.fits(pooled.bytes, 1)
            && of.fits(pooled.bytes, limits::PROMISES_PARTS)
            && counted.is_none_or(|held| *held < limits::PROMISES_PER_ACCOUNT)
    }
    fn add(&mut self, id: &EntryId, pooled: &Pooled) {
        self.all.add(pooled.bytes);
        let of = self.houses.entry(pooled.house).or_default();
        of.add(pooled.bytes);
        if let Some(account) = counted(pooled) {
            *self.accounts.entry(account).or_default() += 1;
        }
        if pooled.promised == Promised::Owed {
            self.owed.insert(*id);
        }
    }
    pub(super) fn remove(&mut self, id: &EntryId, pooled: &Pooled) {
        self.all.remove(pooled.bytes);
        self.owed.remove(id);
        if let Some(of) = self.houses.get_mut(&pooled.house) {
            of.remove(pooled.bytes);
            if of.entries == 0 {
                self.houses.remove(&pooled.house);
            }
        }
        let Some(account) = counted(pooled) else {
            return;
        };
        if let Some(held) = self.accounts.get_mut(&account) {
            *held -= 1;
            if *held == 0 {
                self.accounts.remove(&account);
            }
        }
    }
}

/// The account whose share of the promises an entry takes, if it takes any.
fn counted(pooled: &Pooled) -> Option<AccountId> {
    let entry = pooled.entry.entry();
    let beside = matches!(entry.body, EntryBody::Open(_) | EntryBody::Appeal(_));
    (!beside).then_some(entry.account)
}

impl Mempool {
    /// Marks a ready entry as acknowledged, if there is room for another promise, and others have
    /// room for the entry.
    pub(crate) fn promise(&mut self, id: &EntryId) {
        let Some(pooled) = self.entries.get(id) else {
            return;
        };
        let free = pooled.since.is_some() && pooled.promised == Promised::No;
        if free && !self.is_crowded_by(&pooled.house) {
            self.bind(id, Promised::Owed);
        }
    }
    /// Binds an entry by a promise, if there is room for it.
    pub(super) fn bind(&mut self, id: &EntryId, promised: Promised) {
        let Some(pooled) = self.entries.get_mut(id) else {
            return;
        };
        let (house, arrival) = (pooled.house, (pooled.arrival, *id));
        if !self.promises.have_room(pooled) {
            return;
        }
        pooled.promised = promised;
        self.promises.add(id, pooled);
        self.crowd.bind(&house, arrival);
        if pooled.ready.is_none() {
            self.waiting.bind(&house, arrival);
        }
    }
    /// Ready entries that found no room for their promise, and may find it now.
    pub(crate) fn unpromised(&self) -> Vec<EntryId> {
        let without = self.entries.iter().filter(|(_, p)| {
            p.ready.is_some()
                && p.promised == Promised::No
                && self.promises.have_room(p)
                && !self.is_crowded_by(&p.house)
        });
        without.map(|(id, _)| *id).collect()
    }
    /// Promises that are owed.
    pub(crate) fn owed(&self) -> Vec<Promise> {
        let owed = self
            .promises
            .owed
            .iter()
            .filter_map(|id| self.entries.get(id));
        owed.filter_map(Pooled::promise).collect()
    }
    /// A promise is safe from now on; returns it with the peers that are to hear of it.
    pub(crate) fn give(&mut self, id: &EntryId) -> Option<(Given, Vec<Peer>)> {
        self.promises.owed.remove(id);
        let pooled = self.entries.get_mut(id)?;
        pooled.promised = Promised::Given;
        let peers = std::mem::take(&mut pooled.peers);
        let peers = peers.into_iter().map(|(peer, _)| peer).collect();
        Some((self.given(id)?, peers))
    }
    /// This node's own promise for an entry, once it is safe.
    pub(crate) fn given(&self, id: &EntryId) -> Option<Given> {
        let pooled = self.entries.get(id)?;
        (pooled.promised == Promised::Given).then_some(())?;
        Some(Given {
            entry: *id,
            height: pooled.since?,
            opening: matches!(pooled.entry.entry().body, EntryBody::Open(_)),
        })
    }
    /// A peer sent an entry: it hears of the promise, now (returned) or when it is given.
    /// Validators, which pass on what others sent them, take no places of others.
    pub(crate) fn sent_by(&mut self, id: &EntryId, peer: Peer, source: Source) -> Option<Given> {
        let given = self.given(id);
        let pooled = self.entries.get_mut(id)?;
        let waits = given.is_none() && pooled.peers.iter().all(|(known, _)| *known != peer);
        let alike = pooled.peers.iter().filter(|(_, kind)| *kind == source);
        if waits && alike.count() < limits::RECEIPT_PEERS {
            pooled.peers.push((peer, source));
        }
        given
    }
    /// All promises of entries that are in no block yet.
    pub(crate) fn open_promises(&self) -> Vec<Promise> {
        let promised = self.entries.values();
        let promised = promised.filter(|p| p.promised != Promised::No);
        promised.filter_map(Pooled::promise).collect()
    }
}
