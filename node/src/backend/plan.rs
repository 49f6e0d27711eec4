//! From what a user wants to what an order says.
//!
//! 1. Time becomes whole slots, rounded up. An order that starts inside a slot also pays the rest of
//!    that one, so its most is reckoned with one slot more.
//! 2. Without a price limit a bid takes twice the going price: the last mean price, or the reserve of
//!    the cheapest offers that have enough units, whichever is more; the class's reference price if
//!    there is neither. Winners pay what they displace, so a high bid costs nothing by itself. A buy
//!    without a limit pays the asked prices and not more.
//! 3. Without a budget an order may cost its most. A buy is prepaid, so a budget lowers its limit.
//! 4. Reservations: see [`reserve`].

pub(super) mod buy;
pub(super) mod reserve;

use super::Answer;
use super::failure::usage;
use super::market::Market;
use super::price::limit_hourly;
use crate::api::ApiError;
use crate::api::types::{DeadlineQuote, How, Quote, Want};
use gridbay_core::buy::{BidTerms, Terms};
use gridbay_protocol::limits;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, MS_PER_HOUR, Price};

/// For how long an order stands without running before it gives up, in milliseconds.
const PATIENCE_MS: u64 = MS_PER_HOUR;

/// What an order would say and cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How units are bought.
    pub(super) terms: Terms,
    /// Full slots.
    pub(super) slots: u32,
    /// Price limit per node-hour.
    pub(super) max_price: Credits,
    /// The most it can cost.
    pub(super) most: Credits,
    /// What it likely costs.
    pub(super) likely: Option<Credits>,
    /// What must be free at once.
    pub(super) needed_now: Credits,
    /// What the seller's plan says to a job by a deadline.
    pub(super) deadline: Option<DeadlineQuote>,
    /// The least that a reservation may bid.
    pub(super) posted: Option<Credits>,
}

/// Plans an order. `last` is the mean price per node-hour of the last sale.
pub(super) fn plan(want: &Want, market: &Market, last: Option<Credits>) -> Answer<Plan> {
    let slots = slots(want, market)?;
    if !(1..=limits::ORDER_UNITS).contains(&want.nodes) {
        let most = limits::ORDER_UNITS;
        return Err(usage(
            format!("{} nodes", want.nodes),
            format!("ask for 1 to {most} nodes"),
        ));
    }
    match &want.how {
        How::Ausubel { divisible } => bid(want, *divisible, market, slots, last),
        How::Buy { also, .. } if also.is_empty() => buy::buy(want, market, &[], slots),
        How::Buy { .. } => Err(usage(
            "a buy of several classes",
            "quote it with the ledger at hand",
        )),
        How::Deadline { .. } => Err(usage(
            "a deadline is for its seller to plan",
            "quote it with the ledger at hand",
        )),
        How::Contract(_) => Err(usage(
            "a contract without its provider",
            "name the provider of the contract",
        )),
        How::Reservation(ahead) => reserve::reserve(want, ahead, market, slots),
        How::Share(claim) => super::share::plan(want, claim, market, slots),
    }
}

/// Whole slots that cover the wanted seconds.
pub(super) fn slots(want: &Want, market: &Market) -> Answer<u32> {
    let slot_ms = market.policy.slot_ms().max(1);
    let wide = (u64::from(want.seconds) * 1_000).div_ceil(slot_ms);
    let most = match want.how {
        How::Ausubel { .. } | How::Deadline { .. } | How::Share(_) => limits::ORDER_SLOTS,
        // The provider buys units for the whole of a job.
        How::Contract(_) | How::Buy { .. } => market.policy.max_firm_slots,
        How::Reservation(_) => market.policy.reservation.slots,
    };
    match u32::try_from(wide) {
        Ok(slots) if (1..=most).contains(&slots) => Ok(slots),
        _ => {
            let longest = u64::from(most).saturating_mul(slot_ms) / 1_000;
            let hint = format!("an order runs for 1 to {longest} seconds here");
            Err(usage(format!("{} seconds", want.seconds), hint))
        }
    }
}

