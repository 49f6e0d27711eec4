//! A seller's friend bids to raise the price. Sealed bids show nothing to bid against before their
//! round's commitments have closed: the friend comes a round late, or bids blindly and may win.

use crate::trade::{bid, clearings, two_units};
use gridbay_ledger::Refusal;

#[test]
fn a_shill_that_has_seen_the_bids_is_a_round_late() {
    let mut world = two_units();
    let honest = bid(&world, &[(2, 50)], 9);
    world.bids(&[(2, honest)]);
    // Height 13, round 3: the honest bid of 50 is open, the clearing is at 16. The friend seals 49
    // now.
    let shill = bid(&world, &[(2, 49)], 9);
    let commit = world.commit(4, &shill, 1);
    world.all(vec![commit.clone()]);
    let open = world.open(4, &commit, &shill);
    let refusal = world.refused(open);
    assert!(
        matches!(refusal, Refusal::OpeningTime { early: true, .. }),
        "{refusal}"
    );
    let effects = world.until(16);
    assert_eq!(
        clearings(&effects)[0].awards[0].pay.micros(),
        20,
        "the reserve"
    );
}

#[test]
fn a_blind_shill_that_bids_too_high_buys_its_own_units() {
    let mut world = two_units();
    let orders = world.bids(&[
        (2, bid(&world, &[(2, 50)], 9)),
        (4, bid(&world, &[(2, 60)], 9)),
    ]);
    let effects = world.until(16);
    let awards = &clearings(&effects)[0].awards;
    // It pays 100 for units that would have brought 20: only what it takes from its friend comes
    // back to it.
    assert_eq!((awards[0].order, awards[0].pay.micros()), (orders[1], 100));
}
