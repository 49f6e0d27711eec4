//! A claim on a pool: the grant of the pool that gives most now.
//!
//! The claim's rate is the budget over the time, or twice the lowest reserve of a pool for the
//! nodes wished for. A pool divides anew every slot, so the figure is the mean over a slot's draws:
//! nodes that the claim would run on, in percent of those wished for.

use super::{Claim, NAME};
use crate::api::types::{Prospect, Wish};
use crate::buy::wish::{ask, reserve, unsold, unsuitable};
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::Said;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;

/// An hour in seconds.
const HOUR: u64 = 3_600;

/// The prospect of a claim for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    let rate = rate(at, wish)?;
    let claim = Claim {
        offer: None,
        rate,
        utility: Utility::Linear,
        weights: None,
        program: None,
    };
    // A rate or budget that is right for others may be too small or large for a pool.
    let plan = claim.planned(at, &ask(wish)).map_err(unsuitable)?;
    let milli = match plan.said {
        Said::Pool(said) => said.nodes_milli,
        _ => 0,
    };
    let percent = milli / 10 / u64::from(wish.nodes.max(1));
    Ok(Prospect {
        mechanism: NAME.to_owned(),
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

/// Credits an hour for all of the share.
fn rate(at: &Desk<'_>, wish: &Wish) -> Answer<Credits> {
    let shared = |mechanism: &Primary| matches!(mechanism, Primary::Share(_));
    let reserve = reserve(at, shared);
    let reserve = reserve.ok_or_else(|| unsold("no pool of this class is shared"))?;
    let asked = match wish.budget {
        Some(budget) => budget.share_floor(HOUR, u64::from(wish.seconds.max(1))),
        None => limit_hourly(reserve, at.market.policy.slot_ms())
            .checked_mul(u64::from(wish.nodes).saturating_mul(2)),
    };
    Ok(asked.unwrap_or(Credits::MAX))
}
