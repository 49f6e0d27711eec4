//! What a clearing record alone must show: within supply, at or above reserves, at or below bids, the cheapest units
//! sold, and paid = earned (I5, I16).

use gridbay_protocol::clearing::ClearingRecord;
use gridbay_protocol::ids::{OfferId, OrderId};
use std::collections::BTreeMap;

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
    // The units sold are the cheapest ones, ties by offer.
    let mut left = won;
    let mut by_reserve: Vec<_> = record.offers.iter().collect();
    by_reserve.sort_by_key(|o| (o.reserve, o.offer));
    let mut expected = BTreeMap::new();
    for offer in by_reserve {
        let units = offer.units.min(left);
        left -= units;
        if units > 0 {
            expected.insert(offer.offer, units);
        }
    }
    assert_eq!(left, 0, "more won than offered");
    let sold: BTreeMap<_, _> = record.sold.iter().map(|s| (s.offer, s.units)).collect();
    assert_eq!(sold, expected);
}
