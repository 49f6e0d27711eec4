//! I5: a clearing equals its recomputation, on exactly the bids and offers that there are.
//!
//! 1. After every block the checker keeps a copy of the bids, offers and leases that the state then holds.
//! 2. In the next block, up to a clearing's record, effects end orders and leases and change leases. What is
//!    left of the copy is what the clearing had to cover: no bid left out, none invented, none changed, every unit
//!    for sale and no other.
//!    A bid whose amendment waits competes as amended.
//! 3. The outcome is computed anew by [`super::naive`].
//! 4. What was reserved at a boundary is counted by [`super::ahead`].
//! 5. A round that closes with bids and units for sale in a class has a clearing of it; other blocks have none.

use super::{Check, Fact, Sight, ahead, naive};
use crate::world::World;
use gridbay_ledger::State;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::clearing::{ClearingBid, ClearingKind, ClearingOffer, ClearingRecord};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share};
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
struct Bid {
    class: ClassId,
    sponsor: AccountId,
    round: u64,
    rank: Option<Hash32>,
    min: u32,
    steps: Vec<Step>,
    /// Round and steps of an amendment that was opened and has not taken effect.
    next: Option<(u64, Vec<Step>)>,
}

#[derive(Clone, Debug)]
struct Lease {
    order: OrderId,
    shares: Vec<Share>,
    firm: bool,
}

#[derive(Clone, Debug)]
struct Offer {
    class: ClassId,
    units: u32,
    reserve: u64,
}

/// The market as a state holds it, then as the effects of the next block leave it.
#[derive(Clone, Debug, Default)]
struct Market {
    height: u64,
    bids: BTreeMap<OrderId, Bid>,
    leases: BTreeMap<LeaseId, Lease>,
    offers: BTreeMap<OfferId, Offer>,
    /// Offers of leases that ended undelivered in this block: perhaps not for sale any more.
    doubtful: BTreeSet<OfferId>,
}

impl Market {
    fn of(state: &State) -> Market {
        let bid = |(id, order): (&OrderId, &gridbay_ledger::Order)| {
            let bid = order.bid()?;
            let next = bid.next.as_ref();
            let next = next.map(|n| (n.round, n.bid.steps.clone()));
            let (min, steps) = (bid.bid.min, bid.bid.steps.clone());
            let (class, round, rank) = (order.class, order.round, bid.rank);
            let account = state.account(&order.account);
            let bid = Bid {
                class,
                sponsor: account.map_or(order.account, |a| a.sponsor),
                round,
                rank,
                min,
                steps,
                next,
            };
            Some((*id, bid))
        };
        let lease = |(id, lease): (&LeaseId, &gridbay_ledger::Lease)| {
            let copy = Lease {
                order: lease.order,
                shares: lease.shares.clone(),
                firm: lease.firm_through.is_some(),
            };
            (*id, copy)
        };
        let offer = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
            let copy = Offer {
                class: offer.terms.class,
                units: if offer.active { offer.terms.units } else { 0 },
                reserve: offer.terms.reserve.0,
            };
            (*id, copy)
        };
        Market {
            height: state.height(),
            bids: state.orders().filter_map(bid).collect(),
            leases: state.leases().map(lease).collect(),
            offers: state.offers().map(offer).collect(),
            doubtful: BTreeSet::new(),
        }
    }
    fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Order { order, .. } => {
                self.bids.remove(order);
            }
            Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms)) => {
                let lease = Lease {
                    order: terms.order,
                    shares: terms.shares.clone(),
                    firm: terms.firm_through.is_some(),
                };
                let before = self.leases.insert(terms.lease, lease);
                // A reservation goes on without units that were not delivered.
                let before = before.filter(|l| l.firm).into_iter().flat_map(|l| l.shares);
                let gone = before.filter(|b| terms.shares.iter().all(|s| s.offer != b.offer));
                self.doubtful.extend(gone.map(|share| share.offer));
            }
            Effect::Lease(LeaseEvent::Ended { lease, end, .. }) => {
                let gone = self.leases.remove(lease);
                if *end == LeaseEnd::Undelivered {
                    let shares = gone.into_iter().flat_map(|l| l.shares);
                    self.doubtful.extend(shares.map(|s| s.offer));
                }
            }
            _ => {}
        }
    }
    /// Units of an offer in leases, all of them or the firm ones.
    fn held(&self, offer: &OfferId, firm_only: bool) -> u32 {
        let leases = self.leases.values().filter(|l| l.firm || !firm_only);
        let shares = leases.flat_map(|l| &l.shares);
        shares.filter(|s| s.offer == *offer).map(|s| s.units).sum()
    }
    /// What a clearing of a class in the block of `height` is to cover.
    fn sale(&self, class: &ClassId, height: u64, calendar: &Calendar) -> Sale {
        let whole = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
        let into = height % whole;
        let boundary = into == 0;
        let heights = if boundary { whole } else { whole - into };
        let share = |price: u64, up: bool| {
            let wide = u128::from(price) * u128::from(heights);
            let whole = u128::from(whole);
            let cut = if up {
                wide.div_ceil(whole)
            } else {
                wide / whole
            };
            Price(u64::try_from(cut).unwrap_or(u64::MAX))
        };
        // An amendment takes effect when its order competes.
        let of = |bid: &Bid| match &bid.next {
            Some((round, steps)) => (*round, Hash32::default(), steps.clone()),
            None => (bid.round, bid.rank.unwrap_or_default(), bid.steps.clone()),
        };
        let running: BTreeSet<OrderId> = self.leases.values().map(|l| l.order).collect();
        let competes =
            |id: &OrderId, bid: &Bid| bid.class == *class && (boundary || !running.contains(id));
        let bids = self.bids.iter().filter(|(id, bid)| competes(id, bid));
        let bids = bids.map(|(id, bid)| {
            let (round, rank, steps) = of(bid);
            let steps = steps.iter().map(|step| Step {
                units: step.units,
                price: share(step.price.0, false),
            });
            ClearingBid {
                order: *id,
                sponsor: bid.sponsor,
                round,
                rank,
                min: bid.min,
                steps: steps.collect(),
            }
        });
        let offers = self.offers.iter().filter(|(_, o)| o.class == *class);
        let offers = offers.map(|(id, offer)| ClearingOffer {
            offer: *id,
            units: offer.units.saturating_sub(self.held(id, boundary)),
            reserve: share(offer.reserve, true),
        });
        Sale {
            kind: if boundary {
                ClearingKind::Boundary
            } else {
                ClearingKind::Free
            },
            slot: (height / whole),
            heights,
            bids: bids.collect(),
            offers: offers.filter(|o| o.units > 0).collect(),
        }
    }
    /// Step 2.
    fn compare(&self, record: &ClearingRecord, calendar: &Calendar) -> Result<(), String> {
        let sale = self.sale(&record.class, record.height, calendar);
        let frame = (sale.kind, sale.slot, sale.heights);
        if frame != (record.kind, record.slot, record.heights) {
            return Err(format!(
                "a clearing of {frame:?} is on record as {record:?}"
            ));
        }
        let mut bids = record.bids.clone();
        for bid in &mut bids {
            // A rank is drawn when a bid competes for the first time, or is amended.
            let fresh = |b: &Bid| b.rank.is_none() || b.next.is_some();
            if self.bids.get(&bid.order).is_some_and(fresh) {
                bid.rank = Hash32::default();
            }
        }
        if bids != sale.bids {
            return Err(format!("bids {bids:?} competed instead of {:?}", sale.bids));
        }
        let certain =
            |o: &&ClearingOffer| !self.doubtful.contains(&o.offer) || record.offers.contains(o);
        let offers: Vec<ClearingOffer> = sale.offers.iter().filter(certain).copied().collect();
        if record.offers != offers {
            return Err(format!(
                "units {:?} were for sale instead of {offers:?}",
                record.offers
            ));
        }
        Ok(())
    }
}

