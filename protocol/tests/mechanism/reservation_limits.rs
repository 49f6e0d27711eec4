//! Reservations at their limits, and what is refused beyond them.

use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::reservation::{
    BIDS, Bid, CHANNELS, CLASSES, Channels, Error, Input, NODES, Orders, Policy, Reservation,
    SLOT_RANGE, SLOTS, Want, clear, rounds,
};

type Market = Input<u64, u64>;

fn market(bids: Vec<Bid<u64, u64>>) -> Market {
    Input {
        policy: Policy::default(),
        reserve: 0,
        slots: 4,
        starts: 4,
        nodes: (0..4).collect(),
        busy: vec![],
        busy_channels: vec![],
        bids,
    }
}

fn bid(id: u64) -> Bid<u64, u64> {
    Bid {
        id,
        time: 0,
        value: 5,
        earliest: 0,
        latest: 3,
        slots: 1,
        classes: vec![want(1, 4)],
        channels: None,
    }
}

fn want(quantity: u32, nodes: u64) -> Want<u64> {
    Want {
        quantity,
        nodes: (0..nodes).collect(),
    }
}

type Change = fn(&mut Market);

/// The flaws that a market of the bids 5 and 2 can have, and the words for each.
fn errors() -> Vec<(Change, Error<u64, u64>)> {
    vec![
        (
            |m| m.nodes = (0..=NODES as u64).collect(),
            Error::TooManyNodes(NODES + 1),
        ),
        (|m| m.nodes.push(3), Error::DuplicateNode(3)),
        (|m| m.slots = SLOTS + 1, Error::TooManySlots(SLOTS + 1)),
        (
            |m| m.busy = vec![(0, 0); NODES * SLOTS as usize + 1],
            Error::TooManyBusy(NODES * SLOTS as usize + 1),
        ),
        (
            |m| m.bids = (0..=BIDS as u64).map(bid).collect(),
            Error::TooManyBids(BIDS + 1),
        ),
        (
            |m| m.bids.extend([bid(9), bid(1), bid(9)]),
            Error::DuplicateId(9),
        ),
        (
            |m| m.bids[1].classes = vec![want(1, 1); CLASSES + 1],
            Error::TooManyClasses(2),
        ),
        (
            |m| m.bids[1].classes = vec![want(u32::MAX, 4); 3],
            Error::TooLarge(2),
        ),
        (
            |m| m.bids[1].classes = vec![want(1, NODES as u64 + 1)],
            Error::TooLarge(2),
        ),
        (|m| m.bids[1].slots = SLOTS + 1, Error::TooLong(2)),
        (|m| m.bids[1].slots = u32::MAX, Error::TooLong(2)),
        (|m| m.bids[1].latest = i64::MAX, Error::WindowRange(2)),
        (
            |m| m.bids[1].earliest = -SLOT_RANGE - 1,
            Error::WindowRange(2),
        ),
        (
            |m| {
                m.bids[1].channels = Some(Channels {
                    low: 1,
                    high: CHANNELS + 1,
                });
            },
            Error::TooManyChannels(2),
        ),
        (
            |m| m.bids[1].classes = vec![want(1, 4); 7],
            Error::TooEntangled(2),
        ),
        // Of two guilty bids the smaller id is named, wherever it stands.
        (
            |m| {
                m.bids[0].slots = u32::MAX;
                m.bids[1].latest = i64::MIN;
            },
            Error::WindowRange(2),
        ),
    ]
}

#[test]
fn hostile_input_is_refused_with_the_reason() {
    for (change, error) in errors() {
        let mut market = market(vec![bid(5), bid(2)]);
        change(&mut market);
        assert_eq!(clear(&market), Err(error.clone()));
        assert_eq!(rounds::run(&market, 0), Err(error));
    }
    let rounds = rounds::run(&market(vec![]), rounds::ROUNDS + 1);
    assert_eq!(rounds, Err(Error::TooManyRounds(rounds::ROUNDS + 1)));
}

#[test]
fn bids_for_nothing_are_passed_over() {
    type Change = fn(&mut Bid<u64, u64>);
    let changes: &[Change] = &[
        |b| b.slots = 0,
        |b| b.classes.clear(),
        |b| b.classes.push(want(0, 4)),
        |b| b.latest = b.earliest - 1,
        |b| b.value = 1,
    ];
    for change in changes {
        let mut passed = bid(1);
        change(&mut passed);
        let mut market = market(vec![passed, bid(2)]);
        market.reserve = 2;
        let outcome = clear(&market).unwrap();
        let winners: Vec<u64> = outcome.awards.iter().map(|a| a.placement.id).collect();
        assert_eq!((winners, outcome.attempt), (vec![2], Some(0)));
    }
}

#[test]
fn a_reserve_beyond_every_value_does_not_overflow() {
    let mut market = market(vec![Bid {
        value: u64::MAX,
        slots: 4,
        classes: vec![want(4, 4)],
        ..bid(1)
    }]);
    market.reserve = u64::MAX;
    assert!(clear(&market).unwrap().awards.is_empty());
    market.reserve = u64::MAX / 16;
    assert_eq!(clear(&market).unwrap().total, u64::MAX.into());
}

#[test]
fn the_largest_market_clears() {
    let full = |id: u64| Bid {
        value: u64::MAX - id,
        earliest: -SLOT_RANGE,
        latest: SLOT_RANGE,
        slots: SLOTS / 16,
        classes: (0..CLASSES as u64)
            .map(|class| Want {
                quantity: 1 + (id % 64) as u32,
                nodes: (class * 64..(class + 1) * 64).collect(),
            })
            .collect(),
        ..bid(id)
    };
    let mut market = market((0..BIDS as u64).map(full).collect());
    market.policy = Policy {
        fronts: 2,
        orders: Orders::Three,
    };
    market.nodes = (0..NODES as u64).rev().collect();
    (market.slots, market.starts) = (SLOTS, u32::MAX);
    let outcome = clear(&market).unwrap();
    assert_eq!(Reservation::<u64, u64>::audit(&market, &outcome), Ok(()));
    // Sixteen rows of whole nodes at least.
    assert!(outcome.awards.len() >= 16 && outcome.total > 15 * u128::from(u64::MAX));
}
