//! The mempool of entries that wait for a block.
//!
//! 1. An entry enters if the ledger admits it at the next height. It also enters if it may pass
//!    later: from a peer, whose book may be ahead of ours, for any reason; from our own users only
//!    for reasons of time. In both cases a key of its account signed it, and its last height is one
//!    that a book a few blocks ahead of ours would admit.
//! 2. After every block the entries in it leave, and so do those that can never pass any more.
//! 3. The rest is marked ready or waiting (see `waiting`); a proposer chooses among all the ready
//!    ones.
//! 4. An entry that becomes ready is announced once: passed on and acknowledged.
//! 5. An acknowledged entry carries its promise: first owed (to be written to the journal), then
//!    given: its senders hear of it. Promises have bounds of their own; beyond them an entry waits
//!    like any other, without a promise.
//!
//! Bounds: entries, bytes, entries of one account, those by one invitation of it, those of it that
//! are not ready, and a quarter of the mempool for all not ready. When the mempool or the quarter
//! is full, the member whose accounts have most in it yields to one with less ([`Crowd`]); promised
//! entries never leave. Entries of unknown senders count against none of these; they wait in
//! [`Strangers`].

mod crowd;
mod due;
mod promised;
mod waiting;

use crate::catchup::Peer;
use crate::journal::Promise;
use crate::limits;
use crate::strangers::{Strangers, is_unknown};
use crate::trouble::Trouble;
use crowd::Crowd;
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::keys::{PublicKey, Signature};
use gridbay_protocol::limits::ENTRY_WINDOW;
use gridbay_protocol::stage::Authentic;
pub(crate) use promised::Given;
use promised::{Promised, Promises};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why an entry does not enter the mempool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MempoolRefusal {
    /// It is in the mempool.
    #[error("entry {0} waits for its block already")]
    Known(EntryId),
    /// The mempool, or the account's share of it, is full.
    #[error("too many entries wait; account {account} may send it again later")]
    Full {
        /// The account of the entry.
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
    /// A validator, which sent it to all others.
    Validator,
    /// Anybody else: the first validator that finds it ready passes it on.
    Other,
}

/// The changes of the mempool after a block.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Entries that can never pass any more, with the reasons.
    pub(crate) dropped: Vec<(EntryId, Refusal)>,
    /// Entries that are ready for the first time.
    pub(crate) ready: Vec<(Arc<Authentic>, Source)>,
}

#[derive(Clone, Debug)]
struct Pooled {
    entry: Arc<Authentic>,
    bytes: usize,
    /// The member that answers for its account.
    house: AccountId,
    /// How many came before it.
    arrival: u64,
    /// When it came, by the clock of [`Mempool::set_time`].
    came: u64,
    /// Height of the tip when it was first ready: since then it counts as acknowledged.
    since: Option<u64>,
    /// Height of the tip when this node told all validators of it, since it was ready last.
    told: Option<u64>,
    /// Height of the tip since when it is ready without a pause; `None` while it is not.
    ready: Option<u64>,
    source: Source,
    promised: Promised,
    /// The peers that are to have this node's receipt.
    peers: Vec<(Peer, Source)>,
}

impl Pooled {
    /// Its promise; `None` as long as it never was ready.
    fn promise(&self) -> Option<Promise> {
        let height = self.since?;
        let entry = self.entry.signed().clone();
        Some(Promise { entry, height })
    }
}

/// Whether an entry is refused only because of when it comes.
fn is_of_time(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::OpeningTime { .. } | Refusal::Closing(_) | Refusal::Window { .. }
    )
}

/// Whether an entry that is refused for now, and may pass later, is still good when it may.
fn outlives(refusal: &Refusal, entry: &Authentic) -> bool {
    match refusal {
        Refusal::EntryBudget { next, .. } => entry.entry().valid_until >= *next,
        _ => true,
    }
}

/// The entries of a share in the mempool.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    all: usize,
    waiting: usize,
}

/// The mempool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mempool {
    entries: BTreeMap<EntryId, Pooled>,
    shares: BTreeMap<Share, Taken>,
    bytes: usize,
    /// The houses of all entries, by [`weight`]; `waiting` has those of the entries that are not
    /// ready, by number.
    crowd: Crowd,
    waiting: Crowd,
    /// How many have come.
    arrivals: u64,
    /// Milliseconds of a clock that never goes back.
    time: u64,
    promises: Promises,
    /// Entries that left for others and are not reported yet.
    evicted: Vec<(EntryId, AccountId)>,
    strangers: Strangers,
}

/// The room that an entry takes of the mempool: its bytes, or one entry's even part of all bytes if
/// that is more.
fn weight(bytes: usize) -> usize {
    bytes.max(limits::MEMPOOL_BYTES / limits::MEMPOOL_ENTRIES)
}

/// The share of the mempool that an entry takes: its account's; or, if it opens an account by
/// invitation, that of the invitation's token. A holder of an invitation can sign any number of
/// such entries, and the inviter must not suffer by it.
type Share = (AccountId, Option<PublicKey>);

