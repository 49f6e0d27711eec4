//! A decision on reservations in short.

use crate::api::types::count;
use crate::auction::figures::{Figures, hourly};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::lease::Share;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::units::Credits;

pub(super) fn figures(record: &ReservationRecord, policy: &Policy) -> Figures {
    let total = |shares: &[Share]| shares.iter().map(|s| s.units).sum::<u32>();
    let sold = record.booked.iter().map(|b| total(&b.shares)).sum();
    let paid = Credits::sum(record.booked.iter().map(|b| b.pay)).unwrap_or(Credits::MAX);
    let heights = policy.calendar.slot_heights();
    // Units times slots: winners have them for as many slots as they asked for.
    let unit_slots = record.booked.iter().map(|won| {
        let bid = record.bids.iter().find(|bid| bid.order == won.order);
        u128::from(total(&won.shares)) * u128::from(bid.map_or(0, |bid| bid.slots))
    });
    Figures {
        slot: record.slot,
        units: total(&record.units),
        bids: count(record.bids.len()),
        winners: count(record.booked.len()),
        sold,
        paid,
        price: hourly(paid, unit_slots.sum::<u128>(), heights, policy),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, line};
    use gridbay_protocol::effect::Effect;
    use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
    use gridbay_protocol::record::reservation::{Booked, ReservationBid};
    use gridbay_protocol::units::Price;

    /// Two units of three for two slots each.
    pub(crate) fn decision(class: ClassId, height: u64) -> Effect {
        let order = OrderId([8; 32]);
        let (offer, pay) = (OfferId([3; 32]), Credits::from_micros(88_888).unwrap());
        Effect::Reservation(ReservationRecord {
            class,
            height,
            slot: 2,
            posted: Price(5),
            units: vec![Share { offer, units: 3 }],
            busy: vec![],
            channels: vec![],
            bids: vec![ReservationBid {
                order,
                round: 1,
                rank: Hash32([0; 32]),
                groups: vec![],
                slots: 2,
                earliest: 2,
                latest: 3,
                value: pay,
                channels: None,
            }],
            booked: vec![Booked {
                order,
                start: 2,
                shares: vec![Share { offer, units: 2 }],
                channel: None,
                pay,
            }],
            beaten: None,
        })
    }

    #[test]
    fn reservations_in_short() {
        let (_, summary) = line(&decision(SMALL, 16));
        assert_eq!((summary.units, summary.sold, summary.winners), (3, 2, 1));
        // 2 units for 4 s at 40 credits an hour.
        assert_eq!(summary.price.unwrap().to_string(), "40");
    }
}
