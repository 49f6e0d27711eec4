//! Clearing again: the results of other bids in clearings that the ledger has a record of.

use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::ausubel::sellers;
pub(crate) use gridbay_protocol::record::ausubel::BidId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Price;

/// A clearing's input.
pub(crate) type Input = sellers::Input<OfferId, BidId>;

/// The least price above `from` at which the bid with this index, for `units` units at one price,
/// wins any; `None` if none does. A bid that wins at a price wins at every higher one, and most
/// often just above what another bid or a seller asks: so it looks between these prices first.
pub(crate) fn least_winning(mut input: Input, at: usize, units: u32, from: u64) -> Option<u64> {
    let id = input.bids.get(at)?.id;
    let asked = asked(&input, at, from);
    let mut wins = |price: u64| {
        if let Some(bid) = input.bids.get_mut(at) {
            bid.prices = vec![price; units as usize];
        }
        let outcome = sellers::clear(&input);
        outcome.is_ok_and(|o| o.awards.iter().any(|a| a.id == id))
    };
    let won = asked.partition_point(|price| !wins(*price));
    let mut loses = match won.checked_sub(1) {
        Some(before) => *asked.get(before)?,
        None => from,
    };
    let mut high = match asked.get(won) {
        Some(price) => *price,
        None => loses,
    };
    let mut step = 1;
    while high == loses {
        // Above all that is asked: doubles the distance until it wins.
        let next = loses.saturating_add(step).min(Price::MAX.0);
        if next <= loses {
            return None;
        }
        match wins(next) {
            true => high = next,
            false => (loses, high, step) = (next, next, step.saturating_mul(2)),
        }
    }
    if high - loses > 1 && wins(loses + 1) {
        return Some(loses + 1);
    }
    while high - loses > 1 {
        let middle = loses + (high - loses) / 2;
        if wins(middle) {
            high = middle;
        } else {
            loses = middle;
        }
    }
    Some(high)
}

/// The prices above `from` that sellers and the other bids give, ascending.
fn asked(input: &Input, at: usize, from: u64) -> Vec<u64> {
    let others = input.bids.iter().enumerate().filter(|(n, _)| *n != at);
    let bids = others.flat_map(|(_, bid)| bid.prices.iter().copied());
    let asks = input.offers.iter().flat_map(|offer| {
        let moved = offer.reserve.saturating_add(input.switch_cost);
        [offer.reserve, moved]
    });
    let all = bids.chain(asks).filter(|price| *price > from);
    let mut all: Vec<u64> = all.filter(|price| *price <= Price::MAX.0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The price for a whole slot of `slot_heights` that is `price` for the heights which a record
/// sold, rounded up.
pub(crate) fn for_a_whole_slot(record: &ClearingRecord, price: u64, slot_heights: u64) -> Price {
    let wide = u128::from(price) * u128::from(slot_heights);
    let wide = wide.div_ceil(u128::from(record.heights.max(1)));
    Price(u64::try_from(wide).unwrap_or(u64::MAX).min(Price::MAX.0))
}
