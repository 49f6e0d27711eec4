//! I5 for hires: the first to come is served first, at the posted prices.
//!
//! 1. After every block the checker keeps a copy of the units for hire and of those that leases
//!    hold ([`Shelf`]). Of the units that the effects before it leave of that copy, a record of the
//!    next block lists the offers of the cheapest, as many as its hires could take one by one
//!    within their limits, and counts the others: no unit is hired twice, nobody makes a record
//!    long for nothing, and all are served as from the whole list.
//! 2. The record of a class has the hires among the block's entries, in their order, except those
//!    cancelled before it. Every class with any has one record.
//! 3. One after the other gets the cheapest units that are left, of equal prices those of the
//!    smaller offer id, unless there are too few of them or one costs more than the hire's limit.
//!    The record serves exactly these, with these units at these prices.
//! 4. A hire that is served has a lease of its units at once. It pays their prices for the rest of
//!    the slot, rounded up; then slot by slot, whatever is posted meanwhile, until its slots are
//!    over. A hire that is not served ends for the right reason.
//! 5. No other lease begins on units for hire.
//!
//! Not judged: units of an offer that a lease lost undelivered or in a dispute in the same block.
//! They may be for hire no more.

pub(super) mod shelf;

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::order::order_of;
use gridbay_protocol::record::posted::{PostedBid, PostedRecord};
use shelf::{Outcome, Shelf};
use std::collections::BTreeMap;

/// A hire with a lease, or about to get one.
#[derive(Clone, Debug)]
struct Agreed {
    shares: Vec<Share>,
    /// Micro-credits per slot.
    price: u128,
    slots: u32,
    /// Last slot, once the lease has begun.
    through: Option<u64>,
    /// The slot that it has paid for.
    slot: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Hires {
    before: Option<Shelf>,
    agreed: BTreeMap<OrderId, Agreed>,
}

/// Hires of a block that are not decided on yet, with their slots, and the ends that are to follow
/// for the others.
#[derive(Debug, Default)]
struct Coming {
    bids: BTreeMap<ClassId, Vec<(PostedBid, u32)>>,
    ends: BTreeMap<OrderId, OrderEnd>,
}

impl Coming {
    fn of(entries: &[SignedEntry]) -> Coming {
        let mut coming = Coming::default();
        for signed in entries {
            if let EntryBody::Posted(hire) = &signed.entry.body {
                let bid = PostedBid {
                    order: order_of(&signed.id()),
                    units: hire.units,
                    limit: hire.limit,
                };
                let of_class = coming.bids.entry(hire.class).or_default();
                of_class.push((bid, hire.slots));
            }
        }
        coming
    }
    /// Steps 2 and 4 for an order that ends.
    fn end(&mut self, order: &OrderId, end: &OrderEnd) -> Result<(), String> {
        if let Some(due) = self.ends.remove(order) {
            return match due == *end {
                true => Ok(()),
                false => Err(format!("hire {order} ended as {end:?}, not as {due:?}")),
            };
        }
        for bids in self.bids.values_mut() {
            let before = bids.len();
            bids.retain(|(bid, _)| bid.order != *order);
            if bids.len() < before && *end != OrderEnd::Cancelled {
                return Err(format!("hire {order} ended as {end:?}, undecided"));
            }
        }
        self.bids.retain(|_, bids| !bids.is_empty());
        Ok(())
    }
}

impl Hires {
    fn block(&mut self, fact: &Fact, calendar: &Calendar) -> Result<(), String> {
        let before = self.before.take();
        let mut shelf = before.filter(|shelf| shelf.height + 1 == fact.height);
        let mut coming = Coming::of(&fact.decided.block.entries);
        for effect in &fact.effects {
            match effect {
                Effect::Posted(record) => {
                    if record.height != fact.height {
                        return Err(format!("no time for hires: {record:?}"));
                    }
                    if let Some(shelf) = &shelf {
                        shelf.compare(record)?;
                    }
                    self.decide(record, &mut coming)?;
                }
                Effect::Order { order, end } => coming.end(order, end)?,
                Effect::Lease(event) => {
                    if let (LeaseEvent::Started(terms), Some(shelf)) = (event, &shelf)
                        && !self.agreed.contains_key(&terms.order)
                        && shelf.has(terms)
                    {
                        return Err(format!("not hired, and begins on what is: {terms:?}"));
                    }
                    self.lease(event, fact.height, calendar)?;
                }
                _ => {}
            }
            if let Some(shelf) = &mut shelf {
                shelf.apply(effect);
            }
        }
        let waits = self.agreed.iter().find(|(_, a)| a.through.is_none());
        match (coming.bids.is_empty() && coming.ends.is_empty(), waits) {
            (true, None) => Ok(()),
            (_, waits) => Err(format!("hires are left over: {coming:?} {waits:?}")),
        }
    }

