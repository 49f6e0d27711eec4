//! Small markets drawn from a seed: equal prices and times, empty offers, limits below every price.

use super::{Input, OFFERS_MAX, ORDERS_MAX, Offer, Order, UNITS_MAX};
use crate::mechanism::dice::{dice, pick};

/// Draws a market of up to 6 offers and 9 orders.
pub(super) fn draw<K: From<u16>>(seed: u64) -> Input<K, K> {
    let mut next = dice(seed);
    let offers = (0..next(7) as u16).map(|id| Offer {
        id: K::from(id),
        units: next(6) as u32,
        price: next(4) * 10,
    });
    let offers = offers.collect();
    let orders = (0..next(10) as u16).map(|id| Order {
        id: K::from(id),
        time: next(4),
        units: 1 + next(6) as u32,
        limit: next(5) * 10,
    });
    let orders = orders.collect();
    Input {
        offers,
        left_out: next(4) as u32,
        orders,
    }
}

/// The longest lists. Odd seeds: as many orders as there may be, each of which looks at all offers
/// in vain, but for the last one, which takes everything. Even ones: as many offers as there may
/// be, and the largest numbers. Every fourth is one order or offer beyond.
pub(super) fn extreme<K: From<u16>>(seed: u64) -> Input<K, K> {
    match seed % 2 {
        1 => looked_at_in_vain(seed),
        _ => large(seed),
    }
}

fn looked_at_in_vain<K: From<u16>>(seed: u64) -> Input<K, K> {
    let mut next = dice(seed);
    let (many, orders) = (1_000, (ORDERS_MAX + usize::from(seed % 8 == 7)) as u16);
    let mut offer = |id: u16| Offer {
        id: K::from(id),
        units: 1,
        price: if id == 0 { u64::MAX } else { next(2) },
    };
    let offers = (0..many).map(&mut offer).collect();
    let order = |id: u16| Order {
        id: K::from(id),
        time: u64::from(id == 0),
        units: many.into(),
        limit: if id == 0 { u64::MAX } else { 1 },
    };
    let orders = (0..orders).map(order).collect();
    Input {
        offers,
        left_out: 0,
        orders,
    }
}

fn large<K: From<u16>>(seed: u64) -> Input<K, K> {
    let mut next = dice(seed);
    let offers = (OFFERS_MAX + usize::from(seed % 8 == 2)) as u16;
    let mut offer = |id: u16| Offer {
        id: K::from(id),
        units: pick(&[0, 1, UNITS_MAX], &mut next),
        price: pick(&[0, 1, u64::MAX], &mut next),
    };
    let offers = (0..offers).map(&mut offer).collect();
    let mut order = |id: u16| Order {
        id: K::from(id),
        time: pick(&[0, 1, u64::MAX], &mut next),
        units: pick(&[1, UNITS_MAX], &mut next),
        limit: pick(&[0, 1, u64::MAX], &mut next),
    };
    let orders = (0..60).map(&mut order).collect();
    Input {
        offers,
        left_out: pick(&[0, 1, u32::MAX], &mut next),
        orders,
    }
}
