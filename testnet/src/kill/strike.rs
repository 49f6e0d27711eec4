//! Killing and starting again.

use super::aim::{self, Strike};
use super::history::History;
use super::options::{BUYERS, Options};
use super::rng::Rng;
use crate::bench::spread::Spread;
use crate::network::Network;
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{NodeState, NodeStatus};
use std::time::{Duration, Instant};

/// Until a node that was started serves.
const SERVE_TIME: Duration = Duration::from_secs(60);
/// How often a node that starts is asked whether it serves.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// Kills between two lines of progress.
const TOLD_EVERY: usize = 25;
/// Kills between two calm spells, in which the chain must grow.
const CALM_EVERY: usize = 20;
/// Blocks that it must grow by.
const CALM_BLOCKS: u64 = 3;

/// The tally of the strikes.
#[derive(Clone, Debug, Default)]
pub(super) struct Struck {
    /// Kills.
    pub(super) kills: usize,
    /// Starts after a kill.
    pub(super) restarts: usize,
    /// Strikes against all nodes at once.
    pub(super) blackouts: usize,
    /// Milliseconds from each start to the node's serving, but for those killed again before.
    pub(super) serving_ms: Vec<u64>,
}

/// Kills as often as was asked for.
pub(super) async fn all(
    network: &mut Network,
    history: &History,
    options: &Options,
    rng: &mut Rng,
    progress: &Progress,
) -> anyhow::Result<Struck> {
    let names: Vec<String> = network.nodes().iter().map(|n| n.name.clone()).collect();
    let mut struck = Struck::default();
    let (mut tell_at, mut calm_at) = (TOLD_EVERY, CALM_EVERY);
    while struck.kills < options.kills {
        let left = options.kills - struck.kills;
        let strike = aim::draw(rng, options.validators, BUYERS, left);
        tokio::time::sleep(strike.pause).await;
        one(network, &names, &strike, &mut struck).await?;
        history.check()?;
        if struck.kills >= calm_at {
            calm_at = struck.kills + CALM_EVERY;
            grows(network).await?;
        }
        if struck.kills >= tell_at {
            tell_at = struck.kills + TOLD_EVERY;
            let (acked, height) = (history.acknowledged(), history.height());
            let spread = Spread::of(struck.serving_ms.clone());
            progress.tell(&format!(
                "{} kills, {acked} acknowledged, height {height}, serving again after {} ms (p50), {} ms (p95)",
                struck.kills, spread.p50_ms, spread.p95_ms
            ));
        }
    }
    Ok(struck)
}

async fn one(
    network: &mut Network,
    names: &[String],
    strike: &Strike,
    struck: &mut Struck,
) -> anyhow::Result<()> {
    let victims: Vec<&String> = strike.victims.iter().map(|v| &names[*v]).collect();
    for name in &victims {
        network.kill(name)?;
        struck.kills += 1;
    }
    struck.blackouts += usize::from(victims.len() == names.len());
    let mut started = start(network, &victims, struck)?;
    if let Some(pause) = strike.again {
        tokio::time::sleep(pause).await;
        for name in &victims {
            network.kill(name)?;
            struck.kills += 1;
        }
        started = start(network, &victims, struck)?;
    }
    let waits = victims.iter().map(|name| {
        let client = network.node(name).client().clone();
        serves(client, started)
    });
    let served = futures::future::join_all(waits).await;
    for (name, served) in victims.iter().zip(served) {
        match served {
            Some(time) => struck.serving_ms.push(time.as_millis() as u64),
            // Fails with the last lines of its log.
            None => network.ready(name, Duration::ZERO).await?,
        }
    }
    Ok(())
}

fn start(
    network: &mut Network,
    victims: &[&String],
    struck: &mut Struck,
) -> anyhow::Result<Instant> {
    let started = Instant::now();
    for name in victims {
        network.restart(name)?;
        struck.restarts += 1;
    }
    Ok(started)
}

/// Time from a start until a node takes orders; `None` if it takes too long.
async fn serves(client: Client, started: Instant) -> Option<Duration> {
    while started.elapsed() < SERVE_TIME {
        let status = client.get::<NodeStatus>("/node").await;
        if status.is_ok_and(|status| status.state == NodeState::Ready) {
            return Some(started.elapsed());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    None
}

/// Waits until the chain has grown: a federation that only starts and ends proves nothing.
async fn grows(network: &Network) -> anyhow::Result<()> {
    let client = network.node("v1").client();
    let until = Instant::now() + SERVE_TIME;
    let mut first = None;
    while Instant::now() < until {
        if let Ok(status) = client.get::<NodeStatus>("/node").await {
            let from = *first.get_or_insert(status.height);
            if status.height >= from + CALM_BLOCKS {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let lines = network.node("v1").last_lines();
    Err(anyhow::anyhow!(
        "the chain stands still at {first:?}:\n{lines}"
    ))
    .context("stalled")
}
