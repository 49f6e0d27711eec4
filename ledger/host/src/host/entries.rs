//! Entries on their way into the mempool, and from validator to validator.
//!
//! 1. An entry of our own users enters the mempool or is refused at once.
//! 2. It is sent to all validators; a validator then acknowledges it (see `promises`).
//! 3. An entry from a validator enters the mempool and goes no further: its sender told all. If a
//!    block leaves it out, it may have been kept from some, and all are told. An entry from anybody
//!    else is passed on by the first validator it reaches, as soon as the ledger admits it: an
//!    entry that only waits costs its sender nothing, and passing it on would cost everybody. Only
//!    validators have many entries checked for nothing (see `checks`).
//! 4. An entry of ours that stays out of the book is sent again from time to time.
//!    A node that does not vote sends small messages: whatever others have a validator read, there
//!    is room for those ([`limits::MEMBERS_BATCH_BYTES`]).
//! 5. A node that does not vote may be connected to few validators. One that comes gets the ready
//!    entries of ours that it has not promised, openings first: its promise goes to those that sent
//!    them.
//! 6. A validator whose height does not move on repeats its first waiting entries with its votes:
//!    others who never heard of them see no work, and start the height at the heartbeat only.

use super::{Host, HostEffect, Offence};
use crate::catchup::Peer;
use crate::limits;
use crate::mempool::{MempoolRefusal, Source};
use crate::message::HostMessage;
use crate::stages::Stage;
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::ValidatorId;
use gridbay_protocol::stage::{Authentic, WellFormed};
use std::sync::Arc;

