//! The terms of a buy: what the cheapest units ask, unless the user says how much it may be; how long it waits.
//!
//! A buy of several classes asks for the sum over its classes, and the most per node-hour is the mean over its nodes.

use super::{Answer, Market, Plan, limit_hourly, too_much, usage};
use crate::api::types::{Also, How, Want};
use crate::api::{ApiError, ErrorCode};
use crate::backend::market::{class_named, held};
use gridbay_core::buy::{BuyTerms, Terms};
use gridbay_ledger::State;
use gridbay_protocol::limits;
use gridbay_protocol::order::BuyPart;
use gridbay_protocol::units::{Credits, Price};

/// The nodes wanted of one class.
struct Part<'m> {
    nodes: u32,
    market: &'m Market,
}

/// The markets of the further classes of a buy, in the order of the user.
pub(in crate::backend) fn others(
    state: &State,
    want: &Want,
    first: &Market,
) -> Answer<Vec<Market>> {
    let mut others: Vec<Market> = Vec::new();
    let held = held(state);
    for also in want.how.also() {
        let class = class_named(state, Some(&also.class))?;
        let market = Market::of(state, class, &held);
        let twice = others.iter().chain([first]).any(|m| m.id == market.id);
        if also.nodes == 0 || twice {
            let what = format!("{} nodes of class {}", also.nodes, also.class);
            return Err(usage(what, "name each class once, with 1 node at least"));
        }
        others.push(market);
    }
    let most = limits::ORDER_UNITS;
    if others.len() >= limits::BUY_PARTS || want.all_nodes() > most {
        let what = format!("{} nodes of {} classes", want.all_nodes(), others.len() + 1);
        let hint = format!(
            "ask for {most} nodes of {} classes at most",
            limits::BUY_PARTS
        );
        return Err(usage(what, hint));
    }
    Ok(others)
}

/// Plans a buy of a class, and of others together with it.
pub(in crate::backend) fn buy(
    want: &Want,
    market: &Market,
    others: &[Market],
    slots: u32,
) -> Answer<Plan> {
    let How::Buy {
        wait_seconds,
        surcharge,
        also,
    } = &want.how
    else {
        return Err(usage("no buy", "plan it as what it is"));
    };
    let parts = parts(want, market, also, others);
    let (nodes, surcharge) = (want.all_nodes(), *surcharge);
    let slot_ms = market.policy.slot_ms();
    let times = u64::from(slots) + 1;
    let asked = sum(&parts, |part| part.market.asked(part.nodes));
    let least = match wait_seconds {
        0 => Credits::ZERO,
        _ => sum(&parts, |part| {
            part.market.reference.times(part.nodes.into())
        })
        .ok_or_else(too_much)?,
    };
    let limit = match stated(want, &parts, slot_ms)? {
        Some(limit) => limit,
        None => asked.ok_or_else(too_much)?.max(least),
    };
    // All of it is prepaid, so the budget bounds each slot.
    let within = want.budget.and_then(|budget| {
        let for_slots = budget.saturating_sub(surcharge);
        for_slots.share_floor(1, times)
    });
    let limit = within.map_or(limit, |within| within.min(limit));
    if limit < least {
        let mean = Price(least.micros().div_ceil(u64::from(nodes.max(1))));
        let hourly = limit_hourly(mean, slot_ms);
        let hint = format!("offer {hourly} per node-hour, or leave --wait out");
        return Err(usage("too little for a place in the queue", hint));
    }
    let most = limit
        .checked_mul(times)
        .and_then(|most| most.checked_add(surcharge))
        .ok_or_else(too_much)?;
    let likely = asked.and_then(|asked| {
        let rest = asked.share_ceil(left(market), market.policy.calendar.slot_heights())?;
        asked.checked_mul(u64::from(slots))?.checked_add(rest)
    });
    let per_node = limit.micros() / u64::from(nodes.max(1));
    Ok(Plan {
        terms: Terms::Buy(BuyTerms {
            parts: by_class(&parts),
            limit,
            patience: heights_of(*wait_seconds, market.policy.block_interval_ms),
            surcharge,
        }),
        slots,
        max_price: want
            .max_price
            .unwrap_or_else(|| limit_hourly(Price(per_node), slot_ms)),
        most,
        likely: likely.map(|l| l.min(most)),
        needed_now: most,
        deadline: None,
        posted: None,
    })
}

/// The nodes of each class, the first one's first.
fn parts<'m>(
    want: &Want,
    market: &'m Market,
    also: &[Also],
    others: &'m [Market],
) -> Vec<Part<'m>> {
    let first = Part {
        nodes: want.nodes,
        market,
    };
    let others = also.iter().zip(others).map(|(also, market)| Part {
        nodes: also.nodes,
        market,
    });
    [first].into_iter().chain(others).collect()
}

