//! I16: in every clearing paid = earned, every sold unit earns at least its reserve, no winner pays above his bid.
//!
//! 1. Every record of a clearing says so, and no winner has less than his least or more than his asked-for units.
//! 2. A winner is charged what the record says, right behind it; nobody else of its class is charged by it. A buy
//!    costs, in each of its classes, the greater of the buy prices of its units and the value it displaces; who is evicted for it gets the policy's
//!    part of his remainder on top.
//!    The same holds of a sharing and its awards; nobody pays above his rate, and no more units are held than shared.
//! 3. At a boundary the running slot of a class is paid out: what was charged for it is what came back to buyers
//!    and what sellers earned, to the last micro-credit.
//! 4. Where nothing of a class was interrupted, refunded or bought in a slot, every seller earns exactly
//!    what the records of that slot promised to its offers; where revenue is shared by all, the bank gets the sum.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::clearing::{BuyRecord, ClearingRecord};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::offer::offer_id;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::sharing::{Sharing, SharingAward};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// A slot of a class, until it is paid out.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// Charged, less what has left.
    held: i128,
    promised: BTreeMap<AccountId, i128>,
    earned: BTreeMap<AccountId, i128>,
    /// What went to the bank.
    pooled: i128,
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
    /// Whether revenue is shared by all.
    pools: bool,
    /// What evicted buys get on top of their remainder.
    surcharge_ppm: u32,
}

/// Step 1.
fn adds_up(record: &ClearingRecord) -> Result<(), String> {
    let wide = |n: u64| i128::from(n);
    let (mut won, mut paid) = (0, 0);
    for award in &record.awards {
        let bid = record.bids.iter().find(|b| b.order == award.order);
        let bid = bid.ok_or(format!("{} won and did not bid", award.order))?;
        let prices = bid.steps.iter();
        let prices = prices.flat_map(|s| std::iter::repeat_n(s.price.0, s.units as usize));
        let prices: Vec<u64> = prices.collect();
        let stated = prices.get(..award.units as usize);
        let stated = stated.ok_or(format!("{} won more than asked for", award.order))?;
        let value: i128 = stated.iter().map(|p| wide(*p)).sum();
        if award.units < bid.min.max(1) || wide(award.pay.micros()) > value {
            return Err(format!("{award:?} is not what {bid:?} asked for"));
        }
        won += u64::from(award.units);
        paid += wide(award.pay.micros());
    }
    let (mut sold, mut earned) = (0, 0);
    for sale in &record.sold {
        let offer = record.offers.iter().find(|o| o.offer == sale.offer);
        let offer = offer.ok_or(format!("{} sold and was no offer", sale.offer))?;
        let least = wide(offer.reserve.0) * i128::from(sale.units);
        if sale.units > offer.units || wide(sale.earns.micros()) < least {
            return Err(format!("{sale:?} is not what {offer:?} offered"));
        }
        sold += u64::from(sale.units);
        earned += wide(sale.earns.micros());
    }
    if (won, paid) != (sold, earned) {
        return Err(format!(
            "{won} units for {paid} were won, {sold} for {earned} sold: {record:?}"
        ));
    }
    Ok(())
}

/// Step 2 for a buy.
fn is_priced(buy: &BuyRecord) -> Result<(), String> {
    let mut sum = 0;
    for part in &buy.parts {
        let asked = part.taken.iter();
        let asked = asked.map(|t| u128::from(t.reserve.0) * u128::from(t.units));
        let asked: u128 = asked.sum();
        let price = asked.max(u128::from(part.displaced_value.micros()));
        let vain = part.displaced.is_empty() && asked != price;
        if u128::from(part.price.micros()) != price || vain {
            return Err(format!("{price} is the price of {part:?}"));
        }
        sum += price;
    }
    match u128::from(buy.price.micros()) == sum {
        true => Ok(()),
        false => Err(format!("{sum} is the price of {buy:?}")),
    }
}

