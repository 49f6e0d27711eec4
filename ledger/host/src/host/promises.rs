//! Acknowledgements: the promises of this validator, and those that it gets from others.
//!
//! A validator
//!
//! 1. promises every entry that is ready and told to all validators, as far as there is room;
//! 2. writes the promises owed to the journal right before a sync that a vote or proposal needs
//!    anyway, at least one per height, so that entries cost no sync of their own;
//! 3. after that sync reports the entries as acknowledged and tells the peers that sent them: by a
//!    signed receipt for each opening, which an appeal may have to show to strangers, and by word
//!    for all others, many in a message;
//! 4. answers the same again whenever a peer sends an acknowledged entry again;
//! 5. after a restart takes the promises that the journal holds back into its mempool, unless
//!    blocks have met them, and judges blocks by them as before.
//!
//! The owner's node keeps what it hears of its own entries ([`crate::receipts`]).
//!
//! A block that includes an entry before its promise is written makes the promise superfluous:
//! nobody is told.

use super::{Host, HostEffect, Offence};
use crate::catchup::Peer;
use crate::fault::Fault;
use crate::journal::Promise;
use crate::limits;
use crate::mempool::{Given, Mempool, Source};
use crate::message::{Acknowledgement, HostMessage};
use gridbay_ledger::State;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::receipt::{Receipt, ReceiptError, SignedReceipt};
use gridbay_protocol::stage::WellFormed;
use std::sync::Arc;

/// The mempool after a restart: the entries that were acknowledged and are in no block yet.
pub(super) fn restore(state: &State, promises: Vec<Promise>) -> Mempool {
    let mut mempool = Mempool::default();
    for Promise { entry, height } in promises {
        let until = entry.entry.valid_until;
        if until <= state.height() || state.has_used(until, entry.id()) {
            continue;
        }
        let formed = WellFormed::check(&state.network(), entry);
        if let Some(entry) = formed.ok().and_then(|f| f.authenticate().ok()) {
            mempool.restore(state, Arc::new(entry), height);
        }
    }
    mempool
}

