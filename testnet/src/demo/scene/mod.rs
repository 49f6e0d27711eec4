//! The demo's scenes, one file each, in the order in which they are played.

mod buy;
mod contest;
mod crash;
mod deadline;
mod long;
mod settle;
mod share;

pub(crate) use crash::Crash;
pub(crate) use share::CLAIMS;

use super::stage::Stage;

/// Plays all scenes; returns what the crash showed.
pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<Crash> {
    long::play(stage).await?;
    contest::play(stage).await?;
    buy::play(stage).await?;
    deadline::play(stage).await?;
    let crash = crash::play(stage).await?;
    share::play(stage).await?;
    settle::play(stage).await?;
    Ok(crash)
}
