//! Reservations against the rules restated plainly, against looking at every allocation, and as a whole.

use crate::reservation_naive::{Market, by_paths, clear as naive};
use crate::support::Dice;
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::reservation::hint::{self, Refusal};
use gridbay_protocol::mechanism::reservation::{
    Bid, Channels, Input, Orders, Outcome, Placement, Policy, Reservation, Want, clear, rounds,
};

/// The size of a market to draw.
#[derive(Clone, Copy)]
struct Scale {
    nodes: u64,
    slots: u64,
    bids: u64,
    classes: u64,
}

const SMALL: Scale = Scale {
    nodes: 6,
    slots: 6,
    bids: 9,
    classes: 3,
};
/// Three words of nodes.
const WIDE: Scale = Scale {
    nodes: 140,
    slots: 24,
    bids: 14,
    classes: 5,
};

fn draw(dice: &mut Dice, scale: Scale) -> Market {
    let nodes = dice.within(scale.nodes / 2, scale.nodes);
    let slots = dice.within(scale.slots / 2, scale.slots);
    let busy = (0..dice.below(nodes * slots / 4 + 1))
        .map(|_| (dice.below(nodes + 1), dice.below(slots + 1) as u32));
    let busy = busy.collect();
    let busy_channels = (0..dice.below(3))
        .map(|_| (dice.below(3) as u32, dice.below(slots) as u32))
        .collect();
    let mut bids: Vec<Bid<u64, u64>> = (0..dice.within(scale.bids / 4, scale.bids))
        .map(|id| bid(dice, id, nodes, slots, scale.classes))
        .collect();
    dice.shuffle(&mut bids);
    let mut ids: Vec<u64> = (0..nodes).collect();
    dice.shuffle(&mut ids);
    Input {
        policy: Policy {
            fronts: [0, 1, 3, 10][dice.below(4) as usize],
            orders: [Orders::Density, Orders::Three][dice.below(2) as usize],
        },
        reserve: u64::from(dice.chance(20)),
        slots: slots as u32,
        starts: dice.within(slots / 2, slots + 1) as u32,
        nodes: ids,
        busy,
        busy_channels,
        bids,
    }
}

fn bid(dice: &mut Dice, id: u64, nodes: u64, slots: u64, classes: u64) -> Bid<u64, u64> {
    let density = dice.within(50, 100);
    let classes: Vec<Want<u64>> = (0..dice.within(1, classes))
        .map(|_| {
            let mut list: Vec<u64> = (0..nodes + 2).filter(|_| dice.chance(density)).collect();
            dice.shuffle(&mut list);
            let most = (nodes / 3).max(2);
            let quantity = if dice.chance(4) {
                0
            } else {
                dice.within(1, most) as u32
            };
            Want {
                quantity,
                nodes: list,
            }
        })
        .collect();
    let bound = [5, 60, 1 << 40][dice.below(3) as usize];
    let earliest = dice.within(0, slots / 2 + 1) as i64 - 1;
    let length = dice.within(1, slots / 2 + 1) as u32;
    let low = dice.below(3) as u32;
    let high = low + dice.below(2) as u32;
    Bid {
        id,
        time: dice.below(3),
        value: dice.below(bound),
        earliest,
        latest: earliest + dice.below(slots + 1) as i64 - i64::from(dice.chance(5)),
        slots: length * u32::from(dice.chance(96)),
        classes,
        channels: dice.chance(15).then_some(Channels { low, high }),
    }
}

/// Every way to choose nodes, in lexicographic order class by class; the first that suffices.
fn every_way(wants: &[(usize, Vec<u64>)]) -> Option<Vec<Vec<u64>>> {
    let Some(((quantity, nodes), rest)) = wants.split_first() else {
        return Some(Vec::new());
    };
    combinations(nodes, *quantity)
        .into_iter()
        .find_map(|chosen| {
            let left: Vec<(usize, Vec<u64>)> = rest
                .iter()
                .map(|(q, list)| {
                    let free = list.iter().filter(|&node| !chosen.contains(node));
                    (*q, free.copied().collect())
                })
                .collect();
            let mut all = every_way(&left)?;
            all.insert(0, chosen);
            Some(all)
        })
}

