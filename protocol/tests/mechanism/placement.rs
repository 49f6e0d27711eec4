//! Placement on random floors: total, each unit once, order-independent, holders stay.

use std::collections::BTreeMap;

use crate::support::Dice;
use gridbay_protocol::mechanism::placement::{Placed, Site, Winner, place};

fn rank(dice: &mut Dice) -> [u8; 32] {
    [dice.below(4) as u8; 32]
}

fn floor(dice: &mut Dice) -> (Vec<Site<u64>>, Vec<Winner<u64, u64>>) {
    let sites: Vec<Site<u64>> = (0..dice.within(1, 6))
        .map(|offer| Site {
            offer,
            rank: rank(dice),
            units: dice.below(9) as u32,
        })
        .collect();
    let mut left = sites.iter().map(|site| site.units).sum::<u32>();
    let mut winners = Vec::new();
    for id in 0..dice.within(1, 7) {
        let units = dice.below(u64::from(left) + 1) as u32;
        left -= units;
        let held = (0..dice.below(3))
            .map(|_| (dice.below(8), dice.within(1, 4) as u32))
            .collect();
        winners.push(Winner {
            id,
            rank: rank(dice),
            units,
            held,
        });
    }
    (sites, winners)
}

fn assert_sound(sites: &[Site<u64>], winners: &[Winner<u64, u64>], placed: &[Placed<u64, u64>]) {
    let mut used: BTreeMap<u64, u32> = BTreeMap::new();
    assert_eq!(winners.len(), placed.len());
    for (winner, placed) in winners.iter().zip(placed) {
        assert_eq!(
            (winner.id, winner.units),
            (placed.id, placed.units.values().sum())
        );
        for (&offer, &units) in &placed.units {
            assert!(units > 0);
            *used.entry(offer).or_default() += units;
        }
        let stays = |offer| placed.units.get(offer).copied().unwrap_or(0);
        let kept: u32 = winner
            .held
            .iter()
            .map(|(offer, &held)| held.min(stays(offer)))
            .sum();
        let held: u32 = winner.held.values().sum();
        assert_eq!(placed.leaves.values().sum::<u32>(), held - kept);
        assert_eq!(placed.moves, held.min(winner.units) - kept);
    }
    for site in sites {
        assert!(used.remove(&site.offer).unwrap_or(0) <= site.units);
    }
    assert!(used.is_empty(), "a unit of an offer that sold nothing");
}

#[test]
fn every_winner_is_placed_and_every_unit_used_once() {
    let mut dice = Dice(31);
    for _ in 0..3_000 {
        let (mut sites, mut winners) = floor(&mut dice);
        let placed = place(&sites, &winners).unwrap();
        assert_sound(&sites, &winners, &placed);
        dice.shuffle(&mut sites);
        dice.shuffle(&mut winners);
        assert_eq!(place(&sites, &winners).unwrap(), placed);
    }
}

#[test]
fn a_placement_that_still_fits_stays() {
    let mut dice = Dice(32);
    for _ in 0..1_000 {
        let (sites, mut winners) = floor(&mut dice);
        let before = place(&sites, &winners).unwrap();
        for (winner, placed) in winners.iter_mut().zip(&before) {
            winner.held = placed.units.clone();
            winner.rank = rank(&mut dice);
        }
        let after = place(&sites, &winners).unwrap();
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.units, after.units);
            assert_eq!((after.moves, after.leaves.len()), (0, 0));
        }
    }
}
