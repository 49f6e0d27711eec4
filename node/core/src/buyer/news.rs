//! News of the ledger that an order notes.

use super::order::OrderAgent;
use crate::buy::End;
use gridbay_ledger::Refusal;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;

impl OrderAgent {
    /// Notes an effect of the block of `height` on the order.
    pub(super) fn note(&mut self, effect: &Effect, calendar: &Calendar, height: u64) {
        match effect {
            Effect::Order { end, .. } => self.note_end(*end),
            Effect::Lease(event) => self.note_lease(event, calendar, height),
            Effect::Contract(event) => self.note_contract(event, height),
            _ => {}
        }
    }
    /// The entry of this attempt is in the book, by the block of `height` at the latest, so that no
    /// other attempt may be made. The state does not show an order that comes and goes in one
    /// block, or while the node is away.
    pub(super) fn note_inclusion(&mut self, height: u64) {
        if !self.record.included {
            self.record.included = true;
            self.record.milestones.committed = height;
            self.dirty = true;
        }
    }
    /// Notes an event of its lease in the block of `height`.
    fn note_lease(&mut self, event: &LeaseEvent, calendar: &Calendar, height: u64) {
        self.record.milestones.note(event, calendar, height);
        if let LeaseEvent::Ended { end, .. } = event {
            self.record.experience.end(*end, self.tasks.done());
            self.last_end = Some(End::from(*end));
        }
        self.dirty = true;
    }
    /// Notes the grant to its claim for the next slot.
    pub fn note_sharing(&mut self, sharing: &Sharing) {
        if let Some(id) = self.id {
            let done = self.tasks.done();
            self.record.experience.begin(&id, sharing, done);
            self.dirty = true;
        }
    }
    /// Its tasks ran out.
    pub fn note_last_task(&mut self) {
        self.record.experience.discard();
    }
    /// Adds a payment, or takes a refund off.
    pub fn count_payment(&mut self, amount: Credits, refund: bool) {
        let paid = self.record.paid;
        let sum = if refund {
            Some(paid.saturating_sub(amount))
        } else {
            paid.checked_add(amount)
        };
        self.record.paid = sum.unwrap_or(paid);
        self.dirty = true;
    }
    /// The ledger did not take the entry of this attempt. That it is too late, or is in the ledger
    /// already, says nothing about the order.
    pub fn note_refusal(&mut self, refusal: &Refusal) {
        if matches!(refusal, Refusal::Expired { .. } | Refusal::Used(_)) {
            return;
        }
        self.refusal = Some((refusal.word(), refusal.may_pass_later()));
    }
    /// The ledger told why the order ended.
    fn note_end(&mut self, end: OrderEnd) {
        if let OrderEnd::Short(class) = end {
            self.record.short = Some(class);
            self.dirty = true;
        }
        if end != OrderEnd::Served {
            self.last_end = Some(End::from(end));
        }
    }
}
