//! Clearing again: the results of other bids in clearings that the ledger has a record of.

use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::ausubel::sellers;
pub(crate) use gridbay_protocol::record::ausubel::BidId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Price;

/// A clearing's input.
pub(crate) type Input = sellers::Input<OfferId, BidId>;

/// The least price above `from` at which the bid with this index, for `units` units at one price,
/// wins any; `None` if none does. Doubles until it wins, then halves the gap: a bid that wins at a
/// price wins at every higher one.
pub(crate) fn least_winning(mut input: Input, at: usize, units: u32, from: u64) -> Option<u64> {
    let id = input.bids.get(at)?.id;
    let mut wins = |price: u64| {
        if let Some(bid) = input.bids.get_mut(at) {
            bid.prices = vec![price; units as usize];
        }
        let outcome = sellers::clear(&input);
        outcome.is_ok_and(|o| o.awards.iter().any(|a| a.id == id))
    };
    let (mut loses, mut high) = (from, from.max(1));
    loop {
        if high >= Price::MAX.0 {
            return None;
        }
        high = high.saturating_mul(2).min(Price::MAX.0);
        if wins(high) {
            break;
        }
        loses = high;
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

/// The price for a whole slot of `slot_heights` that is `price` for the heights which a record
/// sold, rounded up.
pub(crate) fn for_a_whole_slot(record: &ClearingRecord, price: u64, slot_heights: u64) -> Price {
    let wide = u128::from(price) * u128::from(slot_heights);
    let wide = wide.div_ceil(u128::from(record.heights.max(1)));
    Price(u64::try_from(wide).unwrap_or(u64::MAX).min(Price::MAX.0))
}
