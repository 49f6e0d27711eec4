//! Acknowledgements: the promises of this validator, and those that it gets from others.
//!
//! A validator
//!
//! 1. promises every entry that is ready and told to all validators, as far as there is room;
//! 2. writes the promises owed to the journal right before a sync that a vote or proposal needs
//!    anyway, at least one per height, so that entries cost no sync of their own;
//! 3. after that sync reports the entries as acknowledged and sends each receipt to the peers that
//!    sent the entry;
//! 4. answers with the receipt again whenever a peer sends an acknowledged entry again;
//! 5. after a restart takes the promises that the journal holds back into its mempool, unless
//!    blocks have met them, and judges blocks by them as before.
//!
//! The owner's node keeps the receipts of its own entries ([`crate::receipts`]).
//!
//! A block that includes an entry before its promise is written makes the promise superfluous: no
//! receipt is sent.

use super::{Host, HostEffect, Offence};
use crate::catchup::Peer;
use crate::fault::Fault;
use crate::guard::Guard;
use crate::index::Index;
use crate::journal::Promise;
use crate::limits;
use crate::mempool::Mempool;
use crate::message::HostMessage;
use gridbay_ledger::State;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::receipt::SignedReceipt;
use gridbay_protocol::stage::WellFormed;
use std::sync::Arc;

/// The mempool after a restart: the entries that were acknowledged and are in no block yet.
pub(super) fn restore(
    state: &State,
    index: &Index,
    guard: &Guard,
    promises: Vec<Promise>,
) -> Mempool {
    let mut mempool = Mempool::default();
    for Promise { entry, height } in promises {
        let id = entry.id();
        if entry.entry.valid_until <= state.height() || index.entry(&id).is_some() {
            continue;
        }
        let formed = WellFormed::check(&state.network(), entry);
        if let Some(entry) = formed.ok().and_then(|f| f.authenticate().ok()) {
            mempool.restore(state, Arc::new(entry), guard.sign_receipt(id, height));
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
    /// Writes down what is owed; the caller syncs, then calls [`Host::give_receipts`] with the
    /// result.
    pub(super) fn write_promises(&mut self) -> Result<Vec<SignedReceipt>, Fault> {
        let Some(guard) = &self.guard else {
            return Ok(Vec::new());
        };
        let mut receipts = Vec::new();
        for promise in self.mempool.owed() {
            receipts.push(guard.sign_receipt(promise.entry.id(), promise.height));
            self.journal.promise(&mut *self.disk, promise)?;
        }
        Ok(receipts)
    }
    /// Tells the waiting senders of promises that are safe.
    pub(super) fn give_receipts(&mut self, receipts: Vec<SignedReceipt>) {
        for receipt in receipts {
            let entry = receipt.receipt.entry;
            self.effects.push(HostEffect::Acknowledged { entry });
            for peer in self.mempool.give(receipt) {
                self.given.push((peer, receipt));
            }
            self.keep(receipt);
        }
    }
    /// A peer sent an entry that is in the mempool.
    pub(super) fn receipt_for(&mut self, id: &EntryId, peer: Peer) {
        if let Some(receipt) = self.mempool.sent_by(id, peer) {
            self.given.push((peer, receipt));
        }
    }
    /// Sends the receipts of this step, in batches by peer.
    pub(super) fn flush_receipts(&mut self) {
        let mut given = std::mem::take(&mut self.given);
        given.sort_by_key(|(peer, _)| *peer);
        for of_peer in given.chunk_by(|a, b| a.0 == b.0) {
            for batch in of_peer.chunks(limits::BATCH_RECEIPTS) {
                let receipts = batch.iter().map(|(_, receipt)| *receipt).collect();
                self.send(batch[0].0, HostMessage::Receipts(receipts));
            }
        }
    }
    /// Takes receipts of our own entries; all others are of no interest.
    pub(super) fn take_receipts(&mut self, from: Peer, receipts: Vec<SignedReceipt>) {
        for signed in receipts {
            if !self.receipts.wants(&signed.receipt) {
                continue;
            }
            let network = self.state.network();
            let right = signed.verify(&network, self.state.validators()).is_ok();
            if !right {
                return self.penalise(from, Offence::Signature);
            }
            self.keep(signed);
        }
    }
    fn keep(&mut self, signed: SignedReceipt) {
        let entry = signed.receipt.entry;
        if self.receipts.add(signed, self.state.validators()) {
            self.effects.push(HostEffect::Receipted { entry });
        }
    }
    /// Keeps our own receipt of an entry that turns out to be ours.
    pub(super) fn keep_own(&mut self, id: &EntryId) {
        if let Some(receipt) = self.mempool.receipt(id) {
            self.keep(receipt);
        }
    }
    /// Receipts of an entry that this node submitted, ascending by validator; none for others, nor
    /// long after its last height.
    pub fn receipts(&self, entry: &EntryId) -> Vec<SignedReceipt> {
        self.receipts.of(entry)
    }
}
