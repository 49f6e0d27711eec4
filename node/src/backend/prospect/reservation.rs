//! A reservation: all nodes together, ahead of time.
//!
//! A winner pays what it bids, and the least that it may bid is the posted price of its node-slots. What others will bid for
//! the same slots is sealed, so odds are given only where there are none: too few units, too long a time, or a budget below
//! that price.

use super::super::{Answer, NodeBackend};
use super::want;
use crate::api::types::{Ahead, How, Prospect, Start, Wish};
use crate::api::{ApiError, ErrorCode};

/// As soon as there is room, on any offers.
const ANY: Ahead = Ahead {
    groups: Vec::new(),
    from: Start::In(0),
    until: None,
    channels: None,
};

impl NodeBackend {
    pub(super) async fn reservation_prospect(&self, wish: &Wish) -> Answer<Prospect> {
        let how = How::Reservation(ANY);
        let asked = Wish {
            budget: None,
            ..wish.clone()
        };
        let planned = self.plan_order(&want(&asked, how.clone())).await;
        let (market, plan, _) = planned.map_err(unsuitable)?;
        let (nodes, ahead) = (wish.nodes, market.reservable());
        let starts = market.policy.reservation.starts;
        let within = wish.budget.is_none_or(|budget| plan.most <= budget);
        let (odds, note) = match (within, ahead >= nodes) {
            (_, false) => (
                Some(0),
                format!("{ahead} units are sold under reservation, {nodes} are wanted"),
            ),
            (false, true) => (Some(0), "the posted price exceeds the budget".to_owned()),
            (true, true) => (
                None,
                format!(
                    "all together, to start within {starts} slots; pays what it bids, this at the least"
                ),
            ),
        };
        Ok(Prospect {
            mechanism: how.name().to_owned(),
            likely: plan.posted,
            most: Some(plan.most),
            odds,
            note,
            options: format!("-n {nodes} --reserve"),
        })
    }
}

/// What is too much or too long for a reservation may be right for others.
fn unsuitable(error: ApiError) -> ApiError {
    match error.code {
        ErrorCode::Usage => ApiError {
            code: ErrorCode::NoMatch,
            ..error
        },
        _ => error,
    }
}