/// Step 2 for a buy that evicts: each owner's surcharge is the policy's part of his remainder or, within one sponsor,
/// nothing; and all of it is paid behind the record.
fn evicts(buy: &BuyRecord, ppm: u32, behind: &[Effect]) -> Result<(), String> {
    let fair = |surcharge: u64, remainder: u64| {
        let due = (u128::from(remainder) * u128::from(ppm)).div_ceil(1_000_000);
        ppm > 0 && (surcharge == 0 || u128::from(surcharge) == due)
    };
    let mut due = 0;
    for eviction in buy.evicted() {
        if !fair(eviction.surcharge.micros(), eviction.remainder.micros()) {
            return Err(format!("{eviction:?} is not the policy's"));
        }
        due += eviction.surcharge.micros();
    }
    let paid = behind.iter().filter_map(|effect| match effect {
        Effect::Posting(p) if p.reason == Reason::Compensation && p.order == Some(buy.order) => {
            Some(p.amount.micros())
        }
        _ => None,
    });
    match paid.sum::<u64>() >= due {
        true => Ok(()),
        false => Err(format!("{due} are due to those evicted by {buy:?}")),
    }
}

/// Step 2 for a clearing: the charges that follow its record are its awards.
fn charges(record: &ClearingRecord, behind: &[Effect]) -> Result<(), String> {
    let due = record.awards.iter().map(|a| (a.order, a.pay));
    if charged(&record.class, due, behind) {
        return Ok(());
    }
    Err(format!("winners are not charged what they won: {record:?}"))
}

/// Steps 1 and 2 for a sharing.
fn shares(record: &Sharing, behind: &[Effect]) -> Result<(), String> {
    let units: u64 = record
        .awards
        .iter()
        .map(|a| u64::from(a.portion.units))
        .sum();
    let within = |a: &SharingAward| {
        let claim = record.claims.iter().find(|c| c.order == a.order);
        claim.is_some_and(|c| a.pay <= c.rate && (1..=c.tasks).contains(&a.portion.units))
    };
    if units > u64::from(record.units) || !record.awards.iter().all(within) {
        return Err(format!("more is held or paid than can be: {record:?}"));
    }
    let due = record.awards.iter().map(|a| (a.order, a.pay));
    if charged(&record.class, due, behind) {
        return Ok(());
    }
    Err(format!("claims are not charged their shares: {record:?}"))
}

