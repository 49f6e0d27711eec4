//! Reservations against the rules restated plainly with every choice of nodes, and what holds for
//! all outcomes.

use crate::reservation_markets::{SMALL, WIDE, combinations, draw};
use crate::reservation_naive::{by_paths, clear as naive};
use crate::support::Dice;
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::reservation::{
    Input, Orders, Policy, Reservation, clear, hint, rounds,
};

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
