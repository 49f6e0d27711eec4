//! Sellers that deliver late, not at all, or give up. Heights and balances as in `market`.

use crate::trade::{START, bid, lease_ends, money, one_lease, two_units};
use crate::world::World;
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

#[test]
fn an_undelivered_lease_is_refunded_and_stands_again() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    world.until(21);
    // Started at 16, due at 22, with 2 of 8 heights left: floor(20 * 2 / 8).
    let effects = world.until(22);
    assert_eq!(money(&effects), [(Reason::Refund, 5)]);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Undelivered)]);
    assert!(world.state.order(&orders[0]).is_some());
    // At 24 the used part goes back as well, and the order, filled up to 100 again, finds nothing for sale.
    let effects = world.until(24);
    assert_eq!(money(&effects), [(Reason::Refund, 15), (Reason::Lock, 20)]);
    assert_eq!(world.account(1), START);
    assert_eq!(world.account(2), START - 100);
}

#[test]
fn a_seller_that_fails_earns_nothing() {
    let (mut world, order) = one_lease();
    let lease = world.lease_of(&order);
    world.until(18);
    // Height 19, 5 of 8 heights left: floor(20 * 5 / 8).
    let fail = world.by(1, EntryBody::Fail { lease });
    let stranger = world.by(4, EntryBody::Fail { lease });
    assert!(matches!(
        world.state.admit(&stranger),
        Err(Refusal::NothingToDeliver { .. })
    ));
    let effects = world.all(vec![fail]);
    assert_eq!(money(&effects), [(Reason::Refund, 12)]);
    let effects = world.until(20);
    // At 20 the order stands again and wins the rest of the slot: 4 of 8 heights at ceil(10 / 2) each.
    assert_eq!(money(&effects), [(Reason::Lock, 20), (Reason::Charge, 10)]);
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    let effects = world.until(24);
    let earned: Vec<_> = money(&effects);
    assert!(earned.contains(&(Reason::Refund, 8)) && earned.contains(&(Reason::Earning, 10)));
    assert_eq!(world.account(1), START + 10);
}

#[test]
fn unacknowledged_units_are_refunded_at_the_slots_end() {
    let mut late = crate::world::policy();
    late.delivery_heights = 100;
    let mut world = World::with(late);
    let offers = vec![
        world.offer(1, 1, 1, 10, None),
        world.offer(4, 1, 1, 20, None),
    ];
    world.all(offers);
    world.until(9);
    let two = bid(&world, &[(2, 50)], 1);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    // Alone, the bid pays the phantoms' 10 + 20; earnings are 10 and 20; member 4 never acknowledged. So the slot does
    // not count, and the bid goes on.
    let effects = world.until(24);
    let mut moved = money(&effects);
    moved.sort();
    assert_eq!(
        moved,
        [
            (Reason::Lock, 30),
            (Reason::Charge, 30),
            (Reason::Earning, 10),
            (Reason::Refund, 20)
        ]
    );
    assert_eq!((world.account(1), world.account(4)), (START + 10, START));
    assert_eq!(world.account(2), START - 10 - 100);
}
