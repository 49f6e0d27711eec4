//! A clearing in short.

use crate::api::types::count;
use crate::auction::figures::{Figures, hourly};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Credits;

pub(super) fn figures(record: &ClearingRecord, policy: &Policy) -> Figures {
    let sold: u32 = record.awards.iter().map(|a| a.units).sum();
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay)).unwrap_or(Credits::MAX);
    Figures {
        slot: record.slot,
        units: record.offers.iter().map(|o| o.units).sum(),
        bids: count(record.bids.len()),
        winners: count(record.awards.len()),
        sold,
        paid,
        price: hourly(paid, sold, record.heights, policy),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, line, offer};
    use gridbay_protocol::effect::Effect;
    use gridbay_protocol::ids::{ClassId, OfferId, OrderId};
    use gridbay_protocol::policy::ausubel::AuctionPolicy;
    use gridbay_protocol::record::ausubel::{Award, ClearingKind, Sold, clearing_id};

    /// The record of a whole slot in which nothing was offered.
    pub(crate) fn empty(class: ClassId, height: u64) -> ClearingRecord {
        ClearingRecord {
            id: clearing_id(&class, height),
            class,
            kind: ClearingKind::Boundary,
            height,
            slot: 1,
            heights: 8,
            policy: AuctionPolicy::default(),
            held: vec![],
            offers: vec![],
            bids: vec![],
            awards: vec![],
            sold: vec![],
        }
    }

    pub(crate) fn clearing(class: ClassId, height: u64, pay: u64) -> Effect {
        let order = OrderId([9; 32]);
        let pay = Credits::from_micros(pay).unwrap();
        let won = pay > Credits::ZERO;
        Effect::Clearing(ClearingRecord {
            offers: vec![offer(6)],
            awards: if won {
                vec![Award {
                    order,
                    units: 4,
                    pay,
                }]
            } else {
                vec![]
            },
            sold: vec![Sold {
                offer: OfferId([3; 32]),
                units: 4,
                earns: pay,
            }],
            ..empty(class, height)
        })
    }

    #[test]
    fn a_clearing_in_short() {
        // 4 units for 2 s at 10 credits an hour.
        let (_, summary) = line(&clearing(SMALL, 8, 22_222));
        assert_eq!((summary.units, summary.sold, summary.winners), (6, 4, 1));
        assert_eq!(summary.price.unwrap().to_string(), "9.9999");
        assert_eq!(summary.class, "small");
    }
}
