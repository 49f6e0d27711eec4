//! Two friends let one another be preempted for the compensation: the one pays it to the other, and
//! the seller's earnings never fall.

use crate::trade::{START, bid, money, two_units};
use gridbay_protocol::payment::Reason;

/// The payments of members 2 and 3 together, and the earnings of seller 1, when slots 2 to 6 are
/// settled. Member 2 bids for both units all the time; if `pump`, member 3 buys one of them away
/// from it for a slot at heights 26, 42.
fn friends(pump: bool) -> (i128, i128, u64) {
    let mut world = two_units();
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 9))]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let mut compensated = 0;
    for height in [25, 41] {
        world.until(height);
        if !pump {
            continue;
        }
        let buy = world.buy(3, 1, 1, 1_000);
        let id = crate::trade::order(&buy.id());
        let effects = world.all(vec![buy]);
        let all = money(&effects);
        let paid = all.iter().filter(|(why, _)| *why == Reason::Compensation);
        compensated += paid.map(|(_, amount)| amount).sum::<u64>();
        let lease = world.lease_of(&id);
        world.deliver(1, lease);
    }
    world.until(56);
    let paid = [2, 3].map(|n| START - world.account(n) - locked(&world, n));
    (paid.iter().sum(), world.account(1) - START, compensated)
}

fn locked(world: &crate::world::World, n: u8) -> i128 {
    let balance = world.state.balance(&world.member(n));
    i128::from(balance.escrow.micros()) + i128::from(balance.in_use.micros())
}

#[test]
fn a_pump_costs_its_owners_money() {
    let (plain, earned, nothing) = friends(false);
    // Five slots of both units at the reserve.
    assert_eq!((plain, earned, nothing), (100, 100, 0));
    let (pumped, earned, compensated) = friends(true);
    assert!(compensated > 0, "there is something to pump");
    assert_eq!(pumped, earned, "all of it goes to the seller");
    assert!(pumped > plain, "{pumped} for what costs {plain} otherwise");
}
