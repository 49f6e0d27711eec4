//! Buy-it-now: free units, preemption, and when it has to wait. Heights and balances as in
//! `market`.

use crate::trade::{START, bid, lease_ends, money, one_lease, order, order_ends, two_units};
use crate::world::World;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

#[test]
fn a_preempting_buy() {
    let (mut world, sealed) = one_lease();
    // At 24 member 2 pays 20 again; its lease has run one full slot.
    world.until(25);
    let buy = world.buy(3, 1, 1, 1_000);
    let id = order(&buy.id());
    // Height 26, 6 of 8 heights left. Of two units at 50 one is displaced, so the price is 50 and
    // the rest of the slot costs 37.5, rounded up. The unit lost cost 10; 6/8 of it, 7, come back,
    // and 3 are compensated.
    let effects = world.all(vec![buy]);
    assert_eq!(
        money(&effects),
        [
            (Reason::Lock, 2_000),
            (Reason::Refund, 7),
            (Reason::Compensation, 3),
            (Reason::Charge, 38)
        ]
    );
    let lease = world.lease_of(&id);
    assert_eq!(
        world.state.lease(&world.lease_of(&sealed)).unwrap().units(),
        1
    );
    assert_eq!(world.state.lease(&lease).unwrap().firm_through, Some(4));
    world.deliver(1, lease);
    // Boundary at 32: 13 are left of the 20, all for the seller, and the buy's 38. The buy pays 50
    // for its full slot. Member 2's escrow, 80 after the charge at 24, is filled up to 100; it
    // competes for the other unit and pays the reserve.
    let effects = world.until(32);
    let earned: u64 = money(&effects)
        .iter()
        .filter(|m| m.0 == Reason::Earning)
        .map(|m| m.1)
        .sum();
    assert_eq!(earned, 13 + 38);
    let rest: Vec<_> = money(&effects)
        .into_iter()
        .filter(|m| m.0 != Reason::Earning)
        .collect();
    assert_eq!(
        rest,
        [
            (Reason::Charge, 50),
            (Reason::Lock, 20),
            (Reason::Charge, 10)
        ]
    );
    // At 40 the firm lease ends: 2,000 - 38 - 3 - 50 come back.
    let effects = world.until(40);
    assert!(money(&effects).contains(&(Reason::Release, 1_909)));
    assert!(lease_ends(&effects).contains(&(id, LeaseEnd::Expired)));
    assert_eq!(world.account(3), START - 91);
    // 20 (slot 2) + 51 (slot 3) + 60 (slot 4).
    assert_eq!(world.account(1), START + 131);
}

#[test]
fn a_buy_of_free_units_pays_their_buy_prices() {
    let mut world = World::new();
    let offers = vec![
        world.offer(1, 1, 2, 10, Some(30)),
        world.offer(4, 1, 2, 5, Some(20)),
    ];
    world.all(offers);
    world.until(4);
    // Three units: two at 20, one at 30. Height 5, 3 of 8 heights left: ceil(70 * 3 / 8).
    let buy = world.buy(2, 3, 2, 70);
    let id = order(&buy.id());
    let effects = world.all(vec![buy]);
    assert_eq!(money(&effects), [(Reason::Lock, 210), (Reason::Charge, 27)]);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.deliver(4, lease);
    // Floors 7 each (20 * 3 / 8) and 11; 2 more than their sum of 25 lift the lower ones: level 8.
    let effects = world.until(8);
    let mut earned: Vec<_> = money(&effects)
        .into_iter()
        .filter(|m| m.0 == Reason::Earning)
        .collect();
    earned.sort();
    assert_eq!(earned, [(Reason::Earning, 11), (Reason::Earning, 16)]);
    world.until(24);
    assert_eq!(world.account(2), START - 27 - 140);
    assert!(world.state.order(&id).is_none());
    // Too dear by one, and more than there are.
    for (units, limit, end) in [(3, 69, OrderEnd::TooDear), (5, 1_000, OrderEnd::NoUnits)] {
        let buy = world.buy(3, units, 1, limit);
        let id = order(&buy.id());
        let effects = world.all(vec![buy]);
        assert_eq!(order_ends(&effects), [(id, end)]);
    }
    assert_eq!(world.account(3), START);
}

#[test]
fn a_buy_waits_while_bids_are_open() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    // Height 14: the opened bid must not be outrun. At 16 it wins both units and then loses one,
    // unused.
    let buy = world.buy(3, 1, 1, 100);
    let id = order(&buy.id());
    let effects = world.all(vec![buy]);
    assert_eq!(money(&effects), [(Reason::Lock, 200)]);
    let effects = world.until(16);
    assert_eq!(
        money(&effects),
        [
            (Reason::Charge, 20),
            (Reason::Refund, 10),
            (Reason::Charge, 50)
        ]
    );
    // At the boundary the whole next slot is the one that was asked for.
    assert_eq!(
        world
            .state
            .lease(&world.lease_of(&id))
            .unwrap()
            .firm_through,
        Some(2)
    );
    assert_eq!(
        world
            .state
            .lease(&world.lease_of(&orders[0]))
            .unwrap()
            .units(),
        1
    );
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    // One slot was bought and one is over. The lease of member 2 was never acknowledged.
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Expired)]);
    assert!(money(&effects).contains(&(Reason::Earning, 50)));
    assert!(money(&effects).contains(&(Reason::Release, 150)));
}
