//! Checks of records alone. A clearing record stays within supply, at or above reserves and at or
//! below bids, sells the cheapest units, and paid = earned (I5, I16). In a decision on reservations
//! every winner gets what it asked for, at its price, and nothing is given twice.

use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn check_record(record: &ClearingRecord) {
    let supply: BTreeMap<OfferId, _> = record.offers.iter().map(|o| (o.offer, o)).collect();
    let bids: BTreeMap<OrderId, _> = record.bids.iter().map(|b| (b.order, b)).collect();
    assert_eq!(
        (supply.len(), bids.len()),
        (record.offers.len(), record.bids.len())
    );
    let mut paid = 0;
    for award in &record.awards {
        let bid = bids[&award.order];
        let prices: Vec<u64> = bid
            .steps
            .iter()
            .flat_map(|s| vec![s.price.0; s.units as usize])
            .collect();
        let value: u64 = prices[..award.units as usize].iter().sum();
        assert!(award.units >= bid.min.max(1));
        assert!(award.pay.micros() <= value, "pays above the bid");
        paid += award.pay.micros();
    }
    let mut earned = 0;
    for sold in &record.sold {
        let offer = supply[&sold.offer];
        assert!(sold.units >= 1 && sold.units <= offer.units);
        assert!(sold.earns.micros() >= offer.reserve.0 * u64::from(sold.units));
        earned += sold.earns.micros();
    }
    assert_eq!(paid, earned);
    let won: u32 = record.awards.iter().map(|a| a.units).sum();
    // The units sold are the cheapest ones, held ones by as much as switching costs; of equal ones
    // those held, then by offer.
    let mut units = vec![];
    for offer in &record.offers {
        let held = record.held.iter().find(|h| h.offer == offer.offer);
        let held = held.map_or(0, |h| h.units);
        let ask = |n| offer.reserve.0 + record.policy.switch_cost.0 * u64::from(n >= held);
        units.extend((0..offer.units).map(|n| (ask(n), n >= held, offer.offer)));
    }
    units.sort_unstable();
    assert!(won as usize <= units.len(), "more won than offered");
    let mut expected: BTreeMap<OfferId, u32> = BTreeMap::new();
    for (_, _, offer) in &units[..won as usize] {
        *expected.entry(*offer).or_default() += 1;
    }
    let sold: BTreeMap<_, _> = record.sold.iter().map(|s| (s.offer, s.units)).collect();
    assert_eq!(sold, expected);
}

/// Counts units and channels slot by slot, without the mechanism.
pub(crate) fn check_decision(record: &ReservationRecord) {
    let mut free: BTreeMap<(OfferId, u64), i64> = BTreeMap::new();
    for share in &record.units {
        for slot in record.slot..record.slot + 104 {
            free.insert((share.offer, slot), share.units.into());
        }
    }
    for run in &record.busy {
        for slot in run.first..=run.last {
            *free.get_mut(&(run.offer, slot)).unwrap() -= 1;
        }
    }
    let mut channels: BTreeSet<(u32, u64)> = BTreeSet::new();
    for run in &record.channels {
        let window = record.slot..record.slot + 200;
        let slots = (run.first..=run.last).filter(|slot| window.contains(slot));
        channels.extend(slots.map(|slot| (run.channel, slot)));
    }
    let bids: BTreeMap<OrderId, _> = record.bids.iter().map(|b| (b.order, b)).collect();
    for won in &record.booked {
        let bid = bids[&won.order];
        assert_eq!(won.pay, bid.value, "first price");
        let size: u32 = bid.groups.iter().map(|g| g.units).sum();
        let least = record.posted.0 * u64::from(size) * u64::from(bid.slots);
        assert!(won.pay.micros() >= least, "below the posted price");
        assert!((bid.earliest.max(record.slot)..=bid.latest).contains(&won.start));
        assert_eq!(won.shares.iter().map(|s| s.units).sum::<u32>(), size);
        for group in bid.groups.iter().filter(|g| !g.offers.is_empty()) {
            let of = won
                .shares
                .iter()
                .filter(|s| group.offers.contains(&s.offer));
            assert!(of.map(|s| s.units).sum::<u32>() >= group.units);
        }
        let slots = won.start..won.start + u64::from(bid.slots);
        for slot in slots {
            for share in &won.shares {
                let left = free.get_mut(&(share.offer, slot)).unwrap();
                *left -= i64::from(share.units);
                assert!(*left >= 0, "slot {slot} is sold twice");
            }
            if let Some(channel) = won.channel {
                assert!(channels.insert((channel, slot)), "a channel is given twice");
            }
        }
        let range = bid.channels.map(|c| c.low..=c.high);
        assert_eq!(won.channel.is_some(), range.is_some());
        assert!(won.channel.is_none_or(|c| range.unwrap().contains(&c)));
    }
    assert!(record.booked.windows(2).all(|w| w[0].order < w[1].order));
}
