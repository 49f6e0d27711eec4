//! I16: in every clearing paid = earned, every sold unit earns at least its reserve, no winner pays
//! above its bid.
//!
//! 1. Every record of a clearing shows that, and gives no winner fewer units than its minimum or
//!    more than it asked for.
//! 2. A winner is charged the payment of the record, right behind it; nobody else of its class is
//!    charged by it. A buy costs, in each of its classes, the greater of the buy prices of its
//!    units and the value it displaces; an owner evicted for it gets the policy's part of its
//!    remainder on top. The same holds of a sharing and its awards; no claim pays above its rate,
//!    and no more units are held than shared.
//! 3. At a boundary the running slot of a class is paid out: its charges equal the refunds to
//!    buyers and the earnings of sellers, to the last micro-credit.
//! 4. Where nothing of a class was interrupted (even at too low a cost to be refunded), refunded or
//!    bought in a slot, every seller earns exactly what the records of that slot promised to its
//!    offers; where revenue is shared by all, the bank gets the sum.

pub(super) mod record;

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, LeaseTerms};
use gridbay_protocol::offer::offer_id;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::record::ausubel::ClearingRecord;
use record::{adds_up, charges, evicts, is_priced, shares};
use std::collections::BTreeMap;

/// A slot of a class, until it is paid out.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// Charged, less what has left.
    held: i128,
    promised: BTreeMap<AccountId, i128>,
    earned: BTreeMap<AccountId, i128>,
    /// Money that went to the bank.
    to_treasury: i128,
    /// Whether something happened that the records could not foresee.
    disturbed: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Books {
    slots: BTreeMap<ClassId, Slot>,
    /// The slots that a boundary's own clearing fills.
    next: BTreeMap<ClassId, Slot>,
    sellers: BTreeMap<OfferId, AccountId>,
    /// Leases that run, as they were told of last.
    leases: BTreeMap<LeaseId, LeaseTerms>,
    /// Whether revenue is shared by all.
    shared: bool,
    /// The surcharge of evicted buys on top of their remainder.
    surcharge_ppm: u32,
}

