//! The pool of entries that wait for a block.
//!
//! 1. An entry enters if the ledger admits it at the next height. It also enters if it may pass later: from a
//!    peer, whose book may be ahead of ours, for any reason; from our own users only for reasons of
//!    time. In both cases a key of its account signed it, and its last height is one that a book a
//!    few blocks ahead of ours would admit.
//! 2. After every block the entries in it leave, and so do those that can never pass any more.
//! 3. The rest is marked ready or waiting; a proposer chooses among all the ready ones.
//! 4. What became ready is to be announced once: passed on and acknowledged.
//! 5. An acknowledged entry carries its promise: first owed (to be written to the journal), then given, with the
//!    receipt. Promises have bounds of their own; beyond them an entry waits as any other, without one.
//!
//! Bounds: entries, bytes, entries of one account, those by one invitation of it, and a quarter of
//! the pool for those not ready. A full pool refuses what comes; it never pushes out what it has
//! acknowledged. Entries of unknown senders
//! count against none of these; they wait in [`Strangers`].

use crate::catchup::Peer;
use crate::journal::Promise;
use crate::limits;
use crate::strangers::{Strangers, is_unknown};
use crate::trouble::Trouble;
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::keys::{PublicKey, Signature};
use gridbay_protocol::limits::{ENTRY_WINDOW, INCLUSION_HEIGHTS};
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::receipt::SignedReceipt;
use gridbay_protocol::stage::Authentic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why an entry does not enter the pool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolRefusal {
    /// It is in the pool.
    #[error("entry {0} waits for its block already")]
    Known(EntryId),
    /// The pool, or the account's share of it, is full.
    #[error("too many entries wait; account {account} may send it again later")]
    Full {
        /// Whose entry it is.
        account: AccountId,
    },
    /// This node takes none for the time being.
    #[error(transparent)]
    Trouble(Trouble),
    /// The ledger refuses it.
    #[error(transparent)]
    Ledger(Box<Refusal>),
}

/// Whom an entry came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Our own users. It is sent to all validators at once.
    Own,
    /// A validator, who sent it to all others.
    Validator,
    /// Anybody else: the first validator that finds it ready passes it on.
    Other,
}

/// What became of the pool after a block.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Entries that can never pass any more, with the reasons.
    pub(crate) dropped: Vec<(EntryId, Refusal)>,
    /// Entries that are ready for the first time.
    pub(crate) ready: Vec<(Arc<Authentic>, Source)>,
}

/// How far the acknowledgement of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promised {
    /// Not acknowledged, or not by a validator.
    No,
    /// To be written down.
    Owed,
    /// Safe on disk.
    Given(SignedReceipt),
}

#[derive(Clone, Debug)]
struct Pooled {
    entry: Arc<Authentic>,
    bytes: usize,
    /// Height of the tip when it was first ready: since then it counts as acknowledged.
    since: Option<u64>,
    ready: bool,
    source: Source,
    promised: Promised,
    /// Who is to have our receipt.
    peers: Vec<Peer>,
}

impl Pooled {
    /// What its promise says; `None` as long as it never was ready.
    fn promise(&self) -> Option<Promise> {
        let height = self.since?;
        let entry = self.entry.signed().clone();
        Some(Promise { entry, height })
    }
}

/// Number and bytes of promises with one more, if there is room for it.
fn with_promise((count, bytes): (usize, usize), more: usize) -> Option<(usize, usize)> {
    let (count, bytes) = (count + 1, bytes + more);
    let fits = count <= limits::PROMISES && bytes <= limits::PROMISES_BYTES;
    fits.then_some((count, bytes))
}

/// Whether an entry is refused only because of when it comes.
fn is_of_time(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::OpeningTime { .. } | Refusal::Closing(_) | Refusal::Window { .. }
    )
}

/// The pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mempool {
    entries: BTreeMap<EntryId, Pooled>,
    shares: BTreeMap<Share, usize>,
    bytes: usize,
    waiting: usize,
    /// Entries with a promise, and their bytes.
    promises: (usize, usize),
    /// Those whose promise is owed.
    owed: BTreeSet<EntryId>,
    strangers: Strangers,
}

/// Whose share of the pool an entry takes: its account's; or, if it opens an account by invitation,
/// that of the invitation's token. Whoever holds an invitation can sign as many such entries as it
/// likes, and the inviter is not to suffer by it.
type Share = (AccountId, Option<PublicKey>);

fn share(entry: &Authentic) -> Share {
    let entry = entry.entry();
    let token = match &entry.body {
        EntryBody::OpenAccount { grant, .. } => grant.as_ref().map(|signed| signed.grant.token),
        _ => None,
    };
    (entry.account, token)
}

