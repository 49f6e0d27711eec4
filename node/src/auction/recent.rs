//! The newest clearings of a class, as far as pages and advice look at them over and over.
//!
//! The last one with bids is kept whole, for its curves. To clear again, [`CLEARINGS`] are kept
//! without the bids that offer less than every reserve: these win nothing (no winner pays above its
//! bid, no unit earns less than its reserve) and keep nobody from winning.

use crate::api::types::AuctionSummary;
use gridbay_protocol::order::Step;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Price;
use std::sync::Arc;

/// Clearings of a class to clear again, the newest ones.
const CLEARINGS: usize = 16;
/// Bids in them together: bounds the time that clearing them again takes.
const BIDS: usize = 4_000;

/// The last clearing with bids, and its line.
pub(crate) type Wanted = Arc<(ClearingRecord, AuctionSummary)>;

/// The newest clearings of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// The last one that had bids.
    pub(crate) wanted: Option<Wanted>,
    /// Those to clear again, newest first.
    pub(crate) again: Vec<Arc<ClearingRecord>>,
    /// Bids in these.
    bids: usize,
    /// Whether a clearing had no room any more: older ones have none either.
    full: bool,
}

impl Recent {
    /// Adds a clearing that is older than all that are here.
    pub(crate) fn add_older(&mut self, mut record: ClearingRecord, line: &AuctionSummary) {
        if self.wanted.is_none() && !record.bids.is_empty() {
            self.wanted = Some(Arc::new((record.clone(), line.clone())));
        }
        if self.full {
            return;
        }
        let reserves = record.offers.iter().map(|offer| offer.reserve);
        let least = reserves.min().unwrap_or_default();
        record.bids.retain(|bid| dearest(&bid.steps) >= least);
        self.keep(Arc::new(record));
    }

    /// Takes older clearings behind its own.
    pub(crate) fn before(mut self, older: &Recent) -> Recent {
        self.wanted = self.wanted.or_else(|| older.wanted.clone());
        for record in &older.again {
            if !self.full {
                self.keep(Arc::clone(record));
            }
        }
        self.full |= older.full;
        self
    }

    fn keep(&mut self, record: Arc<ClearingRecord>) {
        let bids = self.bids.saturating_add(record.bids.len());
        self.full = self.again.len() >= CLEARINGS || bids > BIDS;
        if !self.full {
            self.bids = bids;
            self.again.push(record);
        }
    }
}

fn dearest(steps: &[Step]) -> Price {
    steps
        .iter()
        .map(|step| step.price)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, empty, lines, offer};
    use gridbay_protocol::effect::Effect;
    use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
    use gridbay_protocol::record::ausubel::ClearingBid;

    fn bid(price: u64) -> ClearingBid {
        ClearingBid {
            order: OrderId([2; 32]),
            round: 1,
            rank: Hash32([2; 32]),
            sponsor: AccountId([2; 32]),
            min: 1,
            steps: vec![Step {
                units: 1,
                price: Price(price),
            }],
        }
    }

    /// A clearing with a reserve of 5 and bids of one unit at these prices.
    fn record(height: u64, prices: &[u64]) -> ClearingRecord {
        ClearingRecord {
            offers: vec![offer(4)],
            bids: prices.iter().copied().map(bid).collect(),
            ..empty(SMALL, height)
        }
    }

    fn recent(records: Vec<ClearingRecord>) -> Recent {
        let mut recent = Recent::default();
        for record in records {
            let place = (record.height, 0);
            let of = lines(&[(place, Effect::Clearing(record.clone()))]);
            recent.add_older(record, &of[0].2);
        }
        recent
    }

    fn heights(recent: &Recent) -> Vec<u64> {
        recent.again.iter().map(|record| record.height).collect()
    }

    #[test]
    fn bids_below_every_reserve_are_kept_for_the_curves_alone() {
        let recent = recent(vec![record(9, &[]), record(8, &[4, 5, 9])]);
        let (whole, line) = &**recent.wanted.as_ref().unwrap();
        assert_eq!((whole.bids.len(), line.height), (3, 8));
        let bids: Vec<_> = recent.again.iter().map(|r| r.bids.len()).collect();
        assert_eq!(bids, [0, 2]);
    }

    #[test]
    fn newer_clearings_push_out_older_ones() {
        let old = recent((1..=20).rev().map(|n| record(n, &[9])).collect());
        assert_eq!(heights(&old), (5..=20).rev().collect::<Vec<_>>());
        let both = recent(vec![record(22, &[]), record(21, &[9])]).before(&old);
        assert_eq!(heights(&both), (7..=22).rev().collect::<Vec<_>>());
        assert_eq!(both.wanted.unwrap().1.height, 21);
    }

    #[test]
    fn clearings_have_room_up_to_the_first_with_too_many_bids() {
        let many = record(8, &[9; BIDS]);
        let fresh = recent(vec![record(9, &[9]), many, record(7, &[9])]);
        assert_eq!(heights(&fresh), [9]);
        let both = fresh.before(&recent(vec![record(6, &[9])]));
        assert_eq!(heights(&both), [9], "a gap would mislead");
    }
}
