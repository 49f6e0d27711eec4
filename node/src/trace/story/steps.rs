//! What the ledger does to orders, step by step.

use super::super::facts::{Look, Step, What};
use super::super::ids;
use super::super::span::{Span, count, in_credits};
use super::{Held, Story, time, whole};
use crate::job::attempts::word;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::Credits;

impl Story {
    /// The span of a step, if it ends something.
    pub(super) fn step(&mut self, step: &Step, look: &Look) -> Option<Span> {
        let (order, (height, _)) = (&step.order, step.place);
        let at_ms = time(look, height);
        let span = match &step.what {
            What::Leased {
                lease,
                slot,
                units,
                begins,
            } => {
                let fresh = Held::new(*lease, at_ms);
                let held = self.leases.entry(*order).or_insert(fresh);
                if *begins && held.lease != *lease {
                    *held = fresh;
                }
                (held.units, held.slots) = (*units, held.slots.saturating_add(1));
                held.slot = Some((height, *slot));
                return None;
            }
            What::Cleared { auction, kind } => self.cleared(step, (auction, kind), look),
            What::LeaseOver { lease, end } => {
                let held = self.leases.get(order).filter(|held| held.lease == *lease);
                let since_ms = held.map_or(at_ms, |held| held.since_ms);
                let id = ("lease", ids::lease(lease));
                Span::new(order, id, ids::root(order), (since_ms, at_ms))
                    .with("gridbay.lease", lease.to_hex())
                    .with_some("gridbay.end", end.clone())
                    .with_some("gridbay.units", held.map(|held| count(held.units)))
                    .with_some("gridbay.slots", held.map(|held| count(held.slots)))
            }
            What::Paid {
                amount,
                reason,
                earned: true,
            } => {
                let lease = self.hosted.lease_of(order);
                moved(step, "earning", (*amount, *reason), (lease, at_ms)).of_the_seller()
            }
            What::Paid {
                amount,
                reason,
                earned: false,
            } => {
                let held = self.leases.get(order);
                let lease = held.map(|held| held.lease);
                // The charge of a slot stands in the block that leases for it.
                let slot = held.and_then(|held| held.slot);
                let slot = slot.filter(|(at, _)| *at == height && *reason == Reason::Charge);
                moved(step, "payment", (*amount, *reason), (lease, at_ms))
                    .with_some("gridbay.slot", slot.map(|(_, slot)| count(slot)))
            }
            What::Over { end } => {
                let told = self.fact(order, look);
                let told = told.map(|fact| whole(fact, end.as_deref(), at_ms));
                if let Some(held) = self.leases.get_mut(order) {
                    held.over = Some(height);
                }
                self.former.remove(order);
                told?
            }
        };
        Some(span.with("gridbay.height", count(height)))
    }

    fn cleared(&self, step: &Step, (auction, kind): (&str, &'static str), look: &Look) -> Span {
        let (order, (height, _)) = (&step.order, step.place);
        let at_ms = time(look, height);
        let from = self.fact(order, look).map_or(at_ms, |fact| {
            let last = [fact.opened, fact.committed].into_iter();
            let last = last.filter(|done| (1..=height).contains(done)).max();
            last.map_or(fact.accepted_ms, |done| time(look, done))
        });
        let id = ("clearing", ids::stage(order, "clearing", step.place));
        Span::new(order, id, ids::root(order), (from, at_ms))
            .with("gridbay.clearing", auction.to_owned())
            .with("gridbay.clearing.kind", kind)
    }
}

/// Money that moved for an order.
fn moved(
    step: &Step,
    name: &'static str,
    (amount, reason): (Credits, Reason),
    (lease, at_ms): (Option<LeaseId>, u64),
) -> Span {
    let order = &step.order;
    let under = lease.map_or_else(|| ids::root(order), |lease| ids::lease(&lease));
    let id = (name, ids::stage(order, name, step.place));
    Span::new(order, id, under, (at_ms, at_ms))
        .with("gridbay.credits", in_credits(amount))
        .with_some("gridbay.reason", word(&reason))
        .with_some("gridbay.lease", lease.map(|lease| lease.to_hex()))
}