struct Sale {
    kind: ClearingKind,
    slot: u64,
    heights: u64,
    bids: Vec<ClearingBid>,
    offers: Vec<ClearingOffer>,
}

/// Step 3.
fn recompute(record: &ClearingRecord) -> Result<(), String> {
    let (awards, sold) = naive::clear(&record.offers, &record.bids);
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
            }
            if let Effect::Clearing(record) = effect {
                if !closes || record.height != fact.height || !cleared.insert(record.class) {
                    return Err(format!("no time for a clearing: {record:?}"));
                }
                recompute(record)?;
                if let Some(market) = &market {
                    market.compare(record, calendar)?;
                }
            }
            if let Some(market) = &mut market {
                market.apply(effect);
            }
        }
        match market.filter(|_| closes) {
            Some(market) => market.complete(fact, calendar, &cleared),
            None => Ok(()),
        }
    }
}

impl Market {
    /// Step 5, where buys behind the clearings cannot have changed what there was to clear.
    fn complete(
        &self,
        fact: &Fact,
        calendar: &Calendar,
        cleared: &BTreeSet<ClassId>,
    ) -> Result<(), String> {
        let buys = fact.effects.iter().any(|e| matches!(e, Effect::Buy(_)));
        let classes: BTreeSet<ClassId> = self.offers.values().map(|o| o.class).collect();
        for class in classes.difference(cleared).filter(|_| !buys) {
            let sale = self.sale(class, fact.height, calendar);
            let certain = |o: &ClearingOffer| !self.doubtful.contains(&o.offer);
            if !sale.bids.is_empty() && sale.offers.iter().any(certain) {
                return Err(format!("class {class} has bids and units, and no clearing"));
            }
        }
        Ok(())
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
    use super::naive::tests::{bid, offer};
    use super::*;
    use gridbay_protocol::clearing::clearing_id;
    use gridbay_protocol::units::Credits;

    const CLASS: ClassId = ClassId([7; 32]);
    const CALENDAR: Calendar = Calendar {
        round_heights: 4,
        slot_rounds: 2,
    };

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
        let sale = market().sale(&CLASS, 8, &CALENDAR);
        let (awards, sold) = naive::clear(&sale.offers, &sale.bids);
        assert_eq!((awards.len(), sold.len()), (2, 1));
        ClearingRecord {
            id: clearing_id(&CLASS, 8),
            class: CLASS,
            kind: sale.kind,
            height: 8,
            slot: sale.slot,
            heights: sale.heights,
            offers: sale.offers,
            bids: sale.bids,
            awards,
            sold,
        }
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
        assert_eq!(market.compare(&record(), &CALENDAR), Ok(()));
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
        for bad in [left_out, changed, more, disowned, longer] {
            assert!(market.compare(&bad, &CALENDAR).is_err());
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
        assert!(market.complete(&fact, &CALENDAR, &BTreeSet::new()).is_err());
        assert_eq!(market.complete(&fact, &CALENDAR, &[CLASS].into()), Ok(()));
        fact.height = 9;
        fact.effects = vec![Effect::Clearing(record())];
        let none = Clearing::default().block(&fact, &Policy::local());
        assert!(none.is_err(), "not at the close of a round");
    }
}