impl Books {
    fn entries(&mut self, entries: &[SignedEntry]) {
        for signed in entries {
            if let EntryBody::SetOffer(terms) = &signed.entry.body {
                let seller = signed.entry.account;
                self.sellers.insert(offer_id(&seller, terms.label), seller);
            }
        }
    }
    fn promise(&mut self, record: &ClearingRecord, next: bool) -> Result<(), String> {
        for sale in &record.sold {
            let seller = self.sellers.get(&sale.offer).copied();
            let seller = seller.ok_or(format!("nobody set offer {}", sale.offer))?;
            let promised = &mut self.slot(&record.class, next).promised;
            *promised.entry(seller).or_default() += i128::from(sale.earns.micros());
        }
        Ok(())
    }
    fn post(&mut self, posting: &Posting, next: bool) {
        let amount = i128::from(posting.amount.micros());
        if let Purse::Class(class) = posting.to {
            self.slot(&class, next).held += amount;
        }
        let shared = self.shared;
        if let Purse::Class(class) = posting.from {
            let slot = self.slot(&class, next);
            slot.held -= amount;
            match (posting.reason, posting.to) {
                (Reason::Earning, Purse::Account(seller)) => {
                    *slot.earned.entry(seller).or_default() += amount;
                }
                (Reason::Revenue, Purse::Bank) => slot.to_treasury += amount,
                // Held for a while on its way to the seller; `i16_delivery` looks after that.
                (Reason::Retained, Purse::Retained(_)) if shared => slot.to_treasury += amount,
                (Reason::Retained, Purse::Retained(seller)) => {
                    *slot.earned.entry(seller).or_default() += amount;
                }
                _ => slot.disturbed = true,
            }
        }
    }
    fn block(&mut self, fact: &Fact, calendar: &Calendar) -> Result<(), String> {
        self.entries(&fact.decided.block.entries);
        let whole = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
        let boundary = fact.height.is_multiple_of(whole);
        // At a boundary the running slot is paid out before anything is charged for the next one.
        let mut next = false;
        for (i, effect) in fact.effects.iter().enumerate() {
            next |= boundary && is_of_the_next_slot(effect);
            match effect {
                Effect::Posting(posting) => self.post(posting, next),
                Effect::Clearing(record) => {
                    adds_up(record)?;
                    charges(record, &fact.effects[i + 1..])?;
                    self.promise(record, next)?;
                }
                Effect::Sharing(record) => shares(record, &fact.effects[i + 1..])?,
                Effect::Buy(buy) => {
                    is_priced(buy)?;
                    evicts(buy, self.surcharge_ppm, &fact.effects[i + 1..])?;
                    for class in buy.classes() {
                        self.slot(&class, next).disturbed = true;
                    }
                }
                Effect::Lease(event) => self.lease(event, boundary, next),
                _ => {}
            }
        }
        if boundary { self.turn() } else { Ok(()) }
    }
    /// Notes what no record could foresee: firm leases, and leases that lose units.
    fn lease(&mut self, event: &LeaseEvent, boundary: bool, next: bool) {
        match event {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => {
                let units = |terms: &LeaseTerms| terms.shares.iter().map(|s| s.units).sum::<u32>();
                let before = self.leases.insert(terms.lease, terms.clone());
                let before = before.filter(|before| before.slot == terms.slot);
                let loses = before.is_some_and(|before| units(terms) < units(&before));
                if (terms.firm_through.is_some() && terms.paid.micros() > 0) || loses {
                    self.slot(&terms.class, next).disturbed = true;
                }
            }
            LeaseEvent::Ended { lease, end, .. } => {
                use LeaseEnd::{Disputed, Preempted, Undelivered};
                let breaks = matches!(end, Disputed | Preempted | Undelivered);
                if let Some(terms) = self.leases.remove(lease)
                    && (breaks || !boundary)
                {
                    self.slot(&terms.class, next).disturbed = true;
                }
            }
            LeaseEvent::Disputed { .. } => {}
        }
    }
    fn slot(&mut self, class: &ClassId, next: bool) -> &mut Slot {
        let slots = if next {
            &mut self.next
        } else {
            &mut self.slots
        };
        slots.entry(*class).or_default()
    }
    /// Steps 3 and 4.
    fn turn(&mut self) -> Result<(), String> {
        let done = std::mem::replace(&mut self.slots, std::mem::take(&mut self.next));
        for (class, slot) in done {
            let sum: i128 = slot.earned.values().sum();
            if slot.held != 0 {
                return Err(format!("{} of class {class} are not paid out", slot.held));
            }
            let promised = slot.promised.into_iter().filter(|(_, n)| *n > 0);
            let promised: BTreeMap<AccountId, i128> = promised.collect();
            let right = match self.shared {
                true => {
                    slot.earned.is_empty() && slot.to_treasury == promised.values().sum::<i128>()
                }
                false => slot.earned == promised,
            };
            if self.shared && !slot.earned.is_empty() {
                return Err(format!(
                    "sellers of class {class} earned {sum}, which is for all"
                ));
            }
            // Money that no seller has earned goes to the bank: units were interrupted, and nothing
            // was left to refund.
            let disturbed = slot.disturbed || (!self.shared && slot.to_treasury > 0);
            if !disturbed && !right {
                return Err(format!(
                    "sellers of class {class} were promised {promised:?}, earned {sum} as {:?}",
                    slot.earned
                ));
            }
        }
        Ok(())
    }
}

/// Whether this begins what a boundary does for the slot that comes.
fn is_of_the_next_slot(effect: &Effect) -> bool {
    match effect {
        Effect::Clearing(_) | Effect::Buy(_) | Effect::Sharing(_) | Effect::Posted(_) => true,
        Effect::Posting(posting) => matches!(posting.to, Purse::Class(_)),
        _ => false,
    }
}

