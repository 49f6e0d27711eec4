//! The demo's scenes, one file each, in the order in which they are played.

mod buy;
mod contest;
mod contract;
mod crash;
mod deadline;
mod long;
mod posted;
mod reservation;
mod settle;
mod share;

pub(crate) use contract::CONTRACT;
pub(crate) use crash::Crash;
pub(crate) use posted::HIRES;
pub(crate) use reservation::{AHEAD, MOVED, RIVAL};
pub(crate) use share::CLAIMS;

use super::stage::Stage;
use crate::network::Plan;
use gridbay_node::api::types::Offer;
use std::time::Duration;

/// Adds the scenes' needs to the plan of the network.
pub(super) fn prepare(plan: &mut Plan) {
    contract::prepare(plan);
}

/// Plays all scenes; returns the result of the crash.
pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<Crash> {
    long::play(stage).await?;
    contest::play(stage).await?;
    buy::play(stage).await?;
    deadline::play(stage).await?;
    reservation::play(stage).await?;
    contract::play(stage).await?;
    let crash = crash::play(stage).await?;
    share::play(stage).await?;
    posted::play(stage).await?;
    settle::play(stage).await?;
    Ok(crash)
}

/// Waits until the buyers' nodes know that an offer is for sale: it is when the round closes.
async fn on_sale(stage: &mut Stage<'_>, offer: &Offer, buyers: &[&str]) -> anyhow::Result<()> {
    for buyer in buyers {
        for _ in 0..100 {
            let client = stage.network.node(buyer).client();
            let offers: Vec<Offer> = client.get("/offers").await?;
            let sold = |o: &Offer| o.offer == offer.offer && o.on_sale;
            if offers.iter().any(sold) {
                break;
            }
            stage.watch(Duration::from_millis(100)).await?;
        }
    }
    Ok(())
}
