//! The terms of a buy: what the cheapest units ask, unless the user says how much it may be; how long it waits.

use super::{Answer, Market, Plan, limit_hourly, too_much, usage};
use crate::api::types::Want;
use crate::api::{ApiError, ErrorCode};
use gridbay_core::buyer::Terms;
use gridbay_protocol::limits;
use gridbay_protocol::units::{Credits, Price};

/// Plans a buy.
pub(super) fn buy(
    want: &Want,
    market: &Market,
    slots: u32,
    wait_seconds: u32,
    surcharge: Credits,
) -> Answer<Plan> {
    let slot_ms = market.policy.slot_ms();
    let times = u64::from(slots) + 1;
    let asked = market.asked(want.nodes);
    let least = least_to_wait(want, market, wait_seconds)?;
    let limit = match (want.max_price, asked) {
        (Some(most), _) => {
            let price = Price::from_hourly(most, slot_ms).ok_or_else(too_much)?;
            price.times(u64::from(want.nodes)).ok_or_else(too_much)?
        }
        (None, Some(asked)) => asked.max(least),
        (None, None) => return Err(nothing_to_buy(want, market)),
    };
    // All of it is prepaid, so the budget bounds each slot.
    let within = want.budget.and_then(|budget| {
        let for_slots = budget.saturating_sub(surcharge);
        for_slots.share_floor(1, times)
    });
    let limit = within.map_or(limit, |within| within.min(limit));
    if limit < least {
        let hourly = limit_hourly(market.reference, slot_ms);
        let hint = format!("offer {hourly} per node-hour, or leave --wait out");
        return Err(usage("too little for a place in the queue", hint));
    }
    let most = limit
        .checked_mul(times)
        .and_then(|most| most.checked_add(surcharge))
        .ok_or_else(too_much)?;
    let left = market
        .policy
        .calendar
        .heights_left(market.height.saturating_add(1))
        + 1;
    let likely = asked.and_then(|asked| {
        let rest = asked.share_ceil(left, market.policy.calendar.slot_heights())?;
        asked.checked_mul(u64::from(slots))?.checked_add(rest)
    });
    let per_node = limit.micros() / u64::from(want.nodes.max(1));
    Ok(Plan {
        terms: Terms::Buy {
            units: want.nodes,
            limit,
            offers: Vec::new(),
            patience: heights_of(wait_seconds, market.policy.block_interval_ms),
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

/// What a buy must offer a slot to be let wait; nothing if it does not.
fn least_to_wait(want: &Want, market: &Market, wait_seconds: u32) -> Answer<Credits> {
    let least = market.reference.times(u64::from(want.nodes));
    match wait_seconds {
        0 => Ok(Credits::ZERO),
        _ => least.ok_or_else(too_much),
    }
}

/// Heights that pass in so many seconds, at least one for any.
fn heights_of(seconds: u32, block_interval_ms: u64) -> u64 {
    let heights = (u64::from(seconds) * 1_000).div_ceil(block_interval_ms.max(1));
    heights.min(limits::ORDER_WINDOW - 1)
}

fn nothing_to_buy(want: &Want, market: &Market) -> ApiError {
    let firm = market
        .lines
        .iter()
        .filter(|l| l.buy.is_some())
        .map(|l| l.supply)
        .sum::<u32>();
    ApiError::new(
        ErrorCode::NoMatch,
        format!(
            "{} nodes of class {}, {firm} can be bought",
            want.nodes, market.name
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