fn bid(
    want: &Want,
    divisible: bool,
    market: &Market,
    slots: u32,
    last: Option<Credits>,
) -> Answer<Plan> {
    let slot_ms = market.policy.slot_ms();
    let price = match want.max_price {
        Some(most) => Price::from_hourly(most, slot_ms).ok_or_else(too_much)?,
        None => default_price(want.nodes, market, last),
    };
    let slot = price.times(u64::from(want.nodes)).ok_or_else(too_much)?;
    let all = slot
        .checked_mul(u64::from(slots) + 1)
        .ok_or_else(too_much)?;
    let budget = want.budget.unwrap_or(all);
    let most = all.min(budget);
    let bracket = u64::from(want.nodes.next_power_of_two());
    let deposit = market.reference.times(bracket).ok_or_else(too_much)?;
    let likely = last.and_then(|hourly| {
        let price = Price::from_hourly(hourly, slot_ms)?.min(price);
        price
            .times(u64::from(want.nodes))?
            .checked_mul(u64::from(slots))
    });
    Ok(Plan {
        terms: Terms::Sealed(BidTerms {
            steps: vec![Step {
                units: want.nodes,
                price,
            }],
            min: if divisible { 1 } else { want.nodes },
            budget,
            patience: patience(market),
        }),
        slots,
        max_price: want
            .max_price
            .unwrap_or_else(|| limit_hourly(price, slot_ms)),
        most,
        likely: likely.map(|l| l.min(most)),
        needed_now: deposit.max(slot),
        deadline: None,
        posted: None,
    })
}

/// Twice the going price; see the module.
fn default_price(nodes: u32, market: &Market, last: Option<Credits>) -> Price {
    let last = last.and_then(|hourly| Price::from_hourly(hourly, market.policy.slot_ms()));
    let reserve = market.reserve_of(nodes).or(market.lowest_reserve());
    let going = last
        .max(reserve)
        .filter(|p| p.0 > 0)
        .unwrap_or(market.reference);
    Price(going.0.saturating_mul(2).min(Price::MAX.0))
}

pub(super) fn patience(market: &Market) -> u64 {
    let heights = PATIENCE_MS / market.policy.block_interval_ms.max(1);
    heights.clamp(
        market.policy.calendar.slot_heights(),
        limits::ORDER_WINDOW - 1,
    )
}

pub(super) fn too_much() -> ApiError {
    usage(
        "amounts beyond the range of money",
        "lower the price, the nodes or the time",
    )
}

/// The quote of a plan. `spendable` is what the account could spend now.
pub(super) fn quote(want: &Want, market: &Market, plan: &Plan, spendable: Credits) -> Quote {
    Quote {
        class: market.name.clone(),
        nodes: want.all_nodes(),
        seconds: market.seconds(plan.slots),
        slots: plan.slots,
        max_price: plan.max_price,
        most: plan.most,
        likely: plan.likely,
        posted: plan.posted,
        needed_now: plan.needed_now,
        spendable,
        funded: plan.most <= spendable,
        units_offered: match want.how {
            How::Reservation(_) => market.reservable(),
            _ => market.supply(),
        },
        units_free: market.free(),
        deadline: plan.deadline.clone(),
        share: market.pool.as_ref().map(super::share::outlook),
    }
}

#[cfg(test)]
mod tests {
    use super::super::market::tests::market;
    use super::*;
    use crate::api::ErrorCode;
    use gridbay_core::buy::BuyTerms;
    use gridbay_protocol::ids::{ClassId, Hash32};
    use gridbay_protocol::order::{Bid, Buy};

    fn want(nodes: u32, seconds: u32) -> Want {
        Want {
            class: None,
            nodes,
            max_price: Some("10".parse().unwrap()),
            seconds,
            budget: None,
            how: How::BID,
        }
    }

