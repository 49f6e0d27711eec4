//! A claim on a pool: what the pool that gives most would give now.
//!
//! The claim's rate is the budget over the time, or twice the lowest reserve of a pool for the nodes wished for. A pool
//! divides anew every slot, so what tells is the mean over a slot's draws: nodes that the claim would run on, in percent of
//! those wished for.

use super::super::market::class_named;
use super::super::price::limit_hourly;
use super::super::share::outlook;
use super::super::{Answer, NodeBackend};
use super::{reserve, want};
use crate::api::types::{Claim, How, Prospect, Wish};
use crate::api::{ApiError, ErrorCode};
use gridbay_core::Core;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;

/// An hour in seconds.
const HOUR: u64 = 3_600;

impl NodeBackend {
    pub(super) async fn share_prospect(&self, wish: &Wish) -> Answer<Prospect> {
        let asked = wish.clone();
        let rate = self.query(move |core| rate(core, &asked)).await??;
        let how = How::Share(Claim {
            offer: None,
            rate,
            utility: Utility::Linear,
            weights: None,
            program: None,
        });
        let planned = self.plan_order(&want(wish, how.clone())).await;
        let (market, plan, _) = planned.map_err(|error| match error.code {
            // A rate or budget that is right for others may be too small or large for a pool.
            ErrorCode::Usage => ApiError {
                code: ErrorCode::NoMatch,
                ..error
            },
            _ => error,
        })?;
        let milli = market.pool.as_ref().map_or(0, |p| outlook(p).nodes_milli);
        let percent = milli / 10 / u64::from(wish.nodes.max(1));
        Ok(Prospect {
            mechanism: how.name().to_owned(),
            likely: plan.likely,
            most: Some(plan.most),
            odds: Some(u32::try_from(percent.min(100)).unwrap_or(100)),
            note: format!(
                "{}.{:03} of {} nodes on average, divided anew every slot among all claims",
                milli / 1_000,
                milli % 1_000,
                wish.nodes
            ),
            options: format!("--array {} --share --rate {rate}", wish.nodes),
        })
    }
}

/// Credits an hour for all of the share.
fn rate(core: &Core, wish: &Wish) -> Answer<Credits> {
    let state = core.state();
    let class = class_named(state, wish.class.as_deref())?.key.id();
    let shared = |mechanism: &Primary| matches!(mechanism, Primary::Share(_));
    let reserve = reserve(state, &class, shared).ok_or_else(|| {
        let why = "no pool of this class is shared";
        ApiError::new(ErrorCode::NoMatch, why, "see gridbay offer list")
    })?;
    let asked = match wish.budget {
        Some(budget) => budget.share_floor(HOUR, u64::from(wish.seconds.max(1))),
        None => limit_hourly(reserve, state.policy().slot_ms())
            .checked_mul(u64::from(wish.nodes).saturating_mul(2)),
    };
    Ok(asked.unwrap_or(Credits::MAX))
}
