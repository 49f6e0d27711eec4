//! Two nodes reserved ahead: one has them at once, one afterwards, one not at all.

use super::{AHEAD, MOVED, RIVAL};
use crate::demo::evidence::{Evidence, Record};
use crate::demo::sample::{done, id, micros, movement, vain};
use gridbay_node::api::types::{JobReason, JobState};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId};
use gridbay_protocol::lease::{LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::order::Group;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::reservation::{
    Booked, BusyChannel, BusyUnit, ReservationBid, ReservationRecord,
};
use gridbay_protocol::units::Price;

const NODES: Share = Share {
    offer: OfferId([1; 32]),
    units: 2,
};

pub(crate) fn add(evidence: &mut Evidence) {
    let won = [(AHEAD, 11, 120, 12), (MOVED, 12, 80, 14)];
    for (name, n, pay, start) in won {
        let mut order = done(name, n);
        order.record.paid = micros(pay);
        evidence.orders.push(order);
        let leased = [
            LeaseEvent::Started(lease(n, start)),
            LeaseEvent::Renewed(lease(n, start + 1)),
        ];
        for (height, event) in (start * 8..).step_by(8).zip(leased) {
            let effect = Effect::Lease(event);
            evidence.records.push(Record { height, effect });
        }
        let pay = pay as i64;
        movement(
            &mut evidence.accounts[1],
            n,
            Reason::Lock,
            -2 * pay,
            "escrow",
        );
        movement(&mut evidence.accounts[1], n, Reason::Release, pay, "escrow");
        movement(
            &mut evidence.accounts[0],
            n,
            Reason::Earning,
            pay,
            "class small",
        );
    }
    let mut rival = vain(13);
    rival.wish.name = RIVAL;
    rival.record.paid = micros(0);
    rival.record.state = JobState::Expired;
    rival.seen = vec![(JobState::Bidding, Some(JobReason::Outbid))];
    evidence.orders.push(rival);
    movement(&mut evidence.accounts[1], 13, Reason::Lock, -40, "escrow");
    movement(&mut evidence.accounts[1], 13, Reason::Release, 40, "escrow");
    evidence.records.insert(
        0,
        Record {
            height: 80,
            effect: Effect::Reservation(decision()),
        },
    );
}

fn lease(n: u8, slot: u64) -> LeaseTerms {
    LeaseTerms {
        lease: LeaseId([n; 32]),
        order: id(n),
        account: AccountId([2; 32]),
        class: ClassId([1; 32]),
        slot,
        shares: vec![NODES],
        paid: micros(1),
        firm_through: Some(slot + 1),
    }
}

fn decision() -> ReservationRecord {
    let bid = |n: u8, value, latest, channels| ReservationBid {
        order: id(n),
        round: 1,
        rank: Hash32([n; 32]),
        groups: vec![Group {
            units: 2,
            offers: vec![],
        }],
        slots: 2,
        earliest: 12,
        latest,
        value: micros(value),
        channels,
    };
    let booked = |n: u8, start, pay, channel| Booked {
        order: id(n),
        start,
        shares: vec![NODES],
        channel,
        pay: micros(pay),
    };
    ReservationRecord {
        class: ClassId([1; 32]),
        height: 80,
        slot: 10,
        posted: Price(5),
        units: vec![NODES],
        busy: vec![BusyUnit {
            offer: NODES.offer,
            unit: 0,
            first: 10,
            last: 11,
        }],
        channels: vec![BusyChannel {
            channel: 1,
            first: 13,
            last: 13,
        }],
        beaten: None,
        bids: vec![
            bid(11, 120, 12, Some(Channels { low: 1, high: 4 })),
            bid(12, 80, 18, None),
            bid(13, 40, 12, None),
        ],
        booked: vec![booked(11, 12, 120, Some(2)), booked(12, 14, 80, None)],
    }
}
