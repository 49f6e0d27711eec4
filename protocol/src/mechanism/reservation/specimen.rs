//! Small markets drawn from a seed, with overlapping classes, channels and bids that do not count.

use super::{BIDS, Bid, CHANNELS, Channels, Input, NODES, Orders, Policy, SLOT_RANGE, SLOTS, Want};
use crate::mechanism::dice::{dice, pick};

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

/// As many nodes, slots and bids as there may be, each bid for nodes of two classes without a
/// common one, with the largest values and windows; one bid more at every fourth seed.
pub(super) fn extreme<K: From<u16>, N: From<u16>>(seed: u64) -> Input<K, N> {
    let mut next = dice(seed);
    let half = NODES as u16 / 2;
    let bids = BIDS + usize::from(seed % 4 == 3);
    let mut bid = |id: u16| {
        let classes = [0..half, half..2 * half].map(|nodes| Want {
            quantity: pick(&[1, 16, 64, half.into()], &mut next),
            nodes: nodes.map(N::from).collect(),
        });
        let high = CHANNELS - 1;
        Bid {
            id: K::from(id),
            time: pick(&[0, u64::MAX], &mut next),
            value: u64::MAX - next(3) * next(u64::MAX / 4),
            earliest: pick(&[-SLOT_RANGE + 1, 0, 0, i64::from(SLOTS) - 1], &mut next),
            latest: pick(&[SLOT_RANGE - 1, i64::from(SLOTS)], &mut next),
            slots: pick(&[1, 8, 100, SLOTS], &mut next),
            classes: classes.into(),
            channels: (next(8) == 0).then_some(Channels { low: 0, high }),
        }
    };
    let bids = (0..bids as u16).map(&mut bid).collect();
    Input {
        policy: Policy {
            fronts: 10,
            orders: Orders::Density,
        },
        reserve: pick(&[0, 1, u64::MAX], &mut next) / (1 + next(2) * u64::MAX / 2),
        slots: SLOTS,
        starts: SLOTS,
        nodes: (0..NODES as u16).map(N::from).collect(),
        busy: (0..2 * half)
            .map(|n| (N::from(n), next(SLOTS.into()) as u32))
            .collect(),
        busy_channels: vec![(0, 0), (u32::MAX, u32::MAX)],
        bids,
    }
}
