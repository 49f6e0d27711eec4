//! The bank's published figures: supply, velocity and prices, from one epoch to the next.

use crate::bank::{small, world};
use crate::trade::bid;
use crate::world::World;
use gridbay_ledger::bank::Way;
use gridbay_ledger::bank::supply::Supply;
use gridbay_protocol::bank::Preset;
use gridbay_protocol::limits::{EPOCH_HEIGHTS, EPOCHS_PUBLISHED};

/// Member 2 rents the unit of member 1 for the slot after next.
fn rental(world: &mut World) {
    let wish = bid(world, &[(1, 200)], 1);
    let orders = world.bids(&[(2, wish)]);
    let calendar = world.state.calendar();
    let boundary = calendar.last_of_slot(calendar.slot(world.state.height()));
    world.until(boundary);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(boundary + 8);
}

#[test]
fn an_epoch_is_published_when_it_ends() {
    let mut world = world(small(Preset::Owners));
    let class = world.class;
    let offer = world.offer(1, 0, 1, 30, None);
    world.all(vec![offer]);
    world.until(9);
    assert_eq!(world.state.prices(&class), None);
    rental(&mut world);
    let running: Vec<_> = world.state.epochs().collect();
    assert_eq!((running.len(), running[0].0), (1, 0));
    assert_eq!((running[0].1.volume, running[0].1.supply), (30, None));
    assert_eq!(world.state.velocity(), None);
    let sales = world.state.prices(&class).unwrap().period[&Way::Bid];
    assert_eq!((sales.paid, sales.units), (30, 8));
    world.until(EPOCH_HEIGHTS);
    let supply = Supply {
        minted: 5_000,
        circulating: 5_000,
        drawn: 0,
        treasury: 0,
    };
    let epoch = *world.state.epochs().next().unwrap().1;
    assert_eq!((epoch.volume, epoch.supply), (30, Some(supply)));
    assert_eq!(world.state.supply_of_money(), Some(supply));
    // 30 of 5,000.
    assert_eq!(world.state.velocity(), Some(6_000));
    let prices = world.state.prices(&class).unwrap();
    assert_eq!(prices.index.value(), 1 << 32);
    assert!(prices.period.is_empty());
    // Twice the price in the next epoch.
    let offer = world.offer(1, 0, 1, 60, None);
    world.all(vec![offer]);
    world.until(EPOCH_HEIGHTS + 9);
    rental(&mut world);
    world.until(2 * EPOCH_HEIGHTS);
    let index = world.state.prices(&class).unwrap().index.value();
    assert!(index.abs_diff(2 << 32) <= 4, "{index}");
    // 90 over a mean of 5,000.
    assert_eq!(world.state.velocity(), Some(18_000));
    assert!(world.state.epochs().count() <= EPOCHS_PUBLISHED + 1);
}
