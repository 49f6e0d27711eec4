//! A buy in short.

use crate::auction::figures::{Figures, begun, hourly};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::units::Credits;

pub(super) fn figures(record: &BuyRecord, policy: &Policy) -> Figures {
    let units = record.units();
    // The rest of the running slot comes on top of the full ones.
    let (slot, first) = begun(policy, record.height, record.parts.iter().map(|p| p.price));
    let whole = policy.calendar.slot_heights();
    let full = record.price.checked_mul(u64::from(record.slots));
    let paid = first.zip(full).and_then(|(r, f)| f.checked_add(r));
    Figures {
        slot,
        units,
        bids: 1,
        winners: 1,
        sold: units,
        paid: paid.unwrap_or(Credits::MAX),
        price: hourly(record.price, units, whole, policy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{LARGE, SMALL, line, offer};
    use gridbay_protocol::effect::Effect;
    use gridbay_protocol::ids::OrderId;
    use gridbay_protocol::record::buy::BoughtPart;

    #[test]
    fn a_buy_in_short() {
        let part = |class, price| BoughtPart {
            class,
            taken: vec![offer(1)],
            displaced: vec![],
            displaced_value: Credits::ZERO,
            evicted: vec![],
            price: Credits::from_micros(price).unwrap(),
        };
        let record = BuyRecord {
            order: OrderId([9; 32]),
            height: 10,
            parts: vec![part(SMALL, 60), part(LARGE, 20)],
            price: Credits::from_micros(80).unwrap(),
            slots: 3,
        };
        let (classes, summary) = line(&Effect::Buy(record));
        assert_eq!(classes, [SMALL, LARGE]);
        assert_eq!(summary.class, "small + large");
        // Height 10 lies in the slot of 9 to 16: six heights of eight are left.
        assert_eq!((summary.slot, summary.paid.micros()), (1, 60 + 3 * 80));
        assert_eq!(summary.price.unwrap().micros(), 40 * 1_800);
    }
}
