//! Refunds by complaints: a complaint brings its buyer the price of its own slot, and of no other.
//!
//! 1. Held earnings go back only by a complaint of that order, and of a slot that is over: a
//!    complaint of the running slot brings the cost of that slot.
//! 2. A lease of one seller, acknowledged, that ends by a complaint of an earlier slot than the
//!    running one, gets back the unused part of the running one in that block, and nothing when the
//!    slot is settled.
//! 3. For no slot does an order get back more than it was charged for it, whatever brings it: units
//!    that stopped, that nobody acknowledged or that were complained of. The charge counts, not
//!    what a lease's event says was paid: a lease that loses units is told of again and pays
//!    nothing.

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
    /// Leases of one seller that had acknowledged them before the block, and orders whose lease a
    /// complaint of an earlier slot ended in it.
    whole: BTreeSet<LeaseId>,
    ended: BTreeSet<OrderId>,
    /// Orders that get nothing back for the slot that they paid for last.
    settled: BTreeSet<OrderId>,
    /// The charge of which the next lease's event says the slot.
    charged: Option<(OrderId, u64)>,
    /// The charges of an order for a slot, less its refunds.
    left: BTreeMap<(OrderId, u64), u64>,
}

impl Refunds {
    pub(super) fn lease(&mut self, event: &LeaseEvent) {
        match event {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => {
                let charged = self.charged.take_if(|(order, _)| *order == terms.order);
                let left = self.left.entry((terms.order, terms.slot)).or_default();
                *left += charged.map_or(0, |(_, amount)| amount);
                self.last.insert(terms.order, terms.slot);
                self.settled.remove(&terms.order);
                self.ended.remove(&terms.order);
            }
            // A lease that its seller failed before in the block is not ended by the complaint.
            LeaseEvent::Ended { lease, .. } => {
                self.whole.remove(lease);
            }
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
    pub(super) fn post(&mut self, posting: &Posting, slot: u64) -> Result<(), String> {
        match (posting.reason, posting.order) {
            (Reason::Charge, Some(order)) => {
                self.charged = Some((order, posting.amount.micros()));
                Ok(())
            }
            (Reason::Refund, Some(order)) => self.refund(posting, order, slot),
            _ => Ok(()),
        }
    }
    fn refund(&mut self, posting: &Posting, order: OrderId, slot: u64) -> Result<(), String> {
        let said = self.said.filter(|(of, _)| *of == order);
        let of = match posting.from {
            Purse::Retained(_) => said.map(|(_, said)| said).filter(|said| *said < slot),
            // A class holds what an order paid last: in a closing block it may be the next slot's.
            _ => {
                let last = self.last.get(&order).copied();
                last.filter(|last| slot <= *last && !self.settled.contains(&order))
            }
        };
        let Some(of) = of else {
            return Err(format!(
                "{posting:?} in slot {slot} of none that it is due for; said is {:?}, paid last {:?}",
                self.said,
                self.last.get(&order)
            ));
        };
        let left = self.left.entry((order, of)).or_default();
        let Some(less) = left.checked_sub(posting.amount.micros()) else {
            return Err(format!("{posting:?}, and {left} is left of slot {of}"));
        };
        *left = less;
        Ok(())
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
    use gridbay_protocol::lease::{LeaseEnd, LeaseTerms};
    use gridbay_protocol::units::Credits;

    const ORDER: OrderId = OrderId([1; 32]);
    const LEASE: LeaseId = LeaseId([2; 32]);

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).expect("a small amount")
    }

    fn told(slot: u64, amount: u64) -> LeaseEvent {
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

    /// An order pays for a slot.
    fn pay(refunds: &mut Refunds, slot: u64, amount: u64) {
        let charge = Posting {
            from: Purse::Escrow(ORDER),
            to: CLASS,
            reason: Reason::Charge,
            ..back(CLASS, amount)
        };
        assert_eq!(refunds.post(&charge, slot), Ok(()));
        refunds.lease(&told(slot, amount));
    }

    const CLASS: Purse = Purse::Class(ClassId([0; 32]));
    const HELD: Purse = Purse::Retained(AccountId([0; 32]));

    /// Slots 4 and 5 are paid, 5 runs, and its buyer complains of one.
    fn complained(slot: u64) -> Refunds {
        let mut refunds = Refunds::default();
        pay(&mut refunds, 4, 100);
        pay(&mut refunds, 5, 80);
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
        let mut refunds = complained(5);
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
        pay(&mut refunds, 5, 20);
        assert_eq!(refunds.post(&back(CLASS, 20), 5), Ok(()), "not delivered");
    }

    #[test]
    fn a_lease_that_failed_before_the_complaint_gets_the_used_part_back_too() {
        let mut refunds = Refunds::default();
        pay(&mut refunds, 4, 100);
        pay(&mut refunds, 5, 80);
        refunds.whole.insert(LEASE);
        refunds.lease(&LeaseEvent::Ended {
            lease: LEASE,
            order: ORDER,
            end: LeaseEnd::Undelivered,
        });
        refunds.lease(&disputed(4));
        refunds.close(std::iter::empty());
        assert_eq!(refunds.post(&back(CLASS, 80), 5), Ok(()));
    }

    #[test]
    fn a_refund_above_the_price_is_reported() {
        let mut refunds = complained(5);
        assert_eq!(refunds.post(&back(CLASS, 30), 5), Ok(()), "unused");
        refunds.close(std::iter::empty());
        assert!(refunds.post(&back(CLASS, 51), 5).is_err(), "80 in all");
        let mut refunds = complained(4);
        assert!(refunds.post(&back(HELD, 101), 5).is_err());
        assert_eq!(refunds.post(&back(HELD, 60), 5), Ok(()), "one offer");
        refunds.lease(&disputed(4));
        assert!(refunds.post(&back(HELD, 41), 5).is_err(), "and another");
    }

    #[test]
    fn several_charges_of_a_slot_add_up_and_an_event_alone_is_none() {
        let mut refunds = Refunds::default();
        pay(&mut refunds, 5, 80);
        assert_eq!(refunds.post(&back(CLASS, 30), 5), Ok(()), "outbid");
        pay(&mut refunds, 5, 20);
        refunds.lease(&told(5, 20));
        assert!(refunds.post(&back(CLASS, 71), 5).is_err());
        assert_eq!(refunds.post(&back(CLASS, 70), 5), Ok(()));
        pay(&mut refunds, 6, 40);
        assert_eq!(refunds.post(&back(CLASS, 40), 5), Ok(()), "it comes next");
        pay(&mut refunds, 6, 40);
        assert!(refunds.post(&back(CLASS, 1), 7).is_err(), "it is over");
    }
}
