//! Random markets for the tests of `reservation`, and all subsets of a list.

use crate::reservation_naive::Market;
use crate::support::Dice;
use gridbay_protocol::mechanism::reservation::{Bid, Channels, Input, Orders, Policy, Want};

/// The size of a market to draw.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) nodes: u64,
    pub(crate) slots: u64,
    pub(crate) bids: u64,
    pub(crate) classes: u64,
}

pub(crate) const SMALL: Scale = Scale {
    nodes: 6,
    slots: 6,
    bids: 9,
    classes: 3,
};
/// Three words of nodes.
pub(crate) const WIDE: Scale = Scale {
    nodes: 140,
    slots: 24,
    bids: 14,
    classes: 5,
};

pub(crate) fn draw(dice: &mut Dice, scale: Scale) -> Market {
    let nodes = dice.within(scale.nodes / 2, scale.nodes);
    let slots = dice.within(scale.slots / 2, scale.slots);
    let busy = (0..dice.below(nodes * slots / 4 + 1))
        .map(|_| (dice.below(nodes + 1), dice.below(slots + 1) as u32));
    let busy = busy.collect();
    let busy_channels = (0..dice.below(3))
        .map(|_| (dice.below(3) as u32, dice.below(slots) as u32))
        .collect();
    let mut bids: Vec<Bid<u64, u64>> = (0..dice.within(scale.bids / 4, scale.bids))
        .map(|id| bid(dice, id, nodes, slots, scale.classes))
        .collect();
    dice.shuffle(&mut bids);
    let mut ids: Vec<u64> = (0..nodes).collect();
    dice.shuffle(&mut ids);
    Input {
        policy: Policy {
            fronts: [0, 1, 3, 10][dice.below(4) as usize],
            orders: [Orders::Density, Orders::Three][dice.below(2) as usize],
        },
        reserve: u64::from(dice.chance(20)),
        slots: slots as u32,
        starts: dice.within(slots / 2, slots + 1) as u32,
        nodes: ids,
        busy,
        busy_channels,
        bids,
    }
}

fn bid(dice: &mut Dice, id: u64, nodes: u64, slots: u64, classes: u64) -> Bid<u64, u64> {
    let density = dice.within(50, 100);
    let classes: Vec<Want<u64>> = (0..dice.within(1, classes))
        .map(|_| {
            let mut list: Vec<u64> = (0..nodes + 2).filter(|_| dice.chance(density)).collect();
            dice.shuffle(&mut list);
            let most = (nodes / 3).max(2);
            let quantity = if dice.chance(4) {
                0
            } else {
                dice.within(1, most) as u32
            };
            Want {
                quantity,
                nodes: list,
            }
        })
        .collect();
    let bound = [5, 60, 1 << 40][dice.below(3) as usize];
    let earliest = dice.within(0, slots / 2 + 1) as i64 - 1;
    let length = dice.within(1, slots / 2 + 1) as u32;
    let low = dice.below(3) as u32;
    let high = low + dice.below(2) as u32;
    Bid {
        id,
        time: dice.below(3),
        value: dice.below(bound),
        earliest,
        latest: earliest + dice.below(slots + 1) as i64 - i64::from(dice.chance(5)),
        slots: length * u32::from(dice.chance(96)),
        classes,
        channels: dice.chance(15).then_some(Channels { low, high }),
    }
}

/// All subsets of that size, in lexicographic order.
pub(crate) fn combinations(nodes: &[u64], size: usize) -> Vec<Vec<u64>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in nodes.iter().enumerate() {
        for mut rest in combinations(&nodes[index + 1..], size - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}
