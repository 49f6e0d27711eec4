//! Fourth scene: a validator that also runs others' jobs is killed with SIGKILL while they run, the
//! chain goes on without it, and it is started again.

pub(super) mod check;

use super::super::order::Order;
use super::super::stage::{Crash, Stage};
use super::long::STEADY;
use anyhow::Context as _;
use gridbay_node::api::types::{JobState, NodeStatus};
use gridbay_protocol::ids::LeaseId;
use std::time::{Duration, Instant};

/// How long the validator stays dead.
const DEAD: Duration = Duration::from_secs(3);

/// How long it has to catch up.
const CATCH_UP: Duration = Duration::from_secs(15);

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let node = victim(stage)?;
    let runs_there = |order: &&Order| {
        let mut sellers = order.record.sellers.iter();
        order.is_running() && sellers.any(|s| s.name.as_deref() == Some(node.as_str()))
    };
    let hosted = stage.orders.iter().filter(runs_there);
    let hosted: Vec<String> = hosted.map(|order| order.wish.name.to_owned()).collect();

    let leases = hosted.iter().map(|name| stage.order(name).record.lease);
    let leases: Vec<(String, Option<LeaseId>)> = hosted.iter().cloned().zip(leases).collect();

    let height = height(stage, "v1").await?;
    stage.network.kill(&node)?;
    let killed = Instant::now();
    let shown = hosted.join(", ");
    stage.progress.tell(&format!(
        "{node} killed at height {height} while it runs {shown}"
    ));
    while self::height(stage, "v1").await? < height + 2 && killed.elapsed() < 4 * DEAD {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let next_blocks = killed.elapsed();
    let took = next_blocks.as_secs_f64();
    stage.progress.tell(&format!(
        "the others decided two more blocks after {took:.1} s"
    ));
    stage.watch(DEAD.saturating_sub(killed.elapsed())).await?;

    let head = self::height(stage, "v1").await?;
    stage.network.restart(&node)?;
    let started = Instant::now();
    stage.network.ready(&node, CATCH_UP).await?;
    let mut own = self::height(stage, &node).await?;
    while own < head && started.elapsed() < CATCH_UP {
        stage.watch(Duration::from_millis(100)).await?;
        own = self::height(stage, &node).await?;
    }
    let back = started.elapsed();
    let took = back.as_secs_f64();
    stage.progress.tell(&format!(
        "{node} is back at height {own} after {took:.1} s; it was {head} when it started"
    ));
    // Time for it to find its jobs again, and for the buyers to ask.
    stage.watch(Duration::from_secs(1)).await?;
    let same = |before: &&(String, Option<LeaseId>)| {
        let order = stage.order(&before.0);
        let state = order.record.state;
        state == JobState::Done || (state == JobState::Running && order.record.lease == before.1)
    };
    let survived = leases.iter().filter(same);
    let survived = survived.map(|(name, _)| name.clone()).collect();
    stage.crash = Some(Crash {
        node,
        hosted,
        survived,
        height,
        next_blocks,
        head,
        own,
        back,
    });
    Ok(())
}

/// A validator that runs a steady job: not the first one, which the demo itself asks.
fn victim(stage: &Stage<'_>) -> anyhow::Result<String> {
    let sellers = STEADY
        .iter()
        .flat_map(|name| &stage.order(name).record.sellers);
    let mut names = sellers.filter_map(|seller| seller.name.clone());
    let other = names.find(|name| name != "v1");
    other.context("no validator but the first runs a job")
}

async fn height(stage: &Stage<'_>, name: &str) -> anyhow::Result<u64> {
    let status: NodeStatus = stage.network.node(name).client().get("/node").await?;
    Ok(status.height)
}
