//! The outlook of a bid for all nodes or none, by the bids that would have won the last clearings.
//!
//! With a budget, the bid is the price that the budget allows in each slot, and the odds are the
//! share of clearings that it would have won. Without one, the suggested price would have won nine
//! of ten. The likely cost is the price that would have won half of them: a winner pays the value
//! that it displaces, which is at most its bid.

use super::{BidHow, NAME, highest};
use crate::api::types::{Prospect, Wish};
use crate::buy::wish::ask;
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use gridbay_core::buy::Terms;
use gridbay_protocol::units::{Credits, Price};

/// Percent of the clearings that a suggested price would have won.
const SUGGESTED: u32 = 90;

/// The prospect of a bid for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    at.account()?;
    let bid = BidHow { divisible: false };
    let plan = bid.planned(&at.market, at.last, &ask(wish))?;
    let (nodes, slots) = (wish.nodes, u64::from(plan.slots));
    let cost = |price: Price| price.times(u64::from(nodes))?.checked_mul(slots);
    // A bid that starts inside a slot pays the rest of that one too.
    let affordable = wish.budget.map(|budget| {
        let per_slot = budget.micros() / (slots + 1).max(1);
        Price(per_slot / u64::from(nodes).max(1))
    });
    let planned = match &plan.terms {
        Terms::Sealed(bid) => highest(&bid.steps),
        _ => Price::default(),
    };
    let suggested = at.odds.price_for(SUGGESTED).unwrap_or(planned);
    let price = affordable.unwrap_or(suggested).min(Price::MAX);
    let likely = at.odds.price_for(50).and_then(cost);
    let hourly = limit_hourly(price, at.market.policy.slot_ms());
    let note = match at.odds.tried {
        0 => {
            "can be preempted at slot boundaries; no clearing yet to tell the odds from".to_owned()
        }
        n => format!("can be preempted at slot boundaries; odds of the last {n} clearings"),
    };
    let most = price.times(u64::from(nodes));
    let most = most.and_then(|slot| slot.checked_mul(slots + 1));
    Ok(Prospect {
        mechanism: NAME.to_owned(),
        likely: likely.map(|l| l.min(most.unwrap_or(Credits::MAX))),
        most,
        odds: at.odds.at(price),
        note,
        options: format!("-n {nodes} --max-price {hourly}"),
    })
}
