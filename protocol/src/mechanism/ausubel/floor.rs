//! Rule `floor` (A.5): the allocation of `exact`, with payments no lower than the clinching price.
//!
//! Let u be the rivals' units, every unit of a head at its average rounded down, in descending
//! order and followed by the reserve. A winner of A of m units displaces the places m-A .. m of u,
//! so it pays `min(its bid, max(VCG payment, sum of those places))`. Under VCG two small bids can
//! beat a large all-or-none one and pay nothing; here they pay its average.

use super::prepare::{Lot, Prepared};
use super::ranking::Ranking;
use super::{Share, exact};

/// Shares parallel to the lots.
pub(super) fn solve(prepared: &Prepared<'_>) -> Vec<Share> {
    let mut shares = exact::solve(prepared);
    let all = prepared.lots.iter().flat_map(unit_prices).collect();
    let ranking = Ranking::new(all, prepared.reserve);
    for (lot, share) in prepared.lots.iter().zip(&mut shares) {
        if share.units == 0 || lot.bidder.is_none() {
            continue;
        }
        let supply = prepared.supply as usize;
        let kept = supply - share.units as usize;
        let clinched = ranking.sum_without(supply, unit_prices(lot))
            - ranking.sum_without(kept, unit_prices(lot));
        // A.5: min(v_i, max(VCG_i, sum of u)).
        share.pay = share.pay.max(clinched).min(lot.value(share.units));
    }
    shares
}

/// Unit prices of a lot's blocks. Never rising: no unit behind the head exceeds its average.
fn unit_prices<'a>(lot: &Lot<'a>) -> impl Iterator<Item = u64> + use<'a> {
    let head = lot.head as usize;
    let average = (lot.value(lot.head) / head as u128) as u64;
    std::iter::repeat_n(average, head).chain(lot.prices[head..].iter().copied())
}