/// All subsets of that size, in lexicographic order.
fn combinations(nodes: &[u64], size: usize) -> Vec<Vec<u64>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in nodes.iter().enumerate() {
        for mut rest in combinations(&nodes[index + 1..], size - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

#[test]
fn small_markets_equal_brute_force() {
    let mut dice = Dice(41);
    let (mut won, mut later) = (0, 0);
    for round in 0..3_000 {
        let market = draw(&mut dice, SMALL);
        let outcome = clear(&market).unwrap();
        assert_eq!(outcome, naive(&market, every_way), "{round}: {market:?}");
        won += outcome.awards.len();
        later += u32::from(outcome.attempt > Some(0));
    }
    // The markets are not trivial.
    assert!(won > 3_000 && later > 100, "{won} {later}");
}

#[test]
fn wide_markets_equal_augmenting_paths() {
    let mut dice = Dice(42);
    for round in 0..25 {
        let mut market = draw(&mut dice, WIDE);
        market.policy.fronts = market.policy.fronts.min(3);
        let outcome = clear(&market).unwrap();
        assert_eq!(outcome, naive(&market, by_paths), "{round}");
    }
}

#[test]
fn every_outcome_is_feasible_and_no_winner_pays_more_than_his_bid() {
    let mut dice = Dice(43);
    for _ in 0..1_000 {
        let scale = if dice.chance(95) { SMALL } else { WIDE };
        let market = draw(&mut dice, scale);
        let outcome = clear(&market).unwrap();
        assert_eq!(Reservation::<u64, u64>::audit(&market, &outcome), Ok(()));
        for award in &outcome.awards {
            let id = award.placement.id;
            let bid = market.bids.iter().find(|bid| bid.id == id).unwrap();
            assert_eq!(award.pay, bid.value);
            assert!(u128::from(award.pay) >= bid.node_slots() * u128::from(market.reserve));
        }
    }
}

#[test]
fn the_order_of_the_input_does_not_matter() {
    let mut dice = Dice(44);
    for _ in 0..1_000 {
        let market = draw(&mut dice, SMALL);
        let mut shuffled = market.clone();
        dice.shuffle(&mut shuffled.bids);
        dice.shuffle(&mut shuffled.nodes);
        dice.shuffle(&mut shuffled.busy);
        for class in shuffled.bids.iter_mut().flat_map(|bid| &mut bid.classes) {
            dice.shuffle(&mut class.nodes);
        }
        assert_eq!(clear(&market), clear(&shuffled));
    }
}

#[test]
fn more_attempts_are_never_worth_less() {
    let mut dice = Dice(45);
    let (mut fronts, mut orders) = (0, 0);
    for _ in 0..1_000 {
        let mut market = draw(&mut dice, SMALL);
        let mut total = |fronts, orders| {
            market.policy = Policy { fronts, orders };
            clear(&market).unwrap().total
        };
        let (one, three) = (total(1, Orders::Density), total(1, Orders::Three));
        let (ten, thirty) = (total(10, Orders::Density), total(10, Orders::Three));
        assert!(one <= ten && ten <= thirty && one <= three && three <= thirty);
        fronts += u32::from(one < ten);
        orders += u32::from(one < three);
    }
    assert!(fronts > 50 && orders > 20, "{fronts} {orders}");
}

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

#[test]
fn hints_are_refused_with_the_reason() {
    let (market, outcome, good) = missed();
    assert_eq!(outcome.total, 10);
    assert_eq!(hint::take(&market, &outcome, &good).unwrap().total, 27);
    type Change = fn(&mut Market, &mut Vec<Placement<u64, u64>>);
    let cases: &[(Change, Refusal<u64, u64>)] = &[
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
    ];
    for (change, refusal) in cases {
        let (mut market, mut hint) = (market.clone(), good.clone());
        change(&mut market, &mut hint);
        assert_eq!(hint::take(&market, &outcome, &hint).as_ref(), Err(refusal));
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

#[test]
fn rounds_keep_what_was_won_and_shift_the_rest() {
    let mut dice = Dice(47);
    let mut won = 0;
    for _ in 0..400 {
        let market = draw(&mut dice, SMALL);
        let outcomes = rounds::run(&market, 5).unwrap();
        // The whole run as one allocation of absolute slots: feasible, each bid once, in its time.
        let mut placements = Vec::new();
        for (round, outcome) in (0u32..).zip(&outcomes) {
            for award in &outcome.awards {
                let id = award.placement.id;
                let bid = market.bids.iter().find(|bid| bid.id == id).unwrap();
                let start = award.placement.start;
                assert!(bid.time <= u64::from(round) && start >= round);
                assert!(start < round + market.starts && start + bid.slots <= round + market.slots);
                placements.push(award.placement.clone());
            }
        }
        placements.sort_by_key(|placement| placement.id);
        let horizon = Input {
            slots: market.slots + 5,
            starts: market.starts + 5,
            ..market.clone()
        };
        assert!(
            hint::feasible(&horizon, placements.iter()).is_ok(),
            "{market:?}"
        );
        won += placements.len();
    }
    assert!(won > 300, "{won}");
}
