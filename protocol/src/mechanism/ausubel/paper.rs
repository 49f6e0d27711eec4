//! Rule `paper`: CloudBay's two stages, III.C (allocation) and III.D (payment); A.3.
//!
//! Stage 1. The blocks of a bidder are its head and then single units. All blocks are ordered by
//! average price, ties by (time, id); the longest prefix that fits the supply wins. All blocks
//! behind the first that does not fit lose ("backtrack"), even those that would fit.
//!
//! Stage 2. A clock starts at the reserve with everybody's demand, then drops the losing blocks,
//! cheapest first, each at its average rounded down. A winner of A units clinches `rho = min(A,
//! supply - demand of the others)` and pays for each clinched unit the price of the round in which
//! it clinches the unit.
//!
//! Two readings keep this sound with all-or-none bids: rho is capped by the units that the bidder
//! finally wins, and only winners pay.

use super::Share;
use super::prepare::{Lot, Prepared};
use crate::mechanism::meter;

/// A head or a single unit.
#[derive(Debug, Clone, Copy)]
struct Block {
    value: u128,
    size: u32,
    lot: u32,
}

impl Block {
    /// Average price, rounded down; at least the reserve, as cheaper blocks do not survive.
    fn price(&self) -> u64 {
        // An average of u64 prices is one itself.
        (self.value / u128::from(self.size)) as u64
    }
}

/// Shares parallel to the lots, and the price of the first losing block (or the reserve).
pub(super) fn solve(prepared: &Prepared<'_>) -> (Vec<Share>, u64) {
    let mut blocks: Vec<Block> = (0u32..)
        .zip(&prepared.lots)
        .flat_map(|(index, lot)| blocks(index, lot))
        .collect();
    meter::steps(2 * blocks.len());
    // III.C, A.3, 2: the sorted list of bid prices. A stable sort keeps (time, id, block) among
    // equals.
    blocks.sort_by(|a, b| (b.value * u128::from(a.size)).cmp(&(a.value * u128::from(b.size))));
    let mut free = prepared.supply;
    // III.C: the sum of demands is at most m; the first block that does not fit ends it.
    let fits = blocks
        .iter()
        .take_while(|block| match free.checked_sub(block.size) {
            Some(rest) => {
                free = rest;
                true
            }
            None => false,
        });
    let (winning, losing) = blocks.split_at(fits.count());
    let mut shares = vec![Share::default(); prepared.lots.len()];
    for block in winning {
        shares[block.lot as usize].units += block.size;
    }
    for (index, lot) in prepared.lots.iter().enumerate() {
        if lot.bidder.is_some() && shares[index].units > 0 {
            shares[index].pay = clinch(shares[index].units, free, index, losing, prepared.reserve);
        }
    }
    // A.3, 3.
    let price = losing.first().map_or(prepared.reserve, Block::price);
    (shares, price)
}

fn blocks<'a>(index: u32, lot: &Lot<'a>) -> impl Iterator<Item = Block> + use<'a> {
    // A.3, 1.
    let head = Block {
        value: lot.value(lot.head),
        size: lot.head,
        lot: index,
    };
    let single = move |&price: &u64| Block {
        value: u128::from(price),
        size: 1,
        lot: index,
    };
    std::iter::once(head).chain(lot.prices[lot.head as usize..].iter().map(single))
}

/// Payment of a winner, following the clock backwards from its end, where the others leave it all
/// that it wins and the idle units. Every earlier round gives its block back to a rival, or to the
/// winner itself, which changes nothing; once no unit is left to the winner, no earlier round
/// matters.
fn clinch(won: u32, idle: u32, winner: usize, losing: &[Block], reserve: u64) -> u128 {
    let won = i128::from(won);
    // Eq. 1; at most A_i by A.3, 4.
    let rho = |left: i128| u128::try_from(left.min(won)).unwrap_or(0);
    let mut left = won + i128::from(idle);
    let mut pay = 0;
    for block in losing {
        meter::steps(1);
        if left <= 0 {
            return pay;
        }
        if block.lot as usize != winner {
            let before = left - i128::from(block.size);
            // Eqs. 2 and 3: p^t * mu^t.
            pay += u128::from(block.price()) * (rho(left) - rho(before));
            left = before;
        }
    }
    // Eq. 2, mu^1: the round at the reserve.
    pay + u128::from(reserve) * rho(left)
}