    /// Steps 2 and 3; the leases and ends that are to follow are noted.
    fn decide(&mut self, record: &PostedRecord, coming: &mut Coming) -> Result<(), String> {
        let came = coming.bids.remove(&record.class).unwrap_or_default();
        if came.is_empty() || !record.bids.iter().eq(came.iter().map(|(bid, _)| bid)) {
            return Err(format!("{came:?} came, not as in {record:?}"));
        }
        shelf::follows(record)?;
        for ((bid, slots), outcome) in came.iter().zip(shelf::serve(record)) {
            let (taken, price) = match outcome {
                Outcome::Refused(end) => {
                    coming.ends.insert(bid.order, end);
                    continue;
                }
                Outcome::Served(taken, price) => (taken, price),
            };
            let shares = taken.iter().map(|t| Share {
                offer: t.offer,
                units: t.units,
            });
            let agreed = Agreed {
                shares: shares.collect(),
                price,
                slots: *slots,
                through: None,
                slot: 0,
            };
            self.agreed.insert(bid.order, agreed);
        }
        Ok(())
    }

    /// Step 4 for leases.
    fn lease(
        &mut self,
        event: &LeaseEvent,
        height: u64,
        calendar: &Calendar,
    ) -> Result<(), String> {
        let whole = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
        let Some(agreed) = self.agreed.get_mut(event.order()) else {
            return Ok(());
        };
        match event {
            LeaseEvent::Started(terms) => {
                let (slot, left) = (height / whole, whole - height % whole);
                let first = (agreed.price * u128::from(left)).div_ceil(u128::from(whole));
                let through = (height - 1) / whole + u64::from(agreed.slots);
                let again = agreed.through.replace(through).is_some();
                agreed.slot = slot;
                agreed.is_kept(terms, first, again)
            }
            LeaseEvent::Renewed(terms) => {
                let late = agreed.through.is_none_or(|through| agreed.slot >= through);
                agreed.slot += 1;
                agreed.is_kept(terms, agreed.price, late)
            }
            LeaseEvent::Ended { end, .. } => {
                let over = agreed.through == Some(agreed.slot);
                let firm = match end {
                    LeaseEnd::Expired => over,
                    LeaseEnd::Exit | LeaseEnd::Undelivered | LeaseEnd::Disputed => true,
                    _ => false,
                };
                let agreed = self.agreed.remove(event.order());
                match firm {
                    true => Ok(()),
                    false => Err(format!("{agreed:?} was firm and ended as {end:?}")),
                }
            }
            LeaseEvent::Disputed { .. } => Ok(()),
        }
    }
}

impl Agreed {
    /// Whether the terms of a slot are what was agreed.
    fn is_kept(&self, terms: &LeaseTerms, due: u128, out_of_time: bool) -> Result<(), String> {
        let same = terms.shares == self.shares
            && terms.slot == self.slot
            && terms.firm_through == self.through
            && u128::from(terms.paid.micros()) == due;
        match same && !out_of_time {
            true => Ok(()),
            false => Err(format!("{self:?} for {due} was agreed, not {terms:?}")),
        }
    }
}

impl Check for Hires {
    fn id(&self) -> &'static str {
        "I5"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(fact) = sight else {
            return Ok(());
        };
        let verdict = self.block(fact, &world.genesis.policy.calendar);
        let state = world.core(fact.node).map(gridbay_core::Core::state);
        self.before = state.filter(|s| s.height() == fact.height).map(Shelf::of);
        verdict
    }
}

#[cfg(test)]
mod tests;
