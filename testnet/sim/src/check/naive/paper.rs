//! The rule `paper`, CloudBay's two stages.
//!
//! 1. Blocks of bids, and each unit of the sellers, by value per unit, the dearest first, equal
//!    ones in the order of ties. They win as long as they fit; all from the first on that does not
//!    fit lose.
//! 2. Every bidder demands all its blocks. A clock begins at zero; then the losing blocks leave,
//!    the last first, each at its value per unit rounded down. A winner is sure of the units that
//!    the others' demand leaves of the supply, at most those that it won; for each unit added it
//!    pays the price of the moment.

use super::{ClearingBid, Unit, Win, blocks};

struct Block {
    owner: usize,
    value: i128,
    size: i128,
}

pub(super) fn clear(bids: &[&ClearingBid], units: &[Unit]) -> Vec<Win> {
    let supply = units.len() as i128;
    let mut all = Vec::new();
    for (owner, bid) in bids.iter().enumerate() {
        let blocks = blocks(bid, units.len()).into_iter();
        all.extend(blocks.map(|(value, size)| Block { owner, value, size }));
    }
    all.extend(units.iter().rev().map(|unit| Block {
        owner: bids.len(),
        value: unit.0.into(),
        size: 1,
    }));
    all.sort_by(|a, b| (b.value * a.size).cmp(&(a.value * b.size)));
    let mut taken = 0;
    let fits = all.iter().take_while(|block| {
        taken += block.size;
        taken <= supply
    });
    let fits = fits.count();
    let mut demand = vec![0; bids.len() + 1];
    let mut won = demand.clone();
    let mut value = demand.clone();
    for (n, block) in all.iter().enumerate() {
        demand[block.owner] += block.size;
        if n < fits {
            won[block.owner] += block.size;
            value[block.owner] += block.value;
        }
    }
    let mut certain = vec![0; bids.len()];
    let mut pay = certain.clone();
    let mut round = |demand: &[i128], price: i128| {
        let total: i128 = demand.iter().sum();
        for bid in 0..bids.len() {
            let now = (supply - (total - demand[bid])).clamp(0, won[bid]);
            pay[bid] += price * (now - certain[bid]);
            certain[bid] = now;
        }
    };
    round(&demand, 0);
    for block in all[fits..].iter().rev() {
        demand[block.owner] -= block.size;
        round(&demand, block.value / block.size);
    }
    let winners = (0..bids.len()).filter(|bid| won[*bid] > 0);
    let win = |bid| Win {
        bid,
        units: won[bid] as usize,
        value: value[bid],
        pay: pay[bid],
    };
    winners.map(win).collect()
}