/// Entries that a share may have.
fn most((_, token): &Share) -> usize {
    match token {
        Some(_) => limits::POOL_PER_TOKEN,
        None => limits::POOL_PER_ACCOUNT,
    }
}

/// Why an entry is not worth waiting for, whatever else is said of it: its last height is further
/// ahead than any book that is a few blocks ahead of ours would admit.
fn too_far(state: &State, entry: &Authentic) -> Option<Refusal> {
    let (valid_until, height) = (entry.entry().valid_until, state.height().saturating_add(1));
    let latest = height.saturating_add(ENTRY_WINDOW + limits::POOL_AHEAD);
    (valid_until >= latest).then_some(Refusal::Window {
        valid_until,
        height,
    })
}

impl Mempool {
    /// Takes an entry in; returns whether it is ready.
    pub(crate) fn add(
        &mut self,
        state: &State,
        entry: Arc<Authentic>,
        source: Source,
    ) -> Result<bool, PoolRefusal> {
        if self.contains(&entry.id()) {
            return Err(PoolRefusal::Known(entry.id()));
        }
        if let Some(refusal) = too_far(state, &entry) {
            return Err(PoolRefusal::Ledger(Box::new(refusal)));
        }
        let own = source == Source::Own;
        let ready = match state.admit(&entry) {
            Ok(_) => true,
            Err(refusal) if !own && is_unknown(&refusal) => {
                self.strangers.add(entry, source);
                return Ok(false);
            }
            Err(refusal) if refusal.may_pass_later() && (!own || is_of_time(&refusal)) => false,
            Err(refusal) => return Err(PoolRefusal::Ledger(Box::new(refusal))),
        };
        self.insert(state.height(), entry, source, ready)?;
        Ok(ready)
    }
    /// Keeps an entry that the ledger admits, or may admit later, at the tip `height`.
    fn insert(
        &mut self,
        height: u64,
        entry: Arc<Authentic>,
        source: Source,
        ready: bool,
    ) -> Result<(), PoolRefusal> {
        let (id, account) = (entry.id(), entry.entry().account);
        let bytes = entry.signed_bytes();
        let share = share(&entry);
        let taken = self.shares.get(&share).copied().unwrap_or(0);
        let full = self.entries.len() >= limits::POOL_ENTRIES
            || self.bytes + bytes > limits::POOL_BYTES
            || taken >= most(&share)
            || (!ready && self.waiting >= limits::POOL_ENTRIES / 4);
        if full && !planted::is(Planted::PoolUnbounded) {
            return Err(PoolRefusal::Full { account });
        }
        self.bytes += bytes;
        self.waiting += usize::from(!ready);
        *self.shares.entry(share).or_default() += 1;
        let pooled = Pooled {
            entry,
            bytes,
            since: ready.then_some(height),
            ready,
            source,
            promised: Promised::No,
            peers: Vec::new(),
        };
        self.entries.insert(id, pooled);
        Ok(())
    }
    fn remove(&mut self, id: &EntryId) {
        let Some(gone) = self.entries.remove(id) else {
            return;
        };
        self.bytes -= gone.bytes;
        self.waiting -= usize::from(!gone.ready);
        if gone.promised != Promised::No {
            self.promises.0 -= 1;
            self.promises.1 -= gone.bytes;
            self.owed.remove(id);
        }
        let share = share(&gone.entry);
        if let Some(taken) = self.shares.get_mut(&share) {
            *taken -= 1;
            if *taken == 0 {
                self.shares.remove(&share);
            }
        }
    }
    /// Keeps an entry that was acknowledged before a restart, unless it can never pass any more.
    pub(crate) fn restore(&mut self, state: &State, entry: Arc<Authentic>, receipt: SignedReceipt) {
        if too_far(state, &entry).is_some() {
            return;
        }
        let ready = match state.admit(&entry) {
            Ok(_) => true,
            Err(refusal) if refusal.may_pass_later() && !is_unknown(&refusal) => false,
            Err(_) => return,
        };
        let (id, since) = (entry.id(), receipt.receipt.height);
        if self.contains(&id) || self.insert(since, entry, Source::Validator, ready).is_err() {
            return;
        }
        if let Some(pooled) = self.entries.get_mut(&id) {
            pooled.since = Some(since);
            if let Some(promises) = with_promise(self.promises, pooled.bytes) {
                pooled.promised = Promised::Given(receipt);
                self.promises = promises;
            }
        }
    }
    /// Marks a ready entry as acknowledged, if there is room for another promise.
    pub(crate) fn promise(&mut self, id: &EntryId) {
        let Some(pooled) = self.entries.get_mut(id) else {
            return;
        };
        let free = pooled.since.is_some() && pooled.promised == Promised::No;
        if let Some(promises) = with_promise(self.promises, pooled.bytes).filter(|_| free) {
            pooled.promised = Promised::Owed;
            self.promises = promises;
            self.owed.insert(*id);
        }
    }
    /// Ready entries that found no room for their promise, as many as there is room for now.
    pub(crate) fn unpromised(&self) -> Vec<EntryId> {
        let room = limits::PROMISES.saturating_sub(self.promises.0);
        if self.promises.0 == self.entries.len() || room == 0 {
            return Vec::new();
        }
        let without = self.entries.iter();
        let without = without.filter(|(_, p)| p.ready && p.promised == Promised::No);
        without.map(|(id, _)| *id).take(room).collect()
    }
    /// Promises that are owed.
    pub(crate) fn owed(&self) -> Vec<Promise> {
        let owed = self.owed.iter().filter_map(|id| self.entries.get(id));
        owed.filter_map(Pooled::promise).collect()
    }
    /// Keeps the receipt of a promise that is safe; returns who is to have it.
    pub(crate) fn give(&mut self, receipt: SignedReceipt) -> Vec<Peer> {
        let id = receipt.receipt.entry;
        self.owed.remove(&id);
        let Some(pooled) = self.entries.get_mut(&id) else {
            return Vec::new();
        };
        pooled.promised = Promised::Given(receipt);
        std::mem::take(&mut pooled.peers)
    }
    /// Our own receipt of an entry, once it is given.
    pub(crate) fn receipt(&self, id: &EntryId) -> Option<SignedReceipt> {
        match self.entries.get(id)?.promised {
            Promised::Given(receipt) => Some(receipt),
            Promised::No | Promised::Owed => None,
        }
    }
    /// A peer sent an entry: it gets the receipt, now (returned) or when it is given.
    pub(crate) fn sent_by(&mut self, id: &EntryId, peer: Peer) -> Option<SignedReceipt> {
        let pooled = self.entries.get_mut(id)?;
        if let Promised::Given(receipt) = pooled.promised {
            return Some(receipt);
        }
        if pooled.peers.len() < limits::RECEIPT_PEERS && !pooled.peers.contains(&peer) {
            pooled.peers.push(peer);
        }
        None
    }
    /// All promises of entries that are in no block yet.
    pub(crate) fn open_promises(&self) -> Vec<Promise> {
        let promised = self.entries.values();
        let promised = promised.filter(|p| p.promised != Promised::No);
        promised.filter_map(Pooled::promise).collect()
    }
    /// Drops what a block took in and what can never pass after it, and looks at the rest again.
    pub(crate) fn settle(&mut self, state: &State, taken: &[Arc<Authentic>]) -> Settled {
        for entry in taken {
            self.remove(&entry.id());
        }
        if planted::is(Planted::PoolDropsAcknowledged) {
            self.open_promises()
                .iter()
                .for_each(|p| self.remove(&p.entry.id()));
        }
        let mut settled = Settled::default();
        let mut waiting = 0;
        for (id, pooled) in &mut self.entries {
            match state.admit(&pooled.entry) {
                Ok(_) => {
                    pooled.ready = true;
                    if pooled.since.is_none() {
                        pooled.since = Some(state.height());
                        let entry = Arc::clone(&pooled.entry);
                        settled.ready.push((entry, pooled.source));
                    }
                }
                Err(refusal) if refusal.may_pass_later() => pooled.ready = false,
                Err(refusal) => settled.dropped.push((*id, refusal)),
            }
            waiting += usize::from(!pooled.ready);
        }
        self.waiting = waiting;
        for (id, _) in &settled.dropped {
            self.remove(id);
        }
        for (entry, source) in self.strangers.take() {
            // What has no room, or is in the book by now, is forgotten: nobody counts on it.
            if self.add(state, Arc::clone(&entry), source) == Ok(true) {
                settled.ready.push((entry, source));
            }
        }
        settled
    }
    /// All ready entries, those first that wait longest: what a block is made of.
    pub(crate) fn ready(&self) -> Vec<Arc<Authentic>> {
        let mut ready: Vec<&Pooled> = self.entries.values().filter(|p| p.ready).collect();
        ready.sort_by_key(|p| (p.since, p.entry.id()));
        ready.into_iter().map(|p| Arc::clone(&p.entry)).collect()
    }
    /// Ready entries that were acknowledged [`INCLUSION_HEIGHTS`] before the next block. Not those
    /// of a share that is full here: others may hold as many again of the same account, and no room
    /// for these.
    pub(crate) fn due(&self, tip: u64) -> Vec<Arc<Authentic>> {
        let old = |p: &&Pooled| {
            let since = p
                .since
                .is_some_and(|since| since + INCLUSION_HEIGHTS <= tip + 1);
            since && p.ready
        };
        let full = |p: &&Pooled| {
            let share = share(&p.entry);
            self.shares.get(&share).is_some_and(|n| *n >= most(&share))
        };
        let due = self.entries.values().filter(old).filter(|p| !full(p));
        due.map(|p| Arc::clone(&p.entry)).collect()
    }
    /// Entries that two blocks left out, to be sent to the validators again: those of our own
    /// users, and once more every eighth block; and a few that a validator sent, which it may have
    /// kept from others.
    pub(crate) fn overdue(&self, tip: u64) -> Vec<SignedEntry> {
        let mut told = 0;
        let mut again = |p: &&Pooled| {
            let waited = p.since.map_or(0, |since| tip.saturating_sub(since));
            let of_a_validator = p.source == Source::Validator && waited == 2;
            told += usize::from(of_a_validator && p.ready);
            let own = p.source == Source::Own && waited % 8 == 2;
            p.ready && (own || (of_a_validator && told <= limits::TOLD_AGAIN_ENTRIES))
        };
        let overdue = self.entries.values().filter(|p| again(p));
        let overdue = overdue.take(limits::BATCH_ENTRIES);
        overdue.map(|p| p.entry.signed().clone()).collect()
    }
    /// The entry with an id, if the ledger admitted it.
    pub(crate) fn get(&self, id: &EntryId) -> Option<&Arc<Authentic>> {
        Some(&self.entries.get(id)?.entry)
    }
    /// The entry with an id and this very signature, if it is here.
    pub(crate) fn known(&self, id: &EntryId, signature: &Signature) -> Option<Arc<Authentic>> {
        let pooled = self.entries.get(id).map(|pooled| &pooled.entry);
        let entry = pooled.or_else(|| self.strangers.get(id))?;
        (entry.signed().signature == *signature).then(|| Arc::clone(entry))
    }
    /// Whether an id is in the pool or among the strangers.
    pub(crate) fn contains(&self, id: &EntryId) -> bool {
        self.entries.contains_key(id) || self.strangers.get(id).is_some()
    }
    /// Whether any entry could be in the next block.
    pub(crate) fn has_ready(&self) -> bool {
        self.waiting < self.entries.len()
    }
    /// Entries in the pool, without strangers.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::{Entry, EntryBody};
    use gridbay_protocol::ids::{Hash32, NetworkId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::stage::WellFormed;
    use gridbay_protocol::units::Credits;

    /// A transfer of account `n`, unlike all with another number.
    fn entry(n: u8, number: usize) -> Arc<Authentic> {
        let (key, network) = (SecretKey::from_seed(&[n; 32]), NetworkId([9; 32]));
        let mut memo = Hash32::default();
        memo.0[..8].copy_from_slice(&number.to_le_bytes());
        let entry = Entry {
            network,
            account: AccountId([n; 32]),
            key: key.public(),
            valid_until: 10,
            body: EntryBody::Transfer {
                to: AccountId([100; 32]),
                amount: Credits::from_micros(1).unwrap(),
                memo,
            },
        };
        let formed = WellFormed::check(&network, SignedEntry::new(entry, &key)).unwrap();
        Arc::new(formed.authenticate().unwrap())
    }
    fn full(n: u8) -> Result<(), PoolRefusal> {
        Err(PoolRefusal::Full {
            account: AccountId([n; 32]),
        })
    }

    #[test]
    fn an_account_has_its_share_of_the_pool_and_what_waits_a_quarter() {
        let mut pool = Mempool::default();
        let mut add = |n, number, ready| pool.insert(1, entry(n, number), Source::Other, ready);
        for number in 0..limits::POOL_PER_ACCOUNT {
            assert_eq!(add(1, number, true), Ok(()));
        }
        assert_eq!(add(1, limits::POOL_PER_ACCOUNT, true), full(1));
        let quarter = limits::POOL_ENTRIES / 4;
        for number in 0..quarter {
            let account = 2 + (number / limits::POOL_PER_ACCOUNT) as u8;
            assert_eq!(add(account, number, false), Ok(()));
        }
        assert_eq!(add(50, 0, false), full(50));
        assert_eq!(add(50, 0, true), Ok(()));
    }
}
