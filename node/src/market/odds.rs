//! How a bid would have fared in the last clearings of its class: the odds that a quote tells.

use super::again::{self, BidId};
use gridbay_protocol::ids::{ClearingId, Hash32, OrderId};
use gridbay_protocol::mechanism::ausubel::Bidder;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Price;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Results of clearing again that are kept at the most.
const KEPT: usize = 4_096;

/// The id of the bid that was not there: last in every tie.
const GUEST: BidId = (Hash32([255; 32]), OrderId([255; 32]));

/// The price that a bid would have needed, a unit and whole slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Odds {
    /// Clearings tried.
    pub(crate) tried: u32,
    /// Least winning prices of those that could be won at all, ascending.
    least: Vec<Price>,
}

impl Odds {
    #[cfg(test)]
    pub(crate) fn of(tried: u32, mut least: Vec<Price>) -> Odds {
        least.sort_unstable();
        Odds { tried, least }
    }
    /// Percent of the clearings tried that `price` would have won; `None` if none was.
    pub(crate) fn at(&self, price: Price) -> Option<u32> {
        let won = self.least.iter().filter(|least| **least <= price).count();
        let won = u32::try_from(won).unwrap_or(u32::MAX);
        (self.tried > 0).then(|| won.saturating_mul(100) / self.tried)
    }
    /// The price that would have won `percent` of the clearings tried; `None` if no price would.
    pub(crate) fn price_for(&self, percent: u32) -> Option<Price> {
        let wanted = (self.tried as usize * percent as usize)
            .div_ceil(100)
            .max(1);
        self.least.get(wanted - 1).copied()
    }
}

/// A clearing, the units of a further bid, and how many of them are of use.
type Trial = (ClearingId, u32, u32);

/// The least winning prices that were found: a clearing that is over stays as it was.
#[derive(Debug, Default)]
pub(crate) struct Tried(Mutex<BTreeMap<Trial, Option<u64>>>);

impl Tried {
    /// Adds a bid for `nodes` units, of which `min` are of use, to each of the records.
    pub(crate) fn odds(
        &self,
        records: &[Arc<ClearingRecord>],
        (nodes, min): (u32, u32),
        slot_heights: u64,
    ) -> Odds {
        let least = records.iter().filter_map(|record| {
            let price = self.least(record, nodes, min)?;
            Some(again::for_a_whole_slot(record, price, slot_heights))
        });
        let mut least: Vec<Price> = least.collect();
        least.sort_unstable();
        Odds {
            tried: u32::try_from(records.len()).unwrap_or(u32::MAX),
            least,
        }
    }

    fn least(&self, record: &ClearingRecord, nodes: u32, min: u32) -> Option<u64> {
        let trial = (record.id, nodes, min);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(price) = known().get(&trial) {
            return *price;
        }
        let price = least(record, nodes, min);
        let mut known = known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(trial, price);
        price
    }
}

fn least(record: &ClearingRecord, nodes: u32, min: u32) -> Option<u64> {
    let mut input = record.input();
    let at = input.bids.len();
    input.bids.push(Bidder {
        id: GUEST,
        time: u64::MAX,
        min,
        prices: vec![],
        sponsor: None,
    });
    again::least_winning(input, at, nodes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, empty, offer};
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::mechanism::ausubel::Rule;
    use gridbay_protocol::order::Step;
    use gridbay_protocol::record::ausubel::ClearingBid;

    fn odds(records: &[ClearingRecord], nodes: u32, min: u32, slot_heights: u64) -> Odds {
        let records: Vec<_> = records.iter().cloned().map(Arc::new).collect();
        let tried = Tried::default();
        let first = tried.odds(&records, (nodes, min), slot_heights);
        let again = tried.odds(&records, (nodes, min), slot_heights);
        assert_eq!(first, again, "what was found before is found again");
        first
    }

    /// Four units at a reserve of 5, of which others want `taken` at `price`.
    fn record(height: u64, taken: u32, price: u64) -> ClearingRecord {
        let bid = ClearingBid {
            order: OrderId([2; 32]),
            round: 1,
            rank: Hash32([2; 32]),
            sponsor: AccountId([2; 32]),
            min: 1,
            steps: vec![Step {
                units: taken,
                price: Price(price),
            }],
        };
        ClearingRecord {
            offers: vec![offer(4)],
            bids: vec![bid],
            ..empty(SMALL, height)
        }
    }

    #[test]
    fn odds_are_the_share_of_clearings_that_a_price_would_have_won() {
        let records = [record(8, 2, 50), record(16, 3, 20), record(24, 4, 30)];
        let odds = odds(&records, 2, 2, 8);
        // Two are left in the first. In the second one must go to the other bid, worth 20, and one
        // is left at 5.
        assert_eq!(odds.least, [Price(5), Price(13), Price(31)]);
        let at = |price| odds.at(Price(price)).unwrap();
        assert_eq!([4, 5, 13, 30, 31].map(at), [0, 33, 66, 66, 100]);
        assert_eq!(odds.price_for(50), Some(Price(13)));
        assert_eq!(odds.price_for(100), Some(Price(31)));
    }

    #[test]
    fn odds_follow_the_rule_of_the_record() {
        // Two for 20 or nothing: alone it wins over the pair's 30 by 15 each; ranked by average it
        // must beat 30.
        let mut contested = record(8, 4, 15);
        let mut dear = contested.bids[0].clone();
        (dear.order, dear.steps[0].units) = (OrderId([3; 32]), 3);
        dear.min = 3;
        dear.steps[0].price = Price(30);
        contested.bids.push(dear);
        let least = |rule| {
            let mut record = contested.clone();
            record.policy.rule = rule;
            odds(&[record], 2, 2, 8).least
        };
        // The three are worth 90 and 15 more of the rest: so must the two with two at 15.
        assert_eq!(least(Rule::Exact), [Price(38)]);
        assert_eq!(least(Rule::Paper), [Price(31)]);
    }

    #[test]
    fn nothing_is_said_without_clearings_or_about_what_cannot_be_had() {
        assert_eq!(odds(&[], 1, 1, 8).at(Price(9)), None);
        let hopeless = odds(&[record(8, 2, 50)], 5, 5, 8);
        assert_eq!(
            (hopeless.at(Price::MAX), hopeless.price_for(50)),
            (Some(0), None)
        );
    }

    #[test]
    fn prices_of_a_part_of_a_slot_count_for_the_whole() {
        let mut part = record(12, 4, 10);
        part.heights = 4;
        assert_eq!(odds(&[part], 1, 1, 8).least, [Price(22)]);
    }
}