/// The limit per slot that the user states, if he does. Units must be for sale: a group that lacks them in one class would
/// lock its money for the others in vain, whatever it pays.
fn stated(want: &Want, parts: &[Part<'_>], slot_ms: u64) -> Answer<Option<Credits>> {
    let lacks = |part: &&Part<'_>| part.market.asked(part.nodes).is_none();
    let lacking = parts.iter().find(lacks);
    match (want.max_price, lacking) {
        (None, None) => Ok(None),
        (None, Some(lacking)) => Err(nothing_to_buy(lacking)),
        (Some(_), Some(lacking)) if parts.len() > 1 => Err(nothing_to_buy(lacking)),
        (Some(most), _) => {
            let price = Price::from_hourly(most, slot_ms).ok_or_else(too_much)?;
            let limit = price.times(want.all_nodes().into());
            Ok(Some(limit.ok_or_else(too_much)?))
        }
    }
}

fn sum(parts: &[Part<'_>], of: impl Fn(&Part<'_>) -> Option<Credits>) -> Option<Credits> {
    let parts = parts.iter().map(of).collect::<Option<Vec<_>>>();
    parts.and_then(Credits::sum)
}

/// Heights of the running slot that are left for an entry of the next block.
fn left(market: &Market) -> u64 {
    let next = market.height.saturating_add(1);
    market.policy.calendar.heights_left(next) + 1
}

fn by_class(parts: &[Part<'_>]) -> Vec<BuyPart> {
    let part = |part: &Part<'_>| BuyPart::anywhere(part.market.id, part.nodes);
    let mut parts: Vec<BuyPart> = parts.iter().map(part).collect();
    parts.sort_unstable_by_key(|part| part.class);
    parts
}

/// Heights that pass in so many seconds, at least one for any.
fn heights_of(seconds: u32, block_interval_ms: u64) -> u64 {
    let heights = (u64::from(seconds) * 1_000).div_ceil(block_interval_ms.max(1));
    heights.min(limits::ORDER_WINDOW - 1)
}

fn nothing_to_buy(part: &Part<'_>) -> ApiError {
    let firm = part
        .market
        .lines
        .iter()
        .filter(|l| l.buy.is_some())
        .map(|l| l.supply)
        .sum::<u32>();
    ApiError::new(
        ErrorCode::NoMatch,
        format!(
            "{} nodes of class {}, {firm} can be bought",
            part.nodes, part.market.name
        ),
        "bid instead, or ask for fewer nodes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::market::tests::market;
    use gridbay_protocol::ids::ClassId;

    /// Two small nodes and as many large ones, for a slot of two seconds.
    fn group(large: u32, max_price: Option<Credits>, wait_seconds: u32) -> Want {
        let also = vec![Also {
            class: "large".into(),
            nodes: large,
        }];
        Want {
            class: None,
            nodes: 2,
            max_price,
            seconds: 2,
            budget: None,
            how: How::Buy {
                wait_seconds,
                surcharge: Credits::ZERO,
                also,
            },
        }
    }

    fn planned(want: &Want) -> Answer<Plan> {
        let small = market(&[(8, 8, 50, Some(70))]);
        let mut large = market(&[(4, 4, 50, Some(200))]);
        (large.id, large.reference) = (ClassId([0; 32]), Price(500));
        buy(want, &small, &[large], 1)
    }

    #[test]
    fn a_group_pays_the_sum_of_what_is_asked_and_names_its_classes_in_order() {
        let want = group(3, None, 0);
        assert_eq!(want.all_nodes(), 5);
        let plan = planned(&want).unwrap();
        let Terms::Buy(BuyTerms { parts, limit, .. }) = plan.terms else {
            panic!("a buy");
        };
        let part = BuyPart::anywhere;
        let expected = [part(ClassId([0; 32]), 3), part(ClassId([1; 32]), 2)];
        assert_eq!(parts, expected);
        assert_eq!(limit.micros(), 2 * 70 + 3 * 200);
        assert_eq!(plan.most.micros(), 2 * limit.micros());
        // Who waits offers the sum of the reference prices.
        let plan = planned(&group(3, None, 60)).unwrap();
        assert_eq!(plan.most.micros(), 2 * (2 * 100 + 3 * 500));
    }

    #[test]
    fn a_group_that_lacks_units_of_a_class_is_told_which() {
        for price in [None, Some("10".parse().unwrap())] {
            let error = planned(&group(5, price, 0)).unwrap_err();
            assert_eq!(error.code, ErrorCode::NoMatch);
        }
        let stated = Price(300).hourly(2_000);
        let plan = planned(&group(3, Some(stated), 0)).unwrap();
        assert_eq!(plan.most.micros(), 2 * 5 * 300, "the mean over all nodes");
    }

    #[test]
    fn waiting_is_counted_in_blocks_and_bounded() {
        assert_eq!(heights_of(0, 250), 0);
        assert_eq!(heights_of(600, 250), 2_400);
        assert_eq!(heights_of(1, 60_000), 1);
        assert_eq!(heights_of(u32::MAX, 10), limits::ORDER_WINDOW - 1);
    }
}
