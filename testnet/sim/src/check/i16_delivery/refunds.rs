//! What a complaint brings its buyer: the slot that it is of, and no other.
//!
//! 1. Held earnings go back only by a complaint of that order, and of a slot that is over: what a complaint of the running
//!    slot brings is what that slot cost.
//! 2. A lease of one seller, acknowledged, that ends by a complaint of an earlier slot than the running one, gets back the
//!    unused part of the running one in that block, and nothing when the slot is settled.
//!
//! What a slot brings may be more than its buyer paid: units that were not served give back what they earned.

use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Refunds {
    /// The slot that an order paid for last.
    last: BTreeMap<OrderId, u64>,
    /// The complaint of which the next postings are: its order and slot.
    said: Option<(OrderId, u64)>,
    /// Leases of one seller that had acknowledged them before the block, and orders whose lease a complaint of an earlier
    /// slot ended in it.
    whole: BTreeSet<LeaseId>,
    ended: BTreeSet<OrderId>,
    /// Orders that get nothing back for the slot that they paid for last.
    settled: BTreeSet<OrderId>,
}

impl Refunds {
    pub(super) fn lease(&mut self, event: &LeaseEvent) {
        match event {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => {
                self.last.insert(terms.order, terms.slot);
                self.settled.remove(&terms.order);
                self.ended.remove(&terms.order);
            }
            LeaseEvent::Ended { .. } => {}
            LeaseEvent::Disputed {
                lease, order, slot, ..
            } => {
                self.said = Some((*order, *slot));
                let earlier = self.last.get(order).is_some_and(|last| slot < last);
                if earlier && self.whole.contains(lease) {
                    self.ended.insert(*order);
                }
            }
        }
    }
    /// A posting of a block in a slot.
    pub(super) fn post(&self, posting: &Posting, slot: u64) -> Result<(), String> {
        let (Reason::Refund, Some(order)) = (posting.reason, posting.order) else {
            return Ok(());
        };
        let is_due = match posting.from {
            Purse::Retained(_) => self
                .said
                .is_some_and(|(of, said)| of == order && said < slot),
            _ => !self.settled.contains(&order),
        };
        match is_due {
            true => Ok(()),
            false => Err(format!(
                "{posting:?} in slot {slot} of a slot that was not complained of; said is {:?}",
                self.said
            )),
        }
    }
    /// After a block: the leases as they are, with their sellers' acknowledgements.
    pub(super) fn close<'a>(
        &mut self,
        leases: impl Iterator<Item = (&'a LeaseId, &'a gridbay_ledger::Lease)>,
    ) {
        self.said = None;
        self.settled.append(&mut self.ended);
        let whole = leases.filter(|(_, l)| l.shares.len() == 1 && l.delivered.len() == 1);
        self.whole = whole.map(|(id, _)| *id).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
    use gridbay_protocol::lease::LeaseTerms;
    use gridbay_protocol::units::Credits;

    const ORDER: OrderId = OrderId([1; 32]);
    const LEASE: LeaseId = LeaseId([2; 32]);

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).expect("a small amount")
    }

    fn paid(slot: u64, amount: u64) -> LeaseEvent {
        LeaseEvent::Renewed(LeaseTerms {
            lease: LEASE,
            order: ORDER,
            account: AccountId::default(),
            class: ClassId::default(),
            slot,
            shares: vec![],
            paid: micros(amount),
            firm_through: None,
        })
    }

    fn disputed(slot: u64) -> LeaseEvent {
        LeaseEvent::Disputed {
            lease: LEASE,
            order: ORDER,
            offer: OfferId::default(),
            slot,
            withdrawn: false,
        }
    }

    fn back(from: Purse, amount: u64) -> Posting {
        Posting {
            from,
            to: Purse::Account(AccountId::default()),
            amount: micros(amount),
            reason: Reason::Refund,
            order: Some(ORDER),
        }
    }

    const CLASS: Purse = Purse::Class(ClassId([0; 32]));
    const HELD: Purse = Purse::Retained(AccountId([0; 32]));

    /// Slots 4 and 5 are paid, 5 runs, and its buyer complains of one.
    fn complained(slot: u64) -> Refunds {
        let mut refunds = Refunds::default();
        refunds.lease(&paid(4, 100));
        refunds.lease(&paid(5, 80));
        refunds.whole.insert(LEASE);
        refunds.lease(&disputed(slot));
        refunds
    }

    #[test]
    fn a_complaint_brings_the_running_slot_or_the_one_that_is_held() {
        let mut refunds = complained(5);
        assert_eq!(refunds.post(&back(CLASS, 30), 5), Ok(()), "unused");
        refunds.close(std::iter::empty());
        assert_eq!(refunds.post(&back(CLASS, 50), 5), Ok(()), "used");
        let mut refunds = complained(4);
        assert_eq!(refunds.post(&back(HELD, 100), 5), Ok(()));
        assert_eq!(refunds.post(&back(CLASS, 30), 5), Ok(()), "unused");
        refunds.close(std::iter::empty());
        assert!(refunds.post(&back(CLASS, 1), 5).is_err(), "it was served");
    }

    #[test]
    fn a_complaint_that_brings_two_slots_is_reported() {
        let refunds = complained(5);
        assert!(
            refunds.post(&back(HELD, 100), 5).is_err(),
            "held, of slot 4"
        );
        let mut refunds = complained(4);
        refunds.close(std::iter::empty());
        assert!(
            refunds.post(&back(HELD, 1), 5).is_err(),
            "said in another block"
        );
    }

    #[test]
    fn an_order_that_has_a_lease_again_may_get_its_money_back() {
        let mut refunds = complained(4);
        refunds.close(std::iter::empty());
        refunds.lease(&paid(5, 20));
        assert_eq!(refunds.post(&back(CLASS, 20), 5), Ok(()), "not delivered");
    }
}
