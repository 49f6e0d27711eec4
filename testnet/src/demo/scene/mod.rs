//! The demo's scenes, one file each, in the order in which they are played.

mod buy;
mod contest;
mod contract;
mod crash;
mod deadline;
mod long;
mod reservation;
mod settle;
mod share;

pub(crate) use contract::CONTRACT;
pub(crate) use crash::Crash;
pub(crate) use reservation::{AHEAD, MOVED, RIVAL};
pub(crate) use share::CLAIMS;

use super::stage::Stage;
use crate::network::Plan;

/// What scenes need of the network before it is founded.
pub(super) fn prepare(plan: &mut Plan) {
    contract::prepare(plan);
}

/// Plays all scenes; returns what the crash showed.
pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<Crash> {
    long::play(stage).await?;
    contest::play(stage).await?;
    buy::play(stage).await?;
    deadline::play(stage).await?;
    reservation::play(stage).await?;
    contract::play(stage).await?;
    let crash = crash::play(stage).await?;
    share::play(stage).await?;
    settle::play(stage).await?;
    Ok(crash)
}
