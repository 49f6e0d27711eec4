//! Small markets drawn from a seed, with overlapping classes, channels and bids that do not count.

use super::{Bid, Channels, Input, Orders, Policy, Want};
use crate::mechanism::dice::dice;

/// Draws a market of up to 7 bids, 9 nodes and 9 slots; every third has three rankings.
pub(super) fn draw<K: From<u8>, N: From<u8>>(seed: u64) -> Input<K, N> {
    let mut next = dice(seed);
    let nodes = 1 + next(9);
    let slots = 1 + next(9) as u32;
    let orders = [Orders::Density, Orders::Density, Orders::Three][(seed % 3) as usize];
    let policy = Policy {
        fronts: [1, 3, 10][next(3) as usize],
        orders,
    };
    let busy = (0..next(4))
        .map(|_| (N::from(next(nodes) as u8), next(9) as u32))
        .collect();
    let bids = (0..next(8) as u8)
        .map(|id| {
            let classes = (0..1 + next(3)).map(|_| Want {
                quantity: (1 + next(3)).saturating_sub(next(9) / 8) as u32,
                nodes: (0..next(7)).map(|_| N::from(next(10) as u8)).collect(),
            });
            let classes = classes.collect();
            let low = next(3) as u32;
            let high = low + next(2) as u32;
            let earliest = next(6) as i64 - 1;
            Bid {
                id: K::from(id),
                time: next(3),
                value: next(40),
                earliest,
                latest: earliest + next(5) as i64 - next(9) as i64 / 8,
                slots: next(5) as u32,
                classes,
                channels: (next(3) == 0).then_some(Channels { low, high }),
            }
        })
        .collect();
    Input {
        policy,
        reserve: next(2),
        slots,
        starts: next(u64::from(slots) + 2) as u32,
        nodes: (0..nodes as u8).map(N::from).collect(),
        busy,
        busy_channels: vec![(1, next(9) as u32)],
        bids,
    }
}
