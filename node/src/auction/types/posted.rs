//! A decision on hires in short.

use crate::api::types::count;
use crate::auction::figures::{Figures, begun, hourly};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::units::Credits;

pub(super) fn figures(record: &PostedRecord, policy: &Policy) -> Figures {
    let prices = || record.served.iter().map(|hired| hired.price);
    let (slot, first) = begun(policy, record.height, prices());
    let listed = record.offers.iter().map(|offer| offer.units);
    let sold = record.served.iter().flat_map(|hired| &hired.taken);
    let sold: u32 = sold.map(|taken| taken.units).sum();
    let price = Credits::sum(prices()).unwrap_or(Credits::MAX);
    let whole = policy.calendar.slot_heights();
    Figures {
        slot,
        units: listed.fold(record.left_out, u32::saturating_add),
        bids: count(record.bids.len()),
        winners: count(record.served.len()),
        sold,
        paid: first.unwrap_or(Credits::MAX),
        price: hourly(price, sold, whole, policy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::AuctionKind;
    use crate::auction::types::tests::{SMALL, line, offer};
    use gridbay_protocol::effect::Effect;
    use gridbay_protocol::ids::OrderId;
    use gridbay_protocol::record::posted::{Hired, PostedBid};
    use gridbay_protocol::units::Price;

    #[test]
    fn hires_in_short() {
        let hired = |order: u8, units, price| Hired {
            order: OrderId([order; 32]),
            taken: vec![offer(units)],
            price: Credits::from_micros(price).unwrap(),
        };
        let came = |order: u8, units| PostedBid {
            order: OrderId([order; 32]),
            units,
            limit: Price(5),
        };
        let record = PostedRecord {
            class: SMALL,
            height: 10,
            offers: vec![offer(6)],
            left_out: 4,
            bids: vec![came(9, 2), came(8, 9), came(7, 3)],
            served: vec![hired(9, 2, 10), hired(7, 3, 15)],
        };
        let id = record.id().to_hex();
        let (_, summary) = line(&Effect::Posted(record));
        assert_eq!((summary.id, summary.kind), (id, AuctionKind::Posted));
        assert_eq!((summary.units, summary.sold), (10, 5));
        assert_eq!((summary.bids, summary.winners), (3, 2));
        // Six heights of eight are left: 7.5 and 11.25, each rounded up.
        assert_eq!((summary.slot, summary.paid.micros()), (1, 8 + 12));
        assert_eq!(
            summary.price.unwrap().to_string(),
            "0.01",
            "5 millionths a slot, as set"
        );
    }
}
