//! The terms of a bid.
//!
//! Without a price limit a bid takes twice the going price: the last mean price, or the reserve of
//! the cheapest offers that have enough units, whichever is more; the class's reference price if
//! there is neither. Winners pay the value that they displace, so a high bid costs nothing by
//! itself. Without a budget the order may cost its most.

use super::{BidHow, JobWorth};
use crate::backend::failure::usage;
use crate::market::Market;
use crate::market::desk::Answer;
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Floor, Plan, Said, Shelf, patience, too_much};
use gridbay_core::buy::{BidTerms, Terms, Worth};
use gridbay_protocol::limits;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};

impl BidHow {
    /// Plans a bid. `last` is the mean price per node-hour of the last clearing.
    pub(super) fn planned(
        &self,
        market: &Market,
        last: Option<Credits>,
        ask: &Ask,
    ) -> Answer<Plan> {
        let slots = ask.slots(market, limits::ORDER_SLOTS)?;
        ask.in_range()?;
        let slot_ms = market.policy.slot_ms();
        let price = match ask.max_price {
            Some(most) => Price::from_hourly(most, slot_ms).ok_or_else(too_much)?,
            None => default_price(ask.nodes, market, last),
        };
        let slot = price.times(u64::from(ask.nodes)).ok_or_else(too_much)?;
        let all = slot
            .checked_mul(u64::from(slots) + 1)
            .ok_or_else(too_much)?;
        let budget = ask.budget.unwrap_or(all);
        let most = all.min(budget);
        let fewest = if self.divisible { 1 } else { ask.nodes };
        let least = market.reserve_of(fewest);
        let bracket = u64::from(ask.nodes.next_power_of_two());
        let deposit = market.reference.times(bracket).ok_or_else(too_much)?;
        let likely = last.and_then(|hourly| {
            let price = Price::from_hourly(hourly, slot_ms)?.min(price);
            price
                .times(u64::from(ask.nodes))?
                .checked_mul(u64::from(slots))
        });
        Ok(Plan {
            terms: Terms::Sealed(BidTerms {
                steps: vec![Step {
                    units: ask.nodes,
                    price,
                }],
                min: fewest,
                budget,
                patience: patience(market),
            }),
            slots,
            max_price: ask
                .max_price
                .unwrap_or_else(|| limit_hourly(price, slot_ms)),
            most,
            likely: likely.map(|l| l.min(most)),
            needed_now: deposit.max(slot),
            worth: None,
            shelf: Shelf {
                floor: Floor {
                    asked: least.map(|least| limit_hourly(least, slot_ms)),
                    missed: least.is_some_and(|least| price < least),
                },
                ..Shelf::of(market)
            },
            said: Said::Nothing,
        })
    }
}

/// Twice the going price. It is doubled as people see it, per node-hour: twice a price that was
/// rounded down to a slot is no round price any more.
fn default_price(nodes: u32, market: &Market, last: Option<Credits>) -> Price {
    let last = last.and_then(|hourly| Price::from_hourly(hourly, market.policy.slot_ms()));
    let reserve = market.reserve_of(nodes).or(market.lowest_reserve());
    let going = last
        .max(reserve)
        .filter(|p| p.0 > 0)
        .unwrap_or(market.reference);
    let slot_ms = market.policy.slot_ms();
    let hourly = limit_hourly(going, slot_ms).checked_mul(2);
    let twice = hourly.and_then(|hourly| Price::from_hourly(hourly, slot_ms));
    twice.unwrap_or(Price::MAX)
}