impl Check for Books {
    fn id(&self) -> &'static str {
        "I16"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => {
                let policy = &world.genesis.policy;
                self.shared = policy.bank.shares_revenue();
                self.surcharge_ppm = policy.buy.surcharge_ppm;
                self.block(fact, &policy.calendar)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::tests::{bid, offer, record as record_of};
    use super::*;
    use gridbay_protocol::ids::OrderId;
    use gridbay_protocol::units::Credits;

    pub(super) const CLASS: ClassId = ClassId([7; 32]);

    pub(super) fn micros(n: u64) -> Credits {
        Credits::from_micros(n).unwrap()
    }
    pub(super) fn record() -> ClearingRecord {
        let offers = vec![offer(1, 2, 10), offer(2, 2, 12)];
        let bids = vec![bid(1, 1, &[(2, 30)]), bid(2, 2, &[(2, 20)])];
        let mut record = record_of(&offers, &bids);
        (record.awards, record.sold) = super::super::naive::clear(&record);
        assert_eq!(record.awards.len(), 2);
        record
    }
    pub(super) fn charge(order: u8, amount: Credits) -> Effect {
        let order = OrderId([order; 32]);
        Effect::Posting(Posting {
            from: Purse::Escrow(order),
            to: Purse::Class(CLASS),
            amount,
            reason: Reason::Charge,
            order: Some(order),
        })
    }
    fn earning(seller: u8, amount: u64) -> Posting {
        Posting {
            from: Purse::Class(CLASS),
            to: Purse::Account(AccountId([seller; 32])),
            amount: micros(amount),
            reason: Reason::Earning,
            order: None,
        }
    }

    #[test]
    fn a_slot_that_is_not_paid_out_as_promised_is_reported() {
        let books = |earned: &[(u8, u64)]| {
            let mut books = Books::default();
            let sellers = [(1, 1), (2, 2)];
            let sellers = sellers.map(|(o, s)| (OfferId([o; 32]), AccountId([s; 32])));
            books.sellers = sellers.into();
            books.promise(&record(), false).unwrap();
            for award in &record().awards {
                let Effect::Posting(posting) = charge(award.order.0[0], award.pay) else {
                    panic!("a charge is a posting");
                };
                books.post(&posting, false);
            }
            for (seller, amount) in earned {
                books.post(&earning(*seller, *amount), false);
            }
            books.turn()
        };
        let due: Vec<_> = record().sold.iter().map(|s| s.earns.micros()).collect();
        assert_eq!(books(&[(1, due[0]), (2, due[1])]), Ok(()));
        assert!(books(&[(1, due[0])]).is_err(), "something is left");
        assert!(books(&[(1, due[0] + 1), (2, due[1] - 1)]).is_err());
    }

    #[test]
    fn a_lease_that_was_cut_short_for_nothing_disturbs_its_slot() {
        let terms = LeaseTerms {
            lease: LeaseId([1; 32]),
            order: OrderId([1; 32]),
            account: AccountId::default(),
            class: CLASS,
            slot: 4,
            shares: vec![],
            paid: micros(1),
            firm_through: None,
        };
        let ended = |end| LeaseEvent::Ended {
            lease: terms.lease,
            order: terms.order,
            end,
        };
        let disturbed = |end, boundary| {
            let mut books = Books::default();
            books.lease(&LeaseEvent::Started(terms.clone()), false, false);
            books.lease(&ended(end), boundary, false);
            books.slot(&CLASS, false).disturbed
        };
        assert!(disturbed(LeaseEnd::Undelivered, false));
        assert!(disturbed(LeaseEnd::Disputed, true));
        assert!(!disturbed(LeaseEnd::Expired, true), "it ran to the end");
    }
}
