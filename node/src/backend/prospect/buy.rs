//! A buy: at once, prepaid, not preempted.

use super::super::{Answer, NodeBackend};
use super::want;
use crate::api::types::{How, Prospect, Wish};

impl NodeBackend {
    pub(super) async fn buy_prospect(&self, wish: &Wish) -> Answer<Prospect> {
        let asked = Wish {
            budget: None,
            ..wish.clone()
        };
        let (market, plan, _) = self.plan_order(&want(&asked, How::BUY)).await?;
        let free = market.can_be_bought();
        let within = wish.budget.is_none_or(|budget| plan.most <= budget);
        let (odds, note) = match (within, free >= wish.nodes) {
            (false, _) => (Some(0), "the prices asked exceed the budget".to_owned()),
            (true, true) => (Some(100), "at once, and kept for the whole time".to_owned()),
            (true, false) => (
                None,
                format!(
                    "{free} units are free: it would displace bids and pay what they are worth"
                ),
            ),
        };
        Ok(Prospect {
            mechanism: How::BUY.name().to_owned(),
            likely: plan.likely,
            most: Some(plan.most),
            odds,
            note,
            options: format!("-n {} --buy", wish.nodes),
        })
    }
}
