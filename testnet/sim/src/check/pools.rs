//! I5 for pools: a sharing covers exactly the claims and units that there are, and its awards
//! follow from them.
//!
//! Claims of the boundary's own block are in the record and not yet in the copy; nothing is said
//! about them.

use gridbay_ledger::State;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::offer::PoolTerms;
use gridbay_protocol::order::Claim;
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Pools and claims as a state holds them, then as the effects of the next block leave them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    claims: BTreeMap<OrderId, Claim>,
    /// Units in leases of claims.
    held: BTreeMap<OrderId, u32>,
    pools: BTreeMap<OfferId, (u32, Price, PoolTerms)>,
}

impl Pools {
    pub(super) fn of(state: &State) -> Pools {
        let claim = |(id, order): (&OrderId, &gridbay_ledger::Order)| {
            Some((*id, order.share()?.claim.clone()))
        };
        let claims: BTreeMap<OrderId, Claim> = state.orders().filter_map(claim).collect();
        let leases = state
            .leases()
            .map(|(_, lease)| (lease.order, lease.units()));
        let pool = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
            let terms = offer.pool()?;
            Some((*id, (offer.terms.units, offer.terms.reserve, terms)))
        };
        Pools {
            held: leases
                .filter(|(order, _)| claims.contains_key(order))
                .collect(),
            pools: state.offers().filter_map(pool).collect(),
            claims,
        }
    }
    pub(super) fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Order { order, .. } => {
                self.claims.remove(order);
            }
            Effect::Lease(LeaseEvent::Ended { order, .. }) => {
                self.held.remove(order);
            }
            _ => {}
        }
    }
    /// Whether a record has the claims and units that the copy has. `firm` says how many units of
    /// an offer firm leases hold, those of claims among them.
    pub(super) fn compare(
        &self,
        record: &Sharing,
        firm: impl Fn(&OfferId) -> u32,
    ) -> Result<(), String> {
        let on_pool = self.claims.iter().filter(|(_, c)| c.offer == record.offer);
        let expected: BTreeMap<OrderId, &Claim> = on_pool.map(|(id, c)| (*id, c)).collect();
        let recorded: BTreeSet<OrderId> = record.claims.iter().map(|c| c.order).collect();
        if let Some(missing) = expected.keys().find(|id| !recorded.contains(id)) {
            return Err(format!("claim {missing} is not in {record:?}"));
        }
        for entered in &record.claims {
            let claim = expected.get(&entered.order);
            if claim.is_some_and(|claim| !is_of(entered, claim)) {
                return Err(format!("{entered:?} is not what {claim:?} says"));
            }
        }
        let own: u32 = expected.keys().filter_map(|id| self.held.get(id)).sum();
        let Some((units, reserve, terms)) = self.pools.get(&record.offer) else {
            return Err(format!("what was shared is no pool: {record:?}"));
        };
        let left = units.saturating_sub(firm(&record.offer).saturating_sub(own));
        if (left, *reserve, *terms) != (record.units, record.reserve, record.terms) {
            return Err(format!(
                "{left} units at {reserve:?} were to share: {record:?}"
            ));
        }
        Ok(())
    }
}

fn is_of(entered: &SharingClaim, claim: &Claim) -> bool {
    entered.rate == claim.rate
        && entered.utility == claim.utility
        && entered.weights == claim.weights
        && entered.tasks == claim.tasks
}

/// Whether a sharing is at its time and its awards follow from its input.
pub(super) fn recompute(record: &Sharing, height: u64, calendar: &Calendar) -> Result<(), String> {
    let whole = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
    if record.height != height || height != whole * record.slot {
        return Err(format!("no time to share a pool: {record:?}"));
    }
    let sorted = record.claims.windows(2).all(|w| w[0].order < w[1].order);
    let awards = record.divide();
    if !sorted || awards != record.awards {
        return Err(format!(
            "the sharing should have come to {awards:?}: {record:?}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
    use gridbay_protocol::mechanism::share::Utility;
    use gridbay_protocol::units::Credits;

    const CALENDAR: Calendar = Calendar {
        round_heights: 4,
        slot_rounds: 2,
    };
    const OFFER: OfferId = OfferId([1; 32]);
    const ORDER: OrderId = OrderId([2; 32]);
    const TERMS: PoolTerms = PoolTerms {
        cap_ppm: 1_000_000,
        sixteenths: 8,
    };

    fn record() -> Sharing {
        let mut record = Sharing {
            offer: OFFER,
            class: ClassId([3; 32]),
            height: 8,
            slot: 1,
            units: 2,
            reserve: Price(16),
            terms: TERMS,
            draw: Hash32([4; 32]),
            claims: vec![SharingClaim {
                order: ORDER,
                sponsor: AccountId([5; 32]),
                rate: Credits::from_micros(900).unwrap(),
                utility: Utility::Log,
                weights: vec![1, 1],
                tasks: 9,
            }],
            awards: vec![],
        };
        record.awards = record.divide();
        record
    }
    fn pools() -> Pools {
        let entered = &record().claims[0];
        let claim = Claim {
            offer: OFFER,
            rate: entered.rate,
            utility: entered.utility,
            weights: entered.weights.clone(),
            tasks: entered.tasks,
            slots: 5,
            budget: Credits::MAX,
            stands_until: 99,
            work: Hash32([6; 32]),
        };
        Pools {
            claims: BTreeMap::from([(ORDER, claim)]),
            held: BTreeMap::from([(ORDER, 1)]),
            pools: BTreeMap::from([(OFFER, (2, Price(16), TERMS))]),
        }
    }

    #[test]
    fn other_awards_times_claims_and_units_are_reported() {
        assert_eq!(recompute(&record(), 8, &CALENDAR), Ok(()));
        assert!(recompute(&record(), 16, &CALENDAR).is_err());
        let mut dear = record();
        dear.awards[0].pay = Credits::from_micros(1).unwrap();
        assert!(recompute(&dear, 8, &CALENDAR).is_err());
        // The one unit held firmly is the claim's own.
        assert_eq!(pools().compare(&record(), |_| 1), Ok(()));
        assert!(pools().compare(&record(), |_| 2).is_err());
        let mut without = record();
        without.claims.clear();
        assert!(pools().compare(&without, |_| 1).is_err());
        let mut rich = record();
        rich.claims[0].rate = Credits::MAX;
        assert!(pools().compare(&rich, |_| 1).is_err());
    }
}
