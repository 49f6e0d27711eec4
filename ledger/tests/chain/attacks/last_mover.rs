//! The last bidder to open has seen all other bids. It can choose between opening and not opening,
//! and pays for not opening.

use crate::trade::{START, bid, two_units};
use gridbay_ledger::Refusal;
use gridbay_protocol::payment::{Purse, Reason};

#[test]
fn nobody_opens_in_the_block_that_closes_the_round() {
    let mut world = two_units();
    let late = bid(&world, &[(1, 50)], 1);
    let commit = world.commit(2, &late, 0);
    world.all(vec![commit.clone()]);
    world.until(15);
    let refusal = world.refused(world.open(2, &commit, &late));
    assert!(
        matches!(refusal, Refusal::OpeningTime { early: false, .. }),
        "{refusal}"
    );
}

#[test]
fn a_choice_of_bids_costs_the_deposits_of_the_others() {
    let mut world = two_units();
    // Members 2 and 4 are one person: a high and a low bid for a unit, of which one is opened after
    // the others' bids.
    let (high, low) = (bid(&world, &[(1, 90)], 1), bid(&world, &[(1, 11)], 1));
    let commits = vec![world.commit(2, &high, 0), world.commit(4, &low, 0)];
    world.all(commits.clone());
    // A second sealed bid of the same account is refused.
    let again = bid(&world, &[(1, 33)], 1);
    let refusal = world.refused(world.commit(2, &again, 0));
    assert!(matches!(refusal, Refusal::SealedAlready(_)), "{refusal}");
    world.until(13);
    let open = world.open(4, &commits[1], &low);
    world.all(vec![open]);
    let mut forfeited = 0;
    while world.state.height() < 40 {
        let effects = world.block(vec![]);
        let lost = crate::trade::money(&effects);
        let lost = lost.iter().filter(|(why, _)| *why == Reason::Forfeit);
        forfeited += lost.map(|(_, amount)| amount).sum::<u64>();
    }
    // One unit for a slot at the reference price: as much as the unit costs here, for the choice
    // alone.
    assert_eq!((forfeited, START - world.account(2)), (10, 10));
    assert_eq!(world.balance(Purse::Bank), 10);
}