/// Whether the charges up to the next record are those that are due.
fn charged(
    class: &ClassId,
    due: impl Iterator<Item = (OrderId, Credits)>,
    behind: &[Effect],
) -> bool {
    let class = Purse::Class(*class);
    let is_record =
        |e: &&Effect| matches!(e, Effect::Clearing(_) | Effect::Buy(_) | Effect::Sharing(_));
    let behind = behind.iter().take_while(|e| !is_record(e));
    let charged = behind.filter_map(|effect| match effect {
        Effect::Posting(p) if p.to == class && p.reason == Reason::Charge => {
            Some((p.order, p.from, p.amount))
        }
        _ => None,
    });
    due.filter(|(_, pay)| pay.micros() > 0)
        .map(|(order, pay)| (Some(order), Purse::Escrow(order), pay))
        .eq(charged)
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
        let pools = self.pools;
        if let Purse::Class(class) = posting.from {
            let slot = self.slot(&class, next);
            slot.held -= amount;
            match (posting.reason, posting.to) {
                (Reason::Earning, Purse::Account(seller)) => {
                    *slot.earned.entry(seller).or_default() += amount;
                }
                (Reason::Revenue, Purse::Bank) => slot.pooled += amount,
                // Held for a while on its way to who earned it; `i16_delivery` looks after that.
                (Reason::Retained, Purse::Retained(_)) if pools => slot.pooled += amount,
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
                Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms))
                    if terms.firm_through.is_some() && terms.paid.micros() > 0 =>
                {
                    self.slot(&terms.class, next).disturbed = true;
                }
                _ => {}
            }
        }
        if boundary { self.turn() } else { Ok(()) }
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
            let right = match self.pools {
                true => slot.earned.is_empty() && slot.pooled == promised.values().sum::<i128>(),
                false => slot.earned == promised,
            };
            if self.pools && !slot.earned.is_empty() {
                return Err(format!(
                    "sellers of class {class} earned {sum}, which is for all"
                ));
            }
            // What no seller has earned goes to the bank: units were interrupted, and nothing was left to refund.
            let disturbed = slot.disturbed || (!self.pools && slot.pooled > 0);
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
        Effect::Clearing(_) | Effect::Buy(_) | Effect::Sharing(_) => true,
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
                self.pools = policy.bank.pools_revenue();
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
    use gridbay_protocol::clearing::{BoughtPart, Eviction};
    use gridbay_protocol::ids::LeaseId;

    const CLASS: ClassId = ClassId([7; 32]);

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).unwrap()
    }
    fn record() -> ClearingRecord {
        let offers = vec![offer(1, 2, 10), offer(2, 2, 12)];
        let bids = vec![bid(1, 1, &[(2, 30)]), bid(2, 2, &[(2, 20)])];
        let mut record = record_of(&offers, &bids);
        (record.awards, record.sold) = super::super::naive::clear(&record);
        assert_eq!(record.awards.len(), 2);
        record
    }
    fn charge(order: u8, amount: Credits) -> Effect {
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
    fn records_that_do_not_add_up_are_reported() {
        assert_eq!(adds_up(&record()), Ok(()));
        let mut above = record();
        above.awards[0].pay = micros(61);
        let mut below = record();
        below.sold[0].earns = micros(19);
        let mut less = record();
        less.awards[1].units = 1;
        let mut beyond = record();
        beyond.sold[0].units = 3;
        for bad in [above, below, less, beyond] {
            assert!(adds_up(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn wrong_charges_are_reported() {
        let record = record();
        let pay = |i: usize| record.awards[i].pay;
        let right = [charge(1, pay(0)), charge(2, pay(1))];
        assert_eq!(charges(&record, &right), Ok(()));
        assert!(charges(&record, &right[..1]).is_err());
        assert!(charges(&record, &[charge(1, micros(1)), charge(2, pay(1))]).is_err());
        let more = [right[0].clone(), right[1].clone(), charge(3, micros(1))];
        assert!(charges(&record, &more).is_err());
    }

    /// Two units at 50.
    fn bought(evicted: Vec<Eviction>) -> BuyRecord {
        BuyRecord {
            order: OrderId([1; 32]),
            height: 3,
            parts: vec![BoughtPart {
                class: CLASS,
                taken: vec![offer(1, 2, 50)],
                displaced: vec![],
                displaced_value: Credits::ZERO,
                evicted,
                price: micros(100),
            }],
            price: micros(100),
            slots: 1,
        }
    }

    #[test]
    fn a_buy_below_its_price_is_reported() {
        let mut buy = bought(vec![]);
        assert_eq!(is_priced(&buy), Ok(()));
        buy.price = micros(99);
        assert!(is_priced(&buy).is_err(), "not the sum");
        buy.parts[0].price = micros(99);
        assert!(is_priced(&buy).is_err());
    }

    #[test]
    fn an_eviction_that_is_not_paid_for_is_reported() {
        let mut buy = bought(vec![Eviction {
            lease: LeaseId([2; 32]),
            remainder: micros(217),
            surcharge: micros(44),
        }]);
        let paid = |amount| {
            [Effect::Posting(Posting {
                from: Purse::Escrow(OrderId([1; 32])),
                to: Purse::Account(AccountId([3; 32])),
                amount: micros(amount),
                reason: Reason::Compensation,
                order: Some(OrderId([1; 32])),
            })]
        };
        assert_eq!(evicts(&buy, 200_000, &paid(44)), Ok(()));
        assert!(evicts(&buy, 200_000, &paid(43)).is_err());
        assert!(evicts(&buy, 0, &paid(44)).is_err(), "nobody is evicted");
        buy.parts[0].evicted[0].surcharge = micros(43);
        assert!(evicts(&buy, 200_000, &paid(44)).is_err());
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
}
