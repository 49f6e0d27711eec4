//! Steps 1 and 2 for single records: their sums add up, and the charges behind them match.

use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::share::{Sharing, SharingAward};
use gridbay_protocol::units::Credits;

/// Step 1.
pub(in crate::check) fn adds_up(record: &ClearingRecord) -> Result<(), String> {
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
pub(in crate::check) fn is_priced(buy: &BuyRecord) -> Result<(), String> {
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

/// Step 2 for a buy that evicts: each owner's surcharge is the policy's part of its remainder or,
/// within one sponsor, nothing; and all of it is paid behind the record.
pub(super) fn evicts(buy: &BuyRecord, ppm: u32, behind: &[Effect]) -> Result<(), String> {
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
pub(super) fn charges(record: &ClearingRecord, behind: &[Effect]) -> Result<(), String> {
    let due = record.awards.iter().map(|a| (a.order, a.pay));
    if charged(&record.class, due, behind) {
        return Ok(());
    }
    Err(format!("winners are not charged what they won: {record:?}"))
}

/// Step 1 for a sharing.
pub(in crate::check) fn is_within(record: &Sharing) -> Result<(), String> {
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
    Ok(())
}

/// Steps 1 and 2 for a sharing.
pub(super) fn shares(record: &Sharing, behind: &[Effect]) -> Result<(), String> {
    is_within(record)?;
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
    let sells = |e: &Effect| {
        matches!(
            e,
            Effect::Clearing(_) | Effect::Buy(_) | Effect::Sharing(_) | Effect::Posted(_)
        )
    };
    let behind = behind.iter().take_while(|e| !sells(e));
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

#[cfg(test)]
mod tests {
    use super::super::tests::{CLASS, charge, micros, record};
    use super::*;
    use crate::check::naive::tests::offer;
    use gridbay_protocol::ids::{AccountId, LeaseId};
    use gridbay_protocol::payment::Posting;
    use gridbay_protocol::record::buy::{BoughtPart, Eviction};

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
}
