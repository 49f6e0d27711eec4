//! Two hires of one node each, for a part of a slot and a whole one.

use super::HIRES;
use crate::demo::evidence::{Evidence, Record};
use crate::demo::sample::{done, id, micros, movement};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId};
use gridbay_protocol::lease::{LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::posted::{PostedBid, PostedRecord};
use gridbay_protocol::units::Price;

/// The orders, and the price of a node a slot.
const ORDERS: [u8; 2] = [30, 31];
const PRICE: u64 = 20;
/// The price of the rest of the running slot.
const REST: u64 = 5;

pub(crate) fn add(evidence: &mut Evidence) {
    for (name, n) in HIRES.into_iter().zip(ORDERS) {
        let mut order = done(name, n);
        order.record.paid = micros(REST + PRICE);
        evidence.orders.push(order);
        let lock = 5 * PRICE as i64;
        movement(&mut evidence.accounts[1], n, Reason::Lock, -lock, "escrow");
        let back = lock - (REST + PRICE) as i64;
        movement(
            &mut evidence.accounts[1],
            n,
            Reason::Release,
            back,
            "escrow",
        );
        let paid = (REST + PRICE) as i64;
        movement(
            &mut evidence.accounts[0],
            n,
            Reason::Earning,
            paid,
            "class small",
        );
    }
    let effects = [Effect::Posted(record())]
        .into_iter()
        .chain(ORDERS.map(|n| Effect::Lease(LeaseEvent::Started(lease(n, REST)))))
        .chain(ORDERS.map(|n| Effect::Lease(LeaseEvent::Renewed(lease(n, PRICE)))));
    let records = effects.map(|effect| Record { height: 9, effect });
    evidence.records.extend(records);
}

fn record() -> PostedRecord {
    let bid = |n| PostedBid {
        order: id(n),
        units: 1,
        limit: Price(PRICE),
    };
    let offer = ClearingOffer {
        offer: OfferId([5; 32]),
        units: 2,
        reserve: Price(PRICE),
    };
    let bids = ORDERS.map(bid).to_vec();
    PostedRecord::decide(ClassId([1; 32]), 9, vec![offer], bids).0
}

fn lease(n: u8, paid: u64) -> LeaseTerms {
    LeaseTerms {
        lease: LeaseId([n; 32]),
        order: id(n),
        account: AccountId([2; 32]),
        class: ClassId([1; 32]),
        slot: 2,
        shares: vec![Share {
            offer: OfferId([5; 32]),
            units: 1,
        }],
        paid: micros(paid),
        firm_through: Some(4),
    }
}
