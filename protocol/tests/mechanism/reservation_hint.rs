//! Hints: the optimum, found by looking at every allocation, and every reason to refuse.

use crate::reservation_markets::{Scale, combinations, draw};
use crate::reservation_naive::Market;
use crate::support::Dice;
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::reservation::hint::{self, Refusal};
use gridbay_protocol::mechanism::reservation::{
    Bid, Channels, Input, Orders, Outcome, Placement, Policy, Reservation, Want, clear,
};

/// The most valuable allocation: every bid at every start with every choice of nodes and channel.
fn optimum(
    market: &Market,
    bids: &[Bid<u64, u64>],
    placed: &mut Vec<Placement<u64, u64>>,
) -> (u128, Vec<Placement<u64, u64>>) {
    let Some((bid, rest)) = bids.split_first() else {
        return (0, placed.clone());
    };
    let mut best = optimum(market, rest, placed);
    for start in 0..market.starts {
        for nodes in choices(&bid.classes, &[]) {
            let channels = bid
                .channels
                .map_or(vec![None], |c| (c.low..=c.high).map(Some).collect());
            for channel in channels {
                placed.push(Placement {
                    id: bid.id,
                    start,
                    nodes: nodes.clone(),
                    channel,
                });
                if hint::feasible(market, placed.iter()).is_ok() {
                    let (value, all) = optimum(market, rest, placed);
                    if value + u128::from(bid.value) > best.0 {
                        best = (value + u128::from(bid.value), all);
                    }
                }
                placed.pop();
            }
        }
    }
    best
}

fn choices(classes: &[Want<u64>], taken: &[u64]) -> Vec<Vec<Vec<u64>>> {
    let Some((class, rest)) = classes.split_first() else {
        return vec![Vec::new()];
    };
    let mut nodes: Vec<u64> = class
        .nodes
        .iter()
        .copied()
        .filter(|n| !taken.contains(n))
        .collect();
    nodes.sort_unstable();
    let mut all = Vec::new();
    for chosen in combinations(&nodes, class.quantity as usize) {
        for mut others in choices(rest, &[taken, &chosen].concat()) {
            others.insert(0, chosen.clone());
            all.push(others);
        }
    }
    all
}

#[test]
fn the_optimum_is_taken_as_a_hint_exactly_if_the_rule_missed_it() {
    let mut dice = Dice(46);
    let scale = Scale {
        nodes: 3,
        slots: 3,
        bids: 4,
        classes: 2,
    };
    let (mut missed, mut found) = (0, 0);
    for round in 0..300 {
        let mut market = draw(&mut dice, scale);
        market.policy = Policy {
            fronts: 1,
            orders: Orders::Density,
        };
        market.bids.sort_by_key(|bid| bid.id);
        let outcome = clear(&market).unwrap();
        let (value, placements) = optimum(&market, &market.bids, &mut Vec::new());
        assert!(value >= outcome.total, "{round}: {market:?}");
        let answer = hint::take(&market, &outcome, &placements);
        if value > outcome.total {
            missed += 1;
            let taken = answer.unwrap();
            assert_eq!((taken.attempt, taken.total), (None, value));
            assert_eq!(Reservation::<u64, u64>::audit(&market, &taken), Ok(()));
        } else {
            found += 1;
            let refusal = Refusal::NotBetter {
                offered: value,
                found: value,
            };
            assert_eq!(answer, Err(refusal));
        }
    }
    assert!(missed > 5 && found > 100, "{missed} {found}");
}

/// Two bids of which the greedy takes the dense one, and the hint that it missed.
fn missed() -> (Market, Outcome<u64, u64>, Vec<Placement<u64, u64>>) {
    let bid = |id, value, quantity| Bid {
        id,
        time: 0,
        value,
        earliest: 0,
        latest: 0,
        slots: 2,
        classes: vec![Want {
            quantity,
            nodes: vec![0, 1, 2, 3],
        }],
        channels: Some(Channels { low: 3, high: 4 }),
    };
    let market = Input {
        policy: Policy {
            fronts: 1,
            orders: Orders::Density,
        },
        reserve: 0,
        slots: 4,
        starts: 2,
        nodes: vec![0, 1, 2, 9],
        busy: vec![],
        busy_channels: vec![(4, 1)],
        bids: vec![bid(1, 10, 1), bid(2, 27, 3)],
    };
    let outcome = clear(&market).unwrap();
    let hint = vec![Placement {
        id: 2,
        start: 0,
        nodes: vec![vec![0, 1, 2]],
        channel: Some(3),
    }];
    (market, outcome, hint)
}

type Change = fn(&mut Market, &mut Vec<Placement<u64, u64>>);

/// The flaws that the hint of [`missed`] can have, and the words for each.
fn reasons() -> Vec<(Change, Refusal<u64, u64>)> {
    vec![
        (|_, h| h.push(h[0].clone()), Refusal::OutOfOrder(2)),
        (|_, h| h[0].id = 7, Refusal::NoSuchBid(7)),
        (|m, _| m.reserve = 5, Refusal::DoesNotCount(2)),
        (|_, h| h[0].start = 1, Refusal::Start(2)),
        (|_, h| h[0].start = u32::MAX, Refusal::Start(2)),
        (|m, _| m.slots = 1, Refusal::Start(2)),
        (|m, _| m.starts = 0, Refusal::Start(2)),
        (|_, h| h[0].nodes[0].truncate(2), Refusal::Quantity(2)),
        (|_, h| h[0].nodes.push(vec![]), Refusal::Quantity(2)),
        (
            |_, h| h[0].nodes[0] = vec![0, 2, 1],
            Refusal::NodesOutOfOrder(2),
        ),
        (
            |_, h| h[0].nodes[0] = vec![0, 1, 1],
            Refusal::NodesOutOfOrder(2),
        ),
        (
            |_, h| h[0].nodes[0] = vec![0, 1, 3],
            Refusal::WrongNode(2, 3),
        ),
        (
            |_, h| h[0].nodes[0] = vec![0, 1, 9],
            Refusal::WrongNode(2, 9),
        ),
        (|m, _| m.busy.push((1, 1)), Refusal::NodeTaken(2, 1)),
        (|_, h| h[0].channel = None, Refusal::Channel(2)),
        (|_, h| h[0].channel = Some(5), Refusal::Channel(2)),
        (|m, _| m.bids[1].channels = None, Refusal::Channel(2)),
        (|_, h| h[0].channel = Some(4), Refusal::ChannelTaken(2, 4)),
        (
            |_, h| h.clear(),
            Refusal::NotBetter {
                offered: 0,
                found: 10,
            },
        ),
        (
            |m, _| m.bids[1].value = 10,
            Refusal::NotBetter {
                offered: 10,
                found: 10,
            },
        ),
    ]
}

#[test]
fn hints_are_refused_with_the_reason() {
    let (market, outcome, good) = missed();
    assert_eq!(outcome.total, 10);
    assert_eq!(hint::take(&market, &outcome, &good).unwrap().total, 27);
    for (change, refusal) in reasons() {
        let (mut market, mut hint) = (market.clone(), good.clone());
        change(&mut market, &mut hint);
        assert_eq!(hint::take(&market, &outcome, &hint), Err(refusal));
    }
    // A node of one placement in another one.
    let mut both = good.clone();
    let first = Placement {
        id: 1,
        start: 0,
        nodes: vec![vec![0]],
        channel: Some(3),
    };
    both.insert(0, first);
    assert_eq!(
        hint::take(&market, &outcome, &both),
        Err(Refusal::NodeTaken(2, 0))
    );
}
