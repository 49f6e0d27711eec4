//! Why a bid lost its last clearing, and the price that would have won it.
//!
//! 1. A bid for all or none can lose to rivals that pay less for each unit: with it, less would
//!    have been sold in all. It was *passed over* if some rival won although it bid less a unit.
//! 2. The price that would have won is found by clearing again with the bid's units all at one
//!    price, everything else as it was: one's own price decides in no other way than that more
//!    wins where less did.

use crate::market::again;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::unit_prices;
use gridbay_protocol::record::ausubel::{ClearingBid, ClearingRecord};
use gridbay_protocol::units::Price;

/// The facts of a bid's last defeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Height of the clearing.
    pub(crate) height: u64,
    /// The rule it was cleared under.
    pub(crate) rule: Rule,
    /// The most that the bid would have paid for each unit, for a whole slot.
    pub(crate) bid: Price,
    /// Units of which fewer were of no use to it.
    pub(crate) least: u32,
    /// The cheapest winner's bid for each of its units, if that is less.
    pub(crate) passed_over: Option<Price>,
    /// Least price for each unit and whole slot at which the bid would have won; `None` if none
    /// would.
    pub(crate) would_win: Option<Price>,
}

/// Looks at a clearing; `None` if the order took no part in it, or won. `slot_heights` are those of
/// a whole slot.
pub(crate) fn lost(record: &ClearingRecord, order: &OrderId, slot_heights: u64) -> Option<Lost> {
    let at = record.bids.iter().position(|b| b.order == *order)?;
    if record.awards.iter().any(|a| a.order == *order) {
        return None;
    }
    let own = record.bids.get(at)?;
    let mean = mean(own, units(own));
    let winners = record.awards.iter().filter_map(|award| {
        let bid = record.bids.iter().find(|b| b.order == award.order)?;
        Some(self::mean(bid, award.units))
    });
    let whole = |price: u64| again::for_a_whole_slot(record, price, slot_heights);
    let would_win = again::least_winning(record.input(), at, units(own), mean);
    let cheapest = winners.min().filter(|cheapest| *cheapest < mean);
    Some(Lost {
        height: record.height,
        rule: record.policy.rule,
        bid: whole(mean),
        least: own.min,
        passed_over: cheapest.filter(|_| own.min > 1).map(whole),
        would_win: would_win.map(whole),
    })
}

fn units(bid: &ClearingBid) -> u32 {
    bid.steps.iter().map(|s| s.units).sum()
}

/// Mean price of a bid's first `units` units, rounded down.
fn mean(bid: &ClearingBid, units: u32) -> u64 {
    let prices = unit_prices(&bid.steps, units);
    let sum: u128 = prices.into_iter().map(u128::from).sum();
    (sum / u128::from(units.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, ClassId, ClearingId, Hash32, OfferId};
    use gridbay_protocol::order::Step;
    use gridbay_protocol::policy::ausubel::AuctionPolicy;
    use gridbay_protocol::record::ausubel::{Award, ClearingKind, ClearingOffer};
    use gridbay_protocol::units::Credits;

    /// Eight units at a reserve of 5; bids as (units, least, price), named 1, 2, ...; half a slot
    /// of 8 heights is sold.
    fn record(bids: &[(u32, u32, u64)], won: &[(u8, u32)]) -> ClearingRecord {
        let order = |n: u8| OrderId([n; 32]);
        let bid = |(n, &(units, min, price)): (u8, &(u32, u32, u64))| ClearingBid {
            order: order(n),
            round: 1,
            rank: Hash32([n; 32]),
            sponsor: AccountId([n; 32]),
            min,
            steps: vec![Step {
                units,
                price: Price(price),
            }],
        };
        ClearingRecord {
            id: ClearingId([1; 32]),
            class: ClassId([2; 32]),
            kind: ClearingKind::Free,
            height: 12,
            slot: 1,
            heights: 4,
            policy: AuctionPolicy::default(),
            held: vec![],
            offers: vec![ClearingOffer {
                offer: OfferId([3; 32]),
                units: 8,
                reserve: Price(5),
            }],
            bids: (1..).zip(bids).map(bid).collect(),
            awards: won
                .iter()
                .map(|&(n, units)| Award {
                    order: order(n),
                    units,
                    pay: Credits::ZERO,
                })
                .collect(),
            sold: vec![],
        }
    }

    #[test]
    fn a_large_bid_that_is_dearer_a_unit_is_passed_over() {
        // Six units at 19 and two at the sellers' 5 are worth 124, all eight at 16 are worth 128.
        let record = record(&[(6, 6, 19), (8, 8, 16)], &[(2, 8)]);
        let lost = lost(&record, &OrderId([1; 32]), 8).unwrap();
        assert_eq!(lost.passed_over, Some(Price(32)), "for a whole slot");
        assert_eq!(lost.bid, Price(38));
        assert_eq!(lost.would_win, Some(Price(40)), "six at 20 make it 130");
        assert_eq!((lost.height, lost.least), (12, 6));
    }

    #[test]
    fn who_bid_less_was_not_passed_over() {
        let record = record(&[(4, 1, 9), (8, 1, 10)], &[(2, 8)]);
        let lost = lost(&record, &OrderId([1; 32]), 8).unwrap();
        assert_eq!(lost.passed_over, None);
        // At equal prices the earlier rank wins a unit.
        assert_eq!(lost.would_win, Some(Price(20)));
    }

    #[test]
    fn no_price_buys_what_is_not_there() {
        let record = record(&[(9, 9, 50), (8, 1, 10)], &[(2, 8)]);
        let lost = lost(&record, &OrderId([1; 32]), 8).unwrap();
        assert_eq!(lost.would_win, None);
    }

    #[test]
    fn winners_and_strangers_lost_nothing() {
        let record = record(&[(4, 1, 9)], &[(1, 4)]);
        assert_eq!(super::lost(&record, &OrderId([1; 32]), 8), None);
        assert_eq!(super::lost(&record, &OrderId([9; 32]), 8), None);
    }
}