fn share(entry: &Authentic) -> Share {
    let entry = entry.entry();
    let token = match &entry.body {
        EntryBody::OpenAccount { grant, .. } => grant.as_ref().map(|signed| signed.grant.token),
        _ => None,
    };
    (entry.account, token)
}

/// The member that answers for an entry's account.
fn house(state: &State, entry: &Authentic) -> AccountId {
    let account = entry.entry().account;
    let record = state.account(&account);
    record.map_or(account, |record| record.sponsor)
}

/// Entries that a share may have.
fn most((_, token): &Share) -> usize {
    match token {
        Some(_) => limits::MEMPOOL_PER_TOKEN,
        None => limits::MEMPOOL_PER_ACCOUNT,
    }
}

/// Why an entry is not worth waiting for, whatever else is said of it: its last height is further
/// ahead than any book that is a few blocks ahead of ours would admit.
fn too_far(state: &State, entry: &Authentic) -> Option<Refusal> {
    let (valid_until, height) = (entry.entry().valid_until, state.height().saturating_add(1));
    let latest = height.saturating_add(ENTRY_WINDOW + limits::MEMPOOL_AHEAD);
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
    ) -> Result<bool, MempoolRefusal> {
        if self.contains(&entry.id()) {
            return Err(MempoolRefusal::Known(entry.id()));
        }
        if let Some(refusal) = too_far(state, &entry) {
            return Err(MempoolRefusal::Ledger(Box::new(refusal)));
        }
        let own = source == Source::Own;
        let ready = match state.admit(&entry) {
            Ok(_) => true,
            Err(refusal) if !own && is_unknown(&refusal) => {
                self.strangers.add(entry, source);
                return Ok(false);
            }
            Err(refusal)
                if refusal.may_pass_later()
                    && outlives(&refusal, &entry)
                    && (!own || is_of_time(&refusal)) =>
            {
                false
            }
            Err(refusal) => return Err(MempoolRefusal::Ledger(Box::new(refusal))),
        };
        let house = house(state, &entry);
        self.insert(state.height(), house, entry, source, ready)?;
        Ok(ready)
    }
    /// Keeps an entry that the ledger admits, or may admit later, at the tip `height`.
    fn insert(
        &mut self,
        height: u64,
        house: AccountId,
        entry: Arc<Authentic>,
        source: Source,
        ready: bool,
    ) -> Result<(), MempoolRefusal> {
        let (id, account) = (entry.id(), entry.entry().account);
        let bytes = entry.signed_bytes();
        let share = share(&entry);
        let taken = self.shares.get(&share).copied().unwrap_or_default();
        let full = taken.all >= most(&share)
            || (!ready && taken.waiting >= limits::MEMPOOL_WAITING_PER_ACCOUNT);
        if full || !self.make_room(&house, bytes, ready) {
            return Err(MempoolRefusal::Full { account });
        }
        let taken = self.shares.entry(share).or_default();
        taken.all += 1;
        taken.waiting += usize::from(!ready);
        self.bytes += bytes;
        self.arrivals += 1;
        let arrival = (self.arrivals, id);
        self.crowd.add(&house, weight(bytes), arrival);
        if !ready {
            self.waiting.add(&house, 1, arrival);
        }
        let pooled = Pooled {
            entry,
            bytes,
            house,
            arrival: self.arrivals,
            came: self.time,
            since: ready.then_some(height),
            told: (ready && source != Source::Validator).then_some(height),
            ready: ready.then_some(height),
            source,
            promised: Promised::No,
            peers: Vec::new(),
        };
        self.entries.insert(id, pooled);
        Ok(())
    }
    /// Makes room for an entry of a house, as far as houses with more have it.
    fn make_room(&mut self, house: &AccountId, bytes: usize, ready: bool) -> bool {
        if !ready && !self.make_room_to_wait(house) {
            return false;
        }
        while self.entries.len() >= limits::MEMPOOL_ENTRIES
            || self.bytes + bytes > limits::MEMPOOL_BYTES
        {
            let Some(id) = self.crowd.yields_to(house, weight(bytes)) else {
                return false;
            };
            self.evict(&id);
        }
        true
    }
    fn evict(&mut self, id: &EntryId) {
        if let Some(pooled) = self.entries.get(id) {
            self.evicted.push((*id, pooled.entry.entry().account));
        }
        self.remove(id);
    }
    /// The entries that left for others since the last call.
    pub(crate) fn take_evicted(&mut self) -> Vec<(EntryId, MempoolRefusal)> {
        let evicted = std::mem::take(&mut self.evicted).into_iter();
        evicted
            .map(|(id, account)| (id, MempoolRefusal::Full { account }))
            .collect()
    }
    fn remove(&mut self, id: &EntryId) {
        let Some(gone) = self.entries.remove(id) else {
            return;
        };
        self.bytes -= gone.bytes;
        let arrival = (gone.arrival, *id);
        self.crowd.remove(&gone.house, weight(gone.bytes), arrival);
        if gone.ready.is_none() {
            self.waiting.remove(&gone.house, 1, arrival);
        }
        if gone.promised != Promised::No {
            self.promises.remove(id, &gone);
        }
        let share = share(&gone.entry);
        if let Some(taken) = self.shares.get_mut(&share) {
            taken.all -= 1;
            taken.waiting -= usize::from(gone.ready.is_none());
            if taken.all == 0 {
                self.shares.remove(&share);
            }
        }
    }
    /// Keeps an entry that was acknowledged before a restart, unless it can never pass any more.
    pub(crate) fn restore(&mut self, state: &State, entry: Arc<Authentic>, since: u64) {
        if too_far(state, &entry).is_some() {
            return;
        }
        let ready = match state.admit(&entry) {
            Ok(_) => true,
            Err(refusal) if refusal.may_pass_later() && !is_unknown(&refusal) => false,
            Err(_) => return,
        };
        let (id, house) = (entry.id(), house(state, &entry));
        let source = Source::Validator;
        // Its room was found when it was promised: those that wait now are not counted again.
        if self.contains(&id) || self.insert(since, house, entry, source, true).is_err() {
            return;
        }
        if let Some(pooled) = self.entries.get_mut(&id) {
            // The words told before the restart are not known: the promise counts.
            (pooled.since, pooled.told) = (Some(since), Some(since));
        }
        self.bind(&id, Promised::Given);
        if !ready {
            self.mark_waiting(&id);
        }
    }
    /// Drops the entries of a block and those that can never pass after it, and judges the rest
    /// again.
    pub(crate) fn settle(&mut self, state: &State, taken: &[Arc<Authentic>]) -> Settled {
        for entry in taken {
            self.remove(&entry.id());
        }
        let mut settled = Settled::default();
        let (mut ready, mut waiting) = (Vec::new(), Vec::new());
        let time = self.time;
        for (id, pooled) in &mut self.entries {
            match state.admit(&pooled.entry) {
                Ok(_) => {
                    if pooled.since.is_none() {
                        // Others hear of it only now.
                        (pooled.since, pooled.came) = (Some(state.height()), time);
                        let all = pooled.source != Source::Validator;
                        pooled.told = all.then_some(state.height());
                        let entry = Arc::clone(&pooled.entry);
                        settled.ready.push((entry, pooled.source));
                    }
                    ready.push(*id);
                }
                // A promised entry stays as long as it is valid, so that no promise is given twice.
                Err(refusal)
                    if refusal.may_pass_later()
                        && (pooled.promised != Promised::No
                            || outlives(&refusal, &pooled.entry)) =>
                {
                    waiting.push(*id);
                }
                Err(refusal) => settled.dropped.push((*id, refusal)),
            }
        }
        for (id, _) in &settled.dropped {
            self.remove(id);
        }
        ready
            .iter()
            .for_each(|id| self.mark_ready(id, state.height()));
        waiting.iter().for_each(|id| self.mark_waiting(id));
        for (entry, source) in self.strangers.take() {
            // An entry without room, or in the book by now, is forgotten: nobody counts on it.
            if self.add(state, Arc::clone(&entry), source) == Ok(true) {
                settled.ready.push((entry, source));
            }
        }
        settled
    }
    /// All ready entries, the longest waiting first: blocks are made of these.
    pub(crate) fn ready(&self) -> Vec<Arc<Authentic>> {
        let mut ready: Vec<&Pooled> = self
            .entries
            .values()
            .filter(|p| p.ready.is_some())
            .collect();
        ready.sort_by_key(|p| (p.since, p.entry.id()));
        ready.into_iter().map(|p| Arc::clone(&p.entry)).collect()
    }
    /// The entry with an id, if the ledger admitted it.
    pub(crate) fn get(&self, id: &EntryId) -> Option<&Arc<Authentic>> {
        Some(&self.entries.get(id)?.entry)
    }
    /// The entry with an id, also of a sender that the ledger does not know.
    pub(crate) fn find(&self, id: &EntryId) -> Option<&Arc<Authentic>> {
        self.get(id).or_else(|| self.strangers.get(id))
    }
    /// When an entry that the ledger admitted came, by the clock of [`Mempool::set_time`].
    pub(crate) fn came(&self, id: &EntryId) -> Option<u64> {
        Some(self.entries.get(id)?.came)
    }
    /// Tells the time, in milliseconds of a clock that never goes back.
    pub(crate) fn set_time(&mut self, mono_ms: u64) {
        self.time = mono_ms;
    }
    /// The entry with an id and this very signature, if it is here.
    pub(crate) fn known(&self, id: &EntryId, signature: &Signature) -> Option<Arc<Authentic>> {
        let entry = self.find(id)?;
        (entry.signed().signature == *signature).then(|| Arc::clone(entry))
    }
    /// Whether an id is in the mempool or among the strangers.
    pub(crate) fn contains(&self, id: &EntryId) -> bool {
        self.entries.contains_key(id) || self.strangers.get(id).is_some()
    }
    /// Whether any entry could be in the next block.
    pub(crate) fn has_ready(&self) -> bool {
        self.waiting.len() < self.entries.len()
    }
    /// Entries in the mempool, without strangers.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests;