impl Host {
    /// Whether this node votes at the next height.
    pub(super) fn votes(&self) -> bool {
        let own = self.guard.as_ref().map(crate::guard::Guard::validator);
        own.is_some_and(|own| self.state.validators().get(&own).is_some())
    }
    pub(super) fn submit(&mut self, entry: Arc<Authentic>) {
        let id = entry.id();
        if let Some(trouble) = self.clock.trouble() {
            let refusal = MempoolRefusal::Trouble(trouble);
            let refused = HostEffect::EntryRefused { entry: id, refusal };
            return self.effects.push(refused);
        }
        match self
            .mempool
            .add(&self.state, Arc::clone(&entry), Source::Own)
        {
            Ok(_) => {
                self.receipts.watch(&entry);
                self.relay.push(entry.signed().clone());
                self.effects.push(HostEffect::EntryAdmitted { entry: id });
                self.promise(&id);
            }
            Err(refusal) => {
                let known = matches!(refusal, MempoolRefusal::Known(_));
                // An own entry from before a restart: the validators that acknowledged it then
                // answer again.
                if known && self.receipts.watch(&entry) {
                    self.relay.push(entry.signed().clone());
                    self.keep_own(&id);
                }
                let refused = HostEffect::EntryRefused { entry: id, refusal };
                self.effects.push(refused);
            }
        }
    }
    /// Takes entries of a peer in, up to the first that is worthless. Those of a validator are
    /// checked together; of anybody else each is only checked if the ones before leave it a check.
    pub(super) fn take_entries(&mut self, from: Peer, entries: Vec<SignedEntry>) {
        let (source, together) = match self.is_validators_node(&from) {
            true => (Source::Validator, limits::BATCH_ENTRIES),
            false => (Source::Other, 1),
        };
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            let some = entries.by_ref().take(together);
            if let Err(offence) = self.take_some(from, source, some) {
                return self.penalise(from, offence);
            }
        }
    }
    fn take_some(
        &mut self,
        from: Peer,
        source: Source,
        entries: impl Iterator<Item = SignedEntry>,
    ) -> Result<(), Offence> {
        let (mut new, mut worthless) = (Vec::new(), None);
        for signed in entries {
            let Ok(formed) = WellFormed::check(&self.state.network(), signed) else {
                worthless = Some(Offence::Entry);
                break;
            };
            let id = formed.id();
            if self.mempool.contains(&id) {
                self.promise_to(&id, from, source);
                continue;
            }
            // A block may come before the entries in it: they need no check a second time.
            if self.state.has_used(formed.signed().entry.valid_until, id) {
                continue;
            }
            if source == Source::Other && !self.checks.may(&from, self.now.mono_ms) {
                worthless = Some(Offence::Entries);
                break;
            }
            new.push(formed);
        }
        let check = || self.signatures.check(&new);
        let checked = self.stages.time(Stage::Verify, check);
        for entry in checked {
            self.admit(from, source, entry.map_err(|_| Offence::Entry)?);
        }
        worthless.map_or(Ok(()), Err)
    }
    /// Takes an entry of a peer into the mempool, if it has a place there.
    fn admit(&mut self, from: Peer, source: Source, entry: Authentic) {
        let (id, entry) = (entry.id(), Arc::new(entry));
        let added = self.mempool.add(&self.state, Arc::clone(&entry), source);
        if source == Source::Other && !matches!(added, Ok(true)) {
            self.checks.count(from, self.now.mono_ms);
        }
        match added {
            Ok(ready) => {
                self.effects.push(HostEffect::EntryAdmitted { entry: id });
                self.promise_to(&id, from, source);
                if ready {
                    self.announce(&entry, source);
                }
            }
            Err(MempoolRefusal::Known(_)) => {}
            Err(refusal) => tracing::debug!(entry = %id, %refusal, "entry of a peer refused"),
        }
    }
    /// Passes on and acknowledges an entry that is ready for the first time, as a validator.
    pub(super) fn announce(&mut self, entry: &Authentic, source: Source) {
        // Of our own users' entries all validators know already.
        if source == Source::Other && self.votes() {
            self.relay.push(entry.signed().clone());
        }
        self.promise(&entry.id());
    }
    /// Tells all validators again of the first entries that wait.
    pub(super) fn remind(&mut self) {
        let waiting = self.mempool.ready().into_iter().take(limits::BATCH_ENTRIES);
        self.relay
            .extend(waiting.map(|entry| entry.signed().clone()));
    }
    /// Step 5, for a peer that has come.
    pub(super) fn repeat_own(&mut self, peer: Peer) {
        let Some(validator) = self.validator_of(&peer).filter(|_| !self.votes()) else {
            return;
        };
        let unpromised = |entry: &&Arc<Authentic>| !self.receipts.has(&entry.id(), &validator);
        let mut own: Vec<_> = self.mempool.own().filter(unpromised).collect();
        own.sort_by_key(|entry| !matches!(entry.entry().body, EntryBody::Open(_)));
        own.truncate(limits::BATCH_ENTRIES);
        let own: Vec<SignedEntry> = own.iter().map(|entry| entry.signed().clone()).collect();
        for batch in self.batches(own) {
            self.send(peer, HostMessage::Entries(batch));
        }
    }
    /// The validator whose node a peer is.
    pub(super) fn validator_of(&self, peer: &Peer) -> Option<ValidatorId> {
        let mut members = self.state.validators().members().iter();
        let of = members.find(|member| member.node.as_bytes() == peer);
        of.map(|member| member.id)
    }
    /// The node of a validator.
    pub(super) fn node_of(&self, validator: &ValidatorId) -> Option<Peer> {
        let member = self.state.validators().get(validator)?;
        Some(*member.node.as_bytes())
    }
    /// Whether a peer is the node of a validator.
    pub(super) fn is_validators_node(&self, peer: &Peer) -> bool {
        self.validator_of(peer).is_some()
    }
    /// Transport keys of the validators' nodes.
    pub(super) fn validators_nodes(&self) -> impl Iterator<Item = Peer> {
        let members = self.state.validators().members().iter();
        members.map(|member| *member.node.as_bytes())
    }
    /// Sends what is to be relayed, in batches.
    pub(super) fn flush_relay(&mut self) {
        let relay = std::mem::take(&mut self.relay);
        for batch in self.batches(relay) {
            self.broadcast(HostMessage::Entries(batch));
        }
    }
    /// Entries by the messages in which they are sent, in order.
    fn batches(&self, entries: Vec<SignedEntry>) -> Vec<Vec<SignedEntry>> {
        if self.votes() {
            let full = entries.chunks(limits::BATCH_ENTRIES);
            return full.map(<[SignedEntry]>::to_vec).collect();
        }
        let (mut batches, mut bytes) = (Vec::<Vec<SignedEntry>>::new(), 0);
        for entry in entries {
            let size = codec::encode(&entry).len();
            bytes += size;
            match batches.last_mut() {
                Some(batch) if bytes <= limits::MEMBERS_BATCH_BYTES => batch.push(entry),
                _ => {
                    bytes = size;
                    batches.push(vec![entry]);
                }
            }
        }
        batches
    }
}
