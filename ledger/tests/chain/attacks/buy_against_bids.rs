//! A bidder that would lose a scarce auction buys instead, below the others' bids: a buy pays the
//! value that it displaces.

use crate::trade::{bid, order, order_ends, two_units};
use gridbay_protocol::effect::{Effect, OrderEnd};

#[test]
fn a_buy_never_pays_less_than_the_bids_it_displaces() {
    let mut world = two_units();
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 9))]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(25);
    // Two units ask 60 together, and the bids on them are worth 100.
    let cheap = world.buy(3, 2, 1, 99);
    let id = order(&cheap.id());
    let effects = world.all(vec![cheap]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::TooDear)]);
    assert_eq!(
        world.state.lease(&lease).unwrap().units(),
        2,
        "nobody lost anything"
    );
    let fair = world.buy(3, 2, 1, 200);
    let effects = world.all(vec![fair]);
    let price = effects.iter().find_map(|effect| match effect {
        Effect::Buy(record) => Some((
            record.price.micros(),
            record.parts[0].displaced_value.micros(),
        )),
        _ => None,
    });
    assert_eq!(price, Some((100, 100)));
}