/// The plan of a bid that follows the job's worth. Its length in whole slots, rounded up, fits the
/// order's time.
pub(super) fn by_worth(
    mut plan: Plan,
    asked: &JobWorth,
    market: &Market,
    ask: &Ask,
) -> Answer<Plan> {
    if asked.length_seconds == 0 || asked.length_seconds > ask.seconds {
        let what = format!("a job of {} seconds", asked.length_seconds);
        let hint = format!(
            "it has {} seconds at most: give it more --time",
            ask.seconds
        );
        return Err(usage(what, hint));
    }
    let slot_ms = market.policy.slot_ms().max(1);
    let slots = (u64::from(asked.length_seconds) * 1_000).div_ceil(slot_ms);
    let worth = Worth {
        worth: asked.worth,
        length: u32::try_from(slots).unwrap_or(u32::MAX),
    };
    if let Terms::Sealed(bid) = &mut plan.terms {
        let (units, price) = (ask.nodes, worth.bid(worth.length, ask.nodes));
        bid.steps = vec![Step { units, price }];
    }
    plan.worth = Some(worth);
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;
    use crate::market::tests::market;
    use gridbay_protocol::ids::{ClassId, Hash32};
    use gridbay_protocol::order::Bid;

    const BID: BidHow = BidHow { divisible: false };

    fn ask(nodes: u32, seconds: u32) -> Ask {
        Ask {
            nodes,
            max_price: Some("10".parse().unwrap()),
            seconds,
            budget: None,
        }
    }

    #[test]
    fn time_becomes_slots_and_a_slot_more_is_reckoned_with() {
        let market = market(&[(8, 8, 50, None)]);
        let plan = BID.planned(&market, None, &ask(2, 5)).unwrap();
        assert_eq!(plan.slots, 3, "slots of two seconds");
        assert_eq!(plan.most.micros(), 5_555 * 2 * 4);
        assert_eq!(plan.max_price.to_string(), "10");
        assert_eq!(plan.needed_now.micros(), 2 * 5_555);
        let Terms::Sealed(BidTerms {
            steps,
            min,
            budget,
            patience,
        }) = plan.terms
        else {
            panic!("a bid")
        };
        assert_eq!(
            steps,
            [Step {
                units: 2,
                price: Price(5_555)
            }]
        );
        assert_eq!((min, budget, patience), (2, plan.most, 14_400));
    }

    #[test]
    fn a_bid_without_a_limit_takes_twice_the_going_price() {
        let free = Ask {
            max_price: None,
            ..ask(3, 2)
        };
        let price = |market: &Market, last: Option<u64>| {
            let last = last.map(|p| Price(p).hourly(2_000));
            match BID.planned(market, last, &free).unwrap().terms {
                Terms::Sealed(BidTerms { steps, .. }) => steps[0].price.0,
                _ => panic!("a bid"),
            }
        };
        assert_eq!(price(&market(&[]), None), 200, "the reference price is 100");
        assert_eq!(
            price(&market(&[(2, 2, 50, None), (2, 2, 70, None)]), None),
            140
        );
        assert_eq!(price(&market(&[(9, 9, 50, None)]), Some(300)), 600);
        assert_eq!(price(&market(&[(9, 9, 50, None)]), Some(3)), 100);
    }

    #[test]
    fn the_price_that_is_taken_is_a_round_one() {
        // A credit an hour is 555 millionths a slot, and two are 1,111.
        let market = market(&[(2, 2, 555, None)]);
        let free = Ask {
            max_price: None,
            ..ask(1, 3_600)
        };
        let plan = BID.planned(&market, None, &free).unwrap();
        assert_eq!(plan.max_price.to_string(), "2");
        let Terms::Sealed(terms) = plan.terms else {
            panic!("a bid")
        };
        assert_eq!(terms.steps[0].price, Price(1_111));
        let dear = super::default_price(1, &super::tests::market(&[(2, 2, u64::MAX, None)]), None);
        assert_eq!(dear, Price::MAX);
    }

    #[test]
    fn a_bid_below_what_sellers_ask_is_told_apart() {
        let market = market(&[(1, 1, 50, None), (4, 4, 555, None)]);
        let floor = |divisible, nodes, most: &str| {
            let most = Some(most.parse().unwrap());
            let ask = Ask {
                max_price: most,
                ..ask(nodes, 2)
            };
            let plan = BidHow { divisible }.planned(&market, None, &ask).unwrap();
            let floor = plan.shelf.floor;
            (floor.asked.map(|asked| asked.to_string()), floor.missed)
        };
        let one = Some("1".to_owned());
        assert_eq!(floor(false, 2, "0"), (one.clone(), true));
        assert_eq!(floor(false, 2, "0.5"), (one.clone(), true));
        assert_eq!(floor(false, 2, "1"), (one, false));
        assert!(!floor(true, 2, "0.5").1, "one of its nodes is to be had");
        assert_eq!(
            floor(false, 9, "0.5"),
            (None, false),
            "too few for any price"
        );
    }

    #[test]
    fn every_plan_is_a_legal_bid() {
        let market = market(&[(4_096, 4_096, 50, None)]);
        for (nodes, seconds) in [1, 3, limits::ORDER_UNITS]
            .iter()
            .flat_map(|nodes| [1, 2, 3_600, 80_000].map(|seconds| (*nodes, seconds)))
        {
            for divisible in [false, true] {
                let free = Ask {
                    max_price: None,
                    ..ask(nodes, seconds)
                };
                let plan = BidHow { divisible }.planned(&market, None, &free).unwrap();
                let Terms::Sealed(terms) = plan.terms else {
                    panic!("a bid")
                };
                let bid = Bid {
                    class: ClassId([1; 32]),
                    steps: terms.steps,
                    min: terms.min,
                    slots: plan.slots,
                    budget: terms.budget,
                    stands_until: 100,
                    work: Hash32([2; 32]),
                };
                assert!(bid.check().is_ok() && bid.units() == nodes, "{free:?}");
                assert!(bid.value(nodes) <= bid.budget, "{free:?}");
            }
        }
    }

    #[test]
    fn out_of_range() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let code = |ask: &Ask| BID.planned(&market, None, ask).unwrap_err().code;
        for (nodes, seconds) in [(0, 1), (limits::ORDER_UNITS + 1, 1), (1, 0), (1, u32::MAX)] {
            assert_eq!(code(&ask(nodes, seconds)), ErrorCode::Usage);
        }
        let dear = Ask {
            max_price: Some(Credits::MAX),
            ..ask(1, 1)
        };
        assert_eq!(code(&dear), ErrorCode::Usage);
    }

    #[test]
    fn a_budget_bounds_what_is_spent() {
        let market = market(&[(8, 8, 50, None)]);
        let poor = Ask {
            budget: Credits::from_micros(1_000),
            ..ask(2, 18)
        };
        let plan = BID.planned(&market, None, &poor).unwrap();
        assert_eq!(plan.most.micros(), 1_000);
    }

    #[test]
    fn a_worth_is_for_whole_slots_and_bids_for_them() {
        let market = market(&[(8, 8, 50, None)]);
        let of = |length_seconds| {
            let worth = JobWorth {
                worth: "2".parse().unwrap(),
                length_seconds,
            };
            let ask = ask(4, 9);
            let plan = BID.planned(&market, None, &ask).unwrap();
            by_worth(plan, &worth, &market, &ask)
        };
        let plan = of(9).unwrap();
        let worth = plan.worth.unwrap();
        assert_eq!((worth.length, worth.worth.to_string().as_str()), (5, "2"));
        assert_eq!(
            plan.terms.bid().unwrap().steps,
            [Step {
                units: 4,
                price: Price(100_000)
            }]
        );
        assert!(of(0).is_err());
        assert!(of(10).is_err(), "longer than its time");
    }
}
