//! A pair that has only relays: held, then its relay killed, then one of the two moved.

use super::words::{Answer, Pings, Wish};
use super::{Stage, way_of};
use crate::lab::matrix::Pair;
use crate::say::Progress;
use anyhow::{Context as _, bail, ensure};
use serde::Serialize;
use std::time::Duration;

/// How long a way may take to be found anew.
const BACK: u64 = 10_000;
/// Seconds of echoes around a change, and into them the change.
const AROUND: (u64, Duration) = (20, Duration::from_secs(2));

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Held {
    /// Seconds without a change.
    pub(crate) seconds: u64,
    /// Echoes meanwhile.
    pub(crate) pings: Pings,
    /// Echoes while the relay in use was killed.
    pub(crate) relay_killed: Pings,
    /// Echoes while one of the two got another address.
    pub(crate) moved: Pings,
}

impl Held {
    /// Nothing lost while nothing happened, and soon back after that.
    pub(crate) fn passed(&self) -> bool {
        let back = |pings: &Pings| pings.lost < pings.sent && pings.gap_ms < BACK;
        self.pings.lost == 0 && back(&self.relay_killed) && back(&self.moved)
    }
}

pub(super) fn run(
    mut stage: Stage<'_>,
    pair: &Pair,
    seconds: u64,
    progress: &Progress,
) -> anyhow::Result<Held> {
    let (mut nodes, first) = stage.open(pair)?;
    ensure!(first.is_some(), "the two do not reach each other");
    let [left, right] = &mut nodes;
    let mut pings = |seconds: u64, change: &mut dyn FnMut() -> anyhow::Result<()>| {
        left.say(&Wish::Pings(seconds))?;
        change()?;
        match left.hear()? {
            Answer::Pings(pings) => Ok(pings),
            _ => bail!("not an answer to the question"),
        }
    };
    let calm = pings(seconds, &mut || Ok(()))?;
    progress.tell(&format!("{seconds} s over a relay: {} lost", calm.lost));
    let relay_killed = pings(AROUND.0, &mut || {
        std::thread::sleep(AROUND.1);
        let (_, at) = way_of(right)?.context("there was a way")?;
        let place = stage.places.iter().position(|place| *place == at);
        stage.relays[place.context("it was a relay")?] = None;
        Ok(())
    })?;
    progress.tell(&format!("relay killed: {} ms", relay_killed.gap_ms));
    let moved = pings(AROUND.0, &mut || {
        std::thread::sleep(AROUND.1);
        let network = stage.lab.topology().host(&pair.dialing.0);
        let (network, _) = network.context("the host's network")?;
        stage.lab.readdress(&network.name).map(drop)
    })?;
    progress.tell(&format!("moved: {} ms", moved.gap_ms));
    Ok(Held {
        seconds,
        pings: calm,
        relay_killed,
        moved,
    })
}