impl Host {
    /// Whether this node promises anything: it votes, and would judge by a right clock.
    fn may_promise(&self) -> bool {
        self.votes() && self.clock.trouble().is_none()
    }
    /// Promises an entry of the mempool, if this node votes and the entry is ready.
    pub(super) fn promise(&mut self, id: &EntryId) {
        if self.may_promise() {
            self.mempool.promise(id);
        }
    }
    /// Promises what found no room before.
    pub(super) fn promise_more(&mut self) {
        if self.may_promise() {
            for id in self.mempool.unpromised() {
                self.mempool.promise(&id);
            }
        }
    }
    /// Writes down what is owed; the caller syncs, then calls [`Host::give_promises`] with the
    /// result.
    pub(super) fn write_promises(&mut self) -> Result<Vec<EntryId>, Fault> {
        let mut written = Vec::new();
        for promise in self.mempool.owed() {
            written.push(promise.entry.id());
            self.journal.promise(&mut *self.disk, promise)?;
        }
        Ok(written)
    }
    /// Tells the waiting senders of promises that are safe.
    pub(super) fn give_promises(&mut self, written: Vec<EntryId>) {
        for entry in written {
            self.effects.push(HostEffect::Acknowledged { entry });
            if let Some((given, peers)) = self.mempool.give(&entry) {
                let told = peers.into_iter().map(|peer| (peer, given));
                self.given.extend(told);
                self.keep_given(given);
            }
        }
    }
    /// A peer sent an entry that is in the mempool.
    pub(super) fn promise_to(&mut self, id: &EntryId, peer: Peer, source: Source) {
        if let Some(given) = self.mempool.sent_by(id, peer, source) {
            self.given.push((peer, given));
        }
    }
    /// Tells peers of the promises of this step, in batches by peer.
    pub(super) fn flush_promises(&mut self) {
        let mut given = std::mem::take(&mut self.given);
        given.sort_by_key(|(peer, given)| (*peer, !given.opening, given.height, given.entry));
        // A peer may send one entry many times in a message: it has one answer.
        given.dedup();
        for alike in given.chunk_by(|a, b| a.0 == b.0 && a.1.opening == b.1.opening) {
            match alike[0].1.opening {
                true => self.send_receipts(alike),
                false => self.send_acknowledgements(alike),
            }
        }
    }
    fn send_receipts(&mut self, of_peer: &[(Peer, Given)]) {
        for batch in of_peer.chunks(limits::BATCH_RECEIPTS) {
            let receipts = batch.iter().filter_map(|(_, given)| self.signed(given));
            let receipts = receipts.collect();
            self.send(batch[0].0, HostMessage::Receipts(receipts));
        }
    }
    fn send_acknowledgements(&mut self, of_peer: &[(Peer, Given)]) {
        for of_height in of_peer.chunk_by(|a, b| a.1.height == b.1.height) {
            for batch in of_height.chunks(limits::BATCH_ENTRIES) {
                let (peer, height) = (batch[0].0, batch[0].1.height);
                let entries = batch.iter().map(|(_, given)| given.entry).collect();
                let all = Acknowledgement { height, entries };
                self.send(peer, HostMessage::Acknowledged(all));
            }
        }
    }
    fn signed(&self, given: &Given) -> Option<SignedReceipt> {
        let guard = self.guard.as_ref()?;
        Some(guard.sign_receipt(given.entry, given.height))
    }
    /// Takes receipts of our own openings; all others are of no interest.
    pub(super) fn take_receipts(&mut self, from: Peer, receipts: Vec<SignedReceipt>) {
        for signed in receipts {
            if !self.receipts.wants(&signed.receipt) {
                continue;
            }
            let network = self.state.network();
            let verified = signed.verify(&network, self.state.validators());
            // One that has just left the set is no offender.
            if let Err(ReceiptError::Stranger(_)) = verified {
                continue;
            }
            let right = verified.is_ok();
            if !right {
                return self.penalise(from, Offence::Signature);
            }
            let quorum = self.receipts.add(signed, self.state.validators());
            self.receipted(signed.receipt.entry, quorum);
        }
    }
    /// Takes a validator's word for our own entries.
    pub(super) fn take_acknowledgement(&mut self, from: Peer, all: &Acknowledgement) {
        // One that has just left the set is no offender.
        let Some(validator) = self.validator_of(&from) else {
            return;
        };
        for entry in &all.entries {
            self.hear(Receipt {
                entry: *entry,
                height: all.height,
                validator,
            });
        }
    }
    fn hear(&mut self, promise: Receipt) {
        let quorum = self.receipts.hear(promise, self.state.validators());
        self.receipted(promise.entry, quorum);
    }
    fn receipted(&mut self, entry: EntryId, quorum: bool) {
        if quorum {
            self.effects.push(HostEffect::Receipted { entry });
        }
    }
    /// Keeps our own promise for an entry that turns out to be ours.
    pub(super) fn keep_own(&mut self, id: &EntryId) {
        if let Some(given) = self.mempool.given(id) {
            self.keep_given(given);
        }
    }
    fn keep_given(&mut self, given: Given) {
        if !self.receipts.watches(&given.entry) {
            return;
        }
        let Some(guard) = &self.guard else {
            return;
        };
        match given.opening {
            true => {
                let signed = guard.sign_receipt(given.entry, given.height);
                let quorum = self.receipts.add(signed, self.state.validators());
                self.receipted(given.entry, quorum);
            }
            false => self.hear(Receipt {
                entry: given.entry,
                height: given.height,
                validator: guard.validator(),
            }),
        }
    }
    /// Receipts of an opening that this node submitted, ascending by validator; none for other
    /// entries, nor long after its last height.
    pub fn receipts(&self, entry: &EntryId) -> Vec<SignedReceipt> {
        self.receipts.of(entry)
    }
    /// What validators promised for an entry that this node submitted, signed or not, ascending by
    /// validator; nothing for others, nor long after its last height.
    pub fn promises(&self, entry: &EntryId) -> Vec<Receipt> {
        self.receipts.promises(entry)
    }
}
