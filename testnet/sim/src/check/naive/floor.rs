//! The rule `floor`: the winners are those of `exact`. Line up the worth of each unit to all
//! others, bids and sellers, units of a block at its average rounded down, the dearest first, with
//! zeros behind them. A winner of A of m units pays at least the sum of the places m-A+1 to m, but
//! never more than its bid.

use super::{ClearingBid, Unit, Win, blocks};

pub(super) fn raise(bids: &[&ClearingBid], units: &[Unit], mut won: Vec<Win>) -> Vec<Win> {
    for win in &mut won {
        let others = (0..bids.len()).filter(|other| *other != win.bid);
        let blocks = others.flat_map(|other| blocks(bids[other], units.len()));
        let each = blocks.flat_map(|(value, size)| vec![value / size; size as usize]);
        let mut line: Vec<i128> = each.chain(units.iter().map(|unit| unit.0.into())).collect();
        line.sort_unstable_by(|a, b| b.cmp(a));
        line.resize(line.len().max(units.len()), 0);
        let taken: i128 = line[units.len() - win.units..units.len()].iter().sum();
        win.pay = win.pay.max(taken).min(win.value);
    }
    won
}
