//! I5: a clearing equals its recomputation, on exactly the bids and offers that there are.
//!
//! 1. After every block the checker keeps a copy of the bids, offers and leases that the state then
//!    holds.
//! 2. In the next block, up to a clearing's record, effects end orders and leases and change
//!    leases. The rest of the copy is the input that the clearing had to cover: no bid left out,
//!    none invented, none changed, every unit for sale and no other. A bid whose amendment waits
//!    competes as amended.
//! 3. The outcome is computed anew by [`super::naive`].
//!    Sharings of pools are treated likewise (`pools`).
//! 4. [`super::ahead`] counts the units reserved at a boundary, and every reservation that stood
//!    was decided on.
//! 5. A round that closes with bids and units for sale in a class has a clearing of it; other
//!    blocks have none.

mod market;

use super::{Check, Fact, Sight, ahead, naive, pools};
use crate::world::World;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::record::ausubel::ClearingRecord;
use market::Market;
use std::collections::BTreeSet;

/// Step 3.
pub(super) fn recompute(record: &ClearingRecord) -> Result<(), String> {
    let (awards, sold) = naive::clear(record);
    if (&awards, &sold) != (&record.awards, &record.sold) {
        return Err(format!(
            "the clearing should have come to {awards:?} and {sold:?}: {record:?}"
        ));
    }
    Ok(())
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Clearing {
    before: Option<Market>,
}

impl Clearing {
    fn block(&mut self, fact: &Fact, policy: &Policy) -> Result<(), String> {
        let calendar = &policy.calendar;
        let before = self.before.take();
        let mut market = before.filter(|m| m.height + 1 == fact.height);
        let closes = fact
            .height
            .is_multiple_of(u64::from(calendar.round_heights));
        let mut cleared = BTreeSet::new();
        for effect in &fact.effects {
            if let Effect::Reservation(record) = effect {
                let slot = calendar.slot_heights();
                let timely = record.height == fact.height && fact.height.is_multiple_of(slot);
                if !timely || record.slot != fact.height / slot {
                    return Err(format!("no time for reservations: {record:?}"));
                }
                ahead::check(record, &policy.reservation)?;
                if let Some(market) = &market {
                    market.compare_wishes(record)?;
                }
            }
            if let Effect::Clearing(record) = effect {
                if !closes || record.height != fact.height || !cleared.insert(record.class) {
                    return Err(format!("no time for a clearing: {record:?}"));
                }
                recompute(record)?;
                if let Some(market) = &market {
                    market.compare(record, policy)?;
                }
            }
            if let Effect::Sharing(record) = effect {
                pools::recompute(record, fact.height, calendar)?;
                if let Some(market) = &market {
                    market.compare_pool(record)?;
                }
            }
            if let Some(market) = &mut market {
                market.apply(effect);
            }
        }
        match market.filter(|_| closes) {
            Some(market) => market.complete(fact, policy, &cleared),
            None => Ok(()),
        }
    }
}

impl Check for Clearing {
    fn id(&self) -> &'static str {
        "I5"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(fact) = sight else {
            return Ok(());
        };
        let policy = &world.genesis.policy;
        let calendar = policy.calendar;
        let verdict = self.block(fact, policy);
        let state = world.core(fact.node).map(gridbay_core::Core::state);
        let state = state.filter(|s| s.height() == fact.height);
        // Only the block that closes a round is looked at.
        let last = (fact.height + 1).is_multiple_of(u64::from(calendar.round_heights));
        self.before = state.filter(|_| last).map(Market::of);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::market::{Bid, Lease, Offer};
    use super::naive::tests::{bid, offer};
    use super::*;
    use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OrderId};
    use gridbay_protocol::lease::Share;
    use gridbay_protocol::mechanism::ausubel::Rule;
    use gridbay_protocol::units::{Credits, Price};

    const CLASS: ClassId = ClassId([7; 32]);
    /// Rounds of four heights, slots of two rounds.
    fn policy() -> Policy {
        Policy::local()
    }

    fn market() -> Market {
        let mut market = Market {
            height: 7,
            ..Market::default()
        };
        for (n, price) in [(1, 30), (2, 20), (3, 15)] {
            let entered = bid(n, 1, &[(2, price)]);
            let bid = Bid {
                class: CLASS,
                sponsor: entered.sponsor,
                round: 1,
                rank: Some(entered.rank),
                min: 1,
                steps: entered.steps,
                next: None,
            };
            market.bids.insert(entered.order, bid);
        }
        let units = Offer {
            class: CLASS,
            units: 4,
            reserve: 10,
        };
        market.offers.insert(offer(1, 4, 10).offer, units);
        market
    }
    fn record() -> ClearingRecord {
        let sale = market().sale(&CLASS, 8, &policy());
        let mut record = ClearingRecord {
            kind: sale.kind,
            slot: sale.slot,
            height: 8,
            heights: sale.heights,
            ..naive::tests::record(&sale.offers, &sale.bids)
        };
        (record.awards, record.sold) = naive::clear(&record);
        assert_eq!((record.awards.len(), record.sold.len()), (2, 1));
        record
    }

    #[test]
    fn a_wrong_outcome_is_reported() {
        assert_eq!(recompute(&record()), Ok(()));
        let mut dearer = record();
        dearer.awards[0].pay = Credits::from_micros(1_000).unwrap();
        let mut favoured = record();
        favoured.awards[1].order = OrderId([3; 32]);
        let mut stolen = record();
        stolen.sold[0].earns = Credits::ZERO;
        for bad in [dearer, favoured, stolen] {
            assert!(recompute(&bad).is_err());
        }
    }

    #[test]
    fn wrong_bids_and_units_are_reported() {
        let market = market();
        assert_eq!(market.compare(&record(), &policy()), Ok(()));
        let mut left_out = record();
        left_out.bids.remove(1);
        let mut changed = record();
        changed.bids[0].steps[0].price = Price(29);
        let mut more = record();
        more.offers[0].units = 5;
        let mut disowned = record();
        disowned.bids[0].sponsor = AccountId([9; 32]);
        let mut longer = record();
        longer.heights = 9;
        let mut other_rule = record();
        other_rule.policy.rule = Rule::Paper;
        for bad in [left_out, changed, more, disowned, longer, other_rule] {
            assert!(market.compare(&bad, &policy()).is_err());
        }
    }

    #[test]
    fn what_running_bids_hold_is_compared() {
        let mut market = market();
        let (order, share) = (
            OrderId([1; 32]),
            Share {
                offer: offer(1, 4, 10).offer,
                units: 2,
            },
        );
        let lease = Lease {
            order,
            shares: vec![share],
            firm: false,
        };
        market.leases.insert(LeaseId([1; 32]), lease);
        for cost in [0, 3] {
            let mut policy = policy();
            policy.auction.switch_cost = Price(cost);
            let mut sticky = record();
            sticky.policy = policy.auction;
            assert!(market.compare(&sticky, &policy).is_err(), "{cost}");
            sticky.held = vec![share];
            assert_eq!(market.compare(&sticky, &policy), Ok(()), "{cost}");
        }
    }

    #[test]
    fn a_clearing_that_does_not_happen_is_reported() {
        let market = market();
        let mut fact = Fact {
            node: 0,
            height: 8,
            decided: super::super::fact::tests::decided(8),
            effects: vec![],
        };
        assert!(market.complete(&fact, &policy(), &BTreeSet::new()).is_err());
        assert_eq!(market.complete(&fact, &policy(), &[CLASS].into()), Ok(()));
        fact.height = 9;
        fact.effects = vec![Effect::Clearing(record())];
        let none = Clearing::default().block(&fact, &Policy::local());
        assert!(none.is_err(), "not at the close of a round");
    }
}