    #[test]
    fn time_becomes_slots_and_a_slot_more_is_reckoned_with() {
        let market = market(&[(8, 8, 50, None)]);
        let plan = plan(&want(2, 5), &market, None).unwrap();
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
    fn every_plan_is_a_legal_bid_or_buy() {
        let market = market(&[(4_096, 4_096, 50, Some(70))]);
        for nodes in [1, 3, limits::ORDER_UNITS] {
            for seconds in [1, 2, 3_600, 80_000] {
                for how in [How::BID, How::Ausubel { divisible: true }, How::BUY] {
                    let want = Want {
                        how: how.clone(),
                        max_price: None,
                        ..want(nodes, seconds)
                    };
                    let plan = plan(&want, &market, None).unwrap();
                    let (class, work) = (ClassId([1; 32]), Hash32([2; 32]));
                    let slots = plan.slots;
                    let legal = match plan.terms {
                        Terms::Sealed(BidTerms {
                            steps, min, budget, ..
                        }) => {
                            let stands_until = 100;
                            let bid = Bid {
                                class,
                                steps,
                                min,
                                slots,
                                budget,
                                stands_until,
                                work,
                            };
                            bid.check().is_ok()
                                && bid.units() == nodes
                                && bid.value(nodes) <= budget
                        }
                        Terms::Deadline(_) => panic!("not asked for"),
                        Terms::Buy(BuyTerms {
                            parts,
                            limit,
                            patience,
                            surcharge,
                        }) => {
                            let buy = Buy {
                                parts,
                                slots,
                                limit,
                                stands_until: patience,
                                surcharge,
                                work,
                            };
                            buy.check().is_ok() && limit.micros() == 70 * u64::from(nodes)
                        }
                        _ => panic!("planned elsewhere"),
                    };
                    assert!(legal, "{want:?}");
                }
            }
        }
    }

    #[test]
    fn out_of_range() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let code = |want: &Want| plan(want, &market, None).unwrap_err().code;
        assert_eq!(code(&want(0, 1)), ErrorCode::Usage);
        assert_eq!(code(&want(limits::ORDER_UNITS + 1, 1)), ErrorCode::Usage);
        assert_eq!(code(&want(1, 0)), ErrorCode::Usage);
        assert_eq!(code(&want(1, u32::MAX)), ErrorCode::Usage);
        let dear = Want {
            max_price: Some(Credits::MAX),
            ..want(1, 1)
        };
        assert_eq!(code(&dear), ErrorCode::Usage);
        let many = Want {
            how: How::BUY,
            max_price: None,
            ..want(9, 1)
        };
        assert_eq!(code(&many), ErrorCode::NoMatch);
        let long = Want {
            how: How::BUY,
            ..want(1, 100_000)
        };
        assert_eq!(
            code(&long),
            ErrorCode::Usage,
            "longer than a buy may prepay"
        );
    }

    #[test]
    fn a_bid_without_a_limit_takes_twice_the_going_price() {
        let free = Want {
            max_price: None,
            ..want(3, 2)
        };
        let price = |market: &Market, last: Option<u64>| {
            let last = last.map(|p| Price(p).hourly(2_000));
            match plan(&free, market, last).unwrap().terms {
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
    fn who_waits_offers_the_reference_price_at_least() {
        // The reference price is 100, sellers ask 70.
        let market = market(&[(8, 8, 50, Some(70))]);
        let wish = |wait_seconds, price: Option<u64>| Want {
            how: How::Buy {
                wait_seconds,
                surcharge: Credits::ZERO,
                also: vec![],
            },
            max_price: price.map(|p| Price(p).hourly(2_000)),
            ..want(2, 18)
        };
        let limit = |wish: &Want| match plan(wish, &market, None).unwrap().terms {
            Terms::Buy(BuyTerms {
                limit, patience, ..
            }) => (limit.micros(), patience),
            _ => panic!("a buy"),
        };
        assert_eq!(limit(&wish(0, None)), (140, 0));
        assert_eq!(limit(&wish(60, None)), (200, 240));
        assert_eq!(limit(&wish(60, Some(150))), (300, 240));
        let mean = plan(&wish(60, Some(90)), &market, None);
        assert_eq!(mean.unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn a_budget_bounds_what_is_spent() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let budget = Credits::from_micros(1_000);
        let buy = Want {
            how: How::BUY,
            budget,
            max_price: None,
            ..want(2, 18)
        };
        let plan_of_buy = plan(&buy, &market, None).unwrap();
        assert_eq!(plan_of_buy.most.micros(), 1_000, "ten slots at 100");
        let bid = Want {
            budget,
            ..want(2, 18)
        };
        assert_eq!(plan(&bid, &market, None).unwrap().most.micros(), 1_000);
    }

    #[test]
    fn quotes() {
        let market = market(&[(8, 3, 50, Some(70))]);
        let want = Want {
            how: How::BUY,
            max_price: None,
            ..want(2, 3)
        };
        let plan = plan(&want, &market, None).unwrap();
        let quote = quote(&want, &market, &plan, "1".parse().unwrap());
        assert_eq!((quote.slots, quote.seconds), (2, 4));
        assert_eq!((quote.units_offered, quote.units_free), (8, 3));
        // Height 18 is the second of its slot of eight: seven are left.
        assert_eq!(
            quote.likely.unwrap().micros(),
            2 * 140 + (140 * 7u64).div_ceil(8)
        );
        assert!(quote.funded && quote.most.micros() == 3 * 140);
    }
}
