//! A seller reads the bids that were opened and raises its reserve to just below them before the
//! round closes: offers are frozen, and a holder of units gets notice of a slot.

use crate::trade::{bid, clearings, two_units};

#[test]
fn a_raised_reserve_comes_too_late_for_the_bids_it_saw() {
    let mut world = two_units();
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 9))]);
    // The bid is open; the round closes at 16, and the seller wants 49 instead of 10.
    let dear = world.offer(1, 1, 2, 49, Some(60));
    world.all(vec![dear]);
    let mut paid = vec![];
    for boundary in [16, 24, 32] {
        let effects = world.until(boundary);
        let record = &clearings(&effects)[0];
        paid.push(record.awards[0].pay.micros());
        if boundary == 16 {
            let lease = world.lease_of(&orders[0]);
            world.deliver(1, lease);
        }
    }
    assert_eq!(
        paid,
        [20, 98, 98],
        "the first slot at the old reserve, then after notice"
    );
}
