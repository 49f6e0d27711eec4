//! The terms of an order in its user's words.

use super::super::contract;
use super::super::market::class_name;
use super::super::plan::reserve::bid_per_node;
use super::super::price::{limit_hourly, seconds};
use super::super::share::hourly;
use crate::api::types::{Ahead, Also, Claim, How, NodeGroup, Start};
use gridbay_core::buy::{
    BidTerms, BuyTerms, DeadlineWish, NewOrder, PostedTerms, ReserveTerms, ShareTerms, Terms,
};
use gridbay_ledger::State;
use gridbay_protocol::class::ClassKey;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Price limit per node-hour, budget, and how the order gets its nodes.
pub(super) fn terms(state: &State, order: &NewOrder) -> (Credits, Credits, How) {
    let class = state.class(&order.class).map(|class| &class.key);
    let (price, budget, mut how) = of(order, class, state.policy());
    if let (How::Buy { also, .. }, Terms::Buy(BuyTerms { parts, .. })) = (&mut how, &order.terms) {
        let others = parts.iter().filter(|part| part.class != order.class);
        also.extend(others.map(|part| Also {
            class: class_name(state, &part.class),
            nodes: part.units,
        }));
    }
    (price, budget, how)
}

fn of(order: &NewOrder, class: Option<&ClassKey>, policy: &Policy) -> (Credits, Credits, How) {
    let (slots, slot_ms) = (order.slots, policy.slot_ms());
    match &order.terms {
        Terms::Sealed(BidTerms {
            steps, min, budget, ..
        }) => {
            let (price, how) = bid(steps, *min);
            (limit_hourly(price, slot_ms), *budget, how)
        }
        Terms::Reserve(reserve) => {
            let units = reserve.groups.iter().map(|g| g.units).sum();
            let price = limit_hourly(bid_per_node(reserve.value, units, slots), slot_ms);
            (price, reserve.value, How::Reservation(ahead(reserve)))
        }
        Terms::Buy(BuyTerms {
            parts,
            limit,
            patience,
            surcharge,
        }) => {
            let units: u64 = parts.iter().map(|part| u64::from(part.units)).sum();
            let price = Price(limit.micros() / units.max(1));
            let how = buy(*patience, *surcharge, policy);
            let most = most(*limit, slots, *surcharge);
            (limit_hourly(price, slot_ms), most, how)
        }
        Terms::Share(ShareTerms {
            offer,
            rate,
            utility,
            weights,
            budget,
            ..
        }) => {
            let rate = hourly(*rate, slot_ms);
            let weights = by_resource(class, weights);
            (rate, *budget, claim(*offer, rate, *utility, weights))
        }
        Terms::Posted(terms) => hired(terms, slots, policy),
        Terms::Deadline(DeadlineWish {
            offer,
            unit_slots,
            soft,
            hard,
            pmax,
            pmin,
            shape,
        }) => {
            let price = limit_hourly(Price(pmax.micros() / (*unit_slots).max(1)), slot_ms);
            let how = How::Deadline {
                soft_seconds: seconds(*soft, slot_ms),
                hard_seconds: seconds(*hard, slot_ms),
                pay: *pmax,
                late_pay: *pmin,
                shape: *shape,
                offer: Some(offer.to_hex()),
                seller: None,
            };
            (price, *pmax, how)
        }
        Terms::Contract(wish) => {
            let price = Price(wish.job.value.micros() / u64::from(slots).max(1));
            let terms = wish.terms(order.class, order.tasks);
            let most = terms.lock().unwrap_or(Credits::MAX);
            let how = contract::how(wish, slot_ms);
            (limit_hourly(price, slot_ms), most, how)
        }
    }
}

fn bid(steps: &[Step], min: u32) -> (Price, How) {
    let units: u32 = steps.iter().map(|s| s.units).sum();
    let price = steps.iter().map(|s| s.price).max().unwrap_or_default();
    let divisible = min < units;
    (price, How::Ausubel { divisible })
}

/// Nothing asks for a hire yet, for the API has no way to say it: shown as what comes closest.
fn hired(terms: &PostedTerms, slots: u32, policy: &Policy) -> (Credits, Credits, How) {
    let slot = terms.limit.times(u64::from(terms.units));
    let most = most(slot.unwrap_or(Credits::MAX), slots, Credits::ZERO);
    let price = limit_hourly(terms.limit, policy.slot_ms());
    (price, most, buy(0, Credits::ZERO, policy))
}

/// What a buy can cost: the rest of the running slot, all its slots, and the surcharge.
fn most(limit: Credits, slots: u32, surcharge: Credits) -> Credits {
    let slots = limit.checked_mul(u64::from(slots) + 1);
    let most = slots.and_then(|slots| slots.checked_add(surcharge));
    most.unwrap_or(Credits::MAX)
}

fn claim(offer: OfferId, rate: Credits, utility: Utility, weights: BTreeMap<String, u32>) -> How {
    How::Share(Claim {
        offer: Some(offer),
        rate,
        utility,
        weights: Some(weights),
        program: None,
    })
}

fn buy(patience: u64, surcharge: Credits, policy: &Policy) -> How {
    let waits = patience.saturating_mul(policy.block_interval_ms) / 1_000;
    How::Buy {
        wait_seconds: u32::try_from(waits).unwrap_or(u32::MAX),
        surcharge,
        also: Vec::new(),
    }
}

fn ahead(reserve: &ReserveTerms) -> Ahead {
    let groups = reserve.groups.iter().map(|group| NodeGroup {
        nodes: group.units,
        offers: group.offers.clone(),
    });
    Ahead {
        groups: groups.collect(),
        from: Start::Slot(reserve.earliest),
        until: Some(Start::Slot(reserve.latest)),
        channels: reserve.channels,
    }
}

/// The weights of a claim under the names of the resources.
fn by_resource(class: Option<&ClassKey>, weights: &[u32]) -> BTreeMap<String, u32> {
    let names = class.into_iter().flat_map(ClassKey::resources);
    let names = names.map(|resource| resource.name().to_owned());
    names.zip(weights.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::key::OrderKey;
    use gridbay_protocol::ids::ClassId;
    use gridbay_protocol::job::JobSpec;
    use gridbay_protocol::order::BuyPart;

    /// Two slots of two seconds each.
    fn shown(terms: Terms) -> (Credits, Credits, How) {
        let order = NewOrder {
            key: OrderKey(1),
            entropy: [1; 32],
            name: "x".into(),
            accepted_ms: 0,
            worth: None,
            class: ClassId([1; 32]),
            terms,
            slots: 2,
            tasks: 4,
            spec: JobSpec {
                argv: vec![],
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 4,
            },
        };
        of(&order, None, &Policy::local())
    }

    #[test]
    fn terms_are_shown_per_node_hour() {
        let ten: Credits = "10".parse().unwrap();
        let budget: Credits = "3".parse().unwrap();
        let sealed = |min| {
            Terms::Sealed(BidTerms {
                steps: vec![Step {
                    units: 4,
                    price: Price(5_555),
                }],
                min,
                budget,
                patience: 9,
            })
        };
        assert_eq!(shown(sealed(4)), (ten, budget, How::BID));
        assert!(shown(sealed(1)).2.is_divisible());
        let limit = Credits::from_micros(4 * 5_555).unwrap();
        let buy = Terms::Buy(BuyTerms {
            parts: vec![BuyPart::anywhere(ClassId([1; 32]), 4)],
            limit,
            patience: 0,
            surcharge: Credits::ZERO,
        });
        let most = limit.checked_mul(3).unwrap();
        assert_eq!(shown(buy), (ten, most, How::BUY));
    }
}
