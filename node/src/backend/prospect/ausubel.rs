//! A bid for all nodes or none: what would have won the last clearings.
//!
//! With a budget, the price bid is what the budget allows in each slot, and the odds are the share of clearings that it
//! would have won; without one, the price suggested would have won nine of ten. The likely cost is what would have won
//! half of them: a winner pays what it displaces, which is less than it bids and at most that.

use super::super::odds::odds;
use super::super::price::limit_hourly;
use super::super::{Answer, NodeBackend};
use super::want;
use crate::api::types::{How, Prospect, Wish};
use gridbay_core::buy::{BidTerms, Terms};
use gridbay_protocol::units::{Credits, Price};

/// Percent of the clearings that a suggested price would have won.
const SUGGESTED: u32 = 90;

impl NodeBackend {
    pub(super) async fn auction_prospect(&self, wish: &Wish) -> Answer<Prospect> {
        let (market, plan, _) = self.plan_order(&want(wish, How::BID)).await?;
        let records = self.last_clearings(market.id).await?;
        let (nodes, heights) = (wish.nodes, market.policy.calendar.slot_heights());
        let tried = tokio::task::spawn_blocking(move || odds(&records, nodes, nodes, heights));
        let tried = tried
            .await
            .map_err(|error| super::super::failure::internal("clearing again", error))?;
        let slots = u64::from(plan.slots);
        let cost = |price: Price| price.times(u64::from(nodes))?.checked_mul(slots);
        // A bid that starts inside a slot pays the rest of that one too.
        let affordable = wish.budget.map(|budget| {
            let per_slot = budget.micros() / (slots + 1).max(1);
            Price(per_slot / u64::from(nodes).max(1))
        });
        let planned = match &plan.terms {
            Terms::Sealed(BidTerms { steps, .. }) => steps.iter().map(|s| s.price).max(),
            _ => None,
        };
        let suggested = tried.price_for(SUGGESTED).or(planned).unwrap_or_default();
        let price = affordable.unwrap_or(suggested).min(Price::MAX);
        let likely = tried.price_for(50).and_then(cost);
        let hourly = limit_hourly(price, market.policy.slot_ms());
        let note = match tried.tried {
            0 => "can be preempted at slot boundaries; no clearing yet to tell the odds from"
                .to_owned(),
            n => format!("can be preempted at slot boundaries; odds of the last {n} clearings"),
        };
        let most = price.times(u64::from(nodes));
        let most = most.and_then(|slot| slot.checked_mul(slots + 1));
        Ok(Prospect {
            mechanism: How::BID.name().to_owned(),
            likely: likely.map(|l| l.min(most.unwrap_or(Credits::MAX))),
            most,
            odds: tried.at(price),
            note,
            options: format!("-n {nodes} --max-price {hourly}"),
        })
    }
}
