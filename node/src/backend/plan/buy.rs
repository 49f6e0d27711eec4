//! The terms of a buy: what the cheapest units ask, unless the user says how much it may be; how long it waits.
//!
//! A buy of several classes asks for the sum over its classes, and the most per node-hour is the mean over its nodes.

use super::{Answer, Market, Plan, limit_hourly, too_much, usage};
use crate::api::types::{How, Want};
use crate::api::{ApiError, ErrorCode};
use crate::backend::market::{class_named, held};
use gridbay_core::buyer::Terms;
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
    let first = Part {
        nodes: want.nodes,
        market,
    };
    let others = also.iter().zip(others).map(|(also, market)| Part {
        nodes: also.nodes,
        market,
    });
    let parts: Vec<Part<'_>> = [first].into_iter().chain(others).collect();
    let (nodes, surcharge) = (want.all_nodes(), *surcharge);
    let slot_ms = market.policy.slot_ms();
    let times = u64::from(slots) + 1;
    // A group that lacks units of a class would lock its money in vain.
    let lacking = parts
        .iter()
        .find(|part| part.market.asked(part.nodes).is_none());
    let asked = sum(&parts, |part| part.market.asked(part.nodes));
    let reference = sum(&parts, |part| {
        part.market.reference.times(part.nodes.into())
    });
    let least = match wait_seconds {
        0 => Credits::ZERO,
        _ => reference.ok_or_else(too_much)?,
    };
    let limit = match (want.max_price, asked, lacking) {
        (Some(most), _, lacking) if parts.len() == 1 || lacking.is_none() => {
            let price = Price::from_hourly(most, slot_ms).ok_or_else(too_much)?;
            price.times(u64::from(nodes)).ok_or_else(too_much)?
        }
        (_, _, Some(lacking)) => return Err(nothing_to_buy(lacking)),
        (_, asked, None) => asked.ok_or_else(too_much)?.max(least),
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
        terms: Terms::Buy {
            parts: by_class(&parts),
            limit,
            patience: heights_of(*wait_seconds, market.policy.block_interval_ms),
            surcharge,
        },
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

    #[test]
    fn waiting_is_counted_in_blocks_and_bounded() {
        assert_eq!(heights_of(0, 250), 0);
        assert_eq!(heights_of(600, 250), 2_400);
        assert_eq!(heights_of(1, 60_000), 1);
        assert_eq!(heights_of(u32::MAX, 10), limits::ORDER_WINDOW - 1);
    }
}
