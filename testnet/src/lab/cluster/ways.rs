//! The ways between all members of a lease's network, once each had time to find the best.

use super::stage::{Stage, until};
use crate::say::Progress;
use gridbay_node::api::types::{LeaseNet, LeaseView};
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long members may take to leave relays for better ways.
const SETTLE: Duration = Duration::from_secs(30);

/// How one member reaches another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Way {
    /// Rank.
    pub(crate) from: u32,
    /// Rank.
    pub(crate) to: u32,
    /// `lan`, `direct`, `punched`, `relay`, `stream`; none if it does not.
    pub(crate) path: Option<String>,
    /// Round trip in milliseconds.
    pub(crate) round_trip_ms: Option<f64>,
}

/// Of four members, in both directions.
const PAIRS: usize = 12;

/// A network's ways.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Ways {
    /// Milliseconds from the lease's block until all members had reached one another.
    pub(crate) setup_ms: Option<u64>,
    /// Each pair in each direction.
    pub(crate) all: Vec<Way>,
}

impl Ways {
    /// Whether all members reach one another, by packets and without relays.
    pub(crate) fn passed(&self) -> bool {
        let direct = |way: &Way| matches!(way.path.as_deref(), Some("lan" | "direct" | "punched"));
        self.all.len() == PAIRS && self.all.iter().all(direct)
    }
}

/// Leases all sellers for a job that waits, and looks.
pub(super) async fn of_all(stage: &Stage, progress: &Progress) -> anyhow::Result<Ways> {
    let words = "run -n 4 --class small --max-price 20 --time 120s --network --detach -- sleep 100";
    let words: Vec<&str> = words.split(' ').collect();
    let job = stage.order(&words).await?;
    let lease = until("a complete network", async || {
        let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
        let mut ours = all
            .into_iter()
            .filter(|l| l.job.as_ref().is_some_and(|j| j.to_string() == job));
        Ok(ours.find(|lease| lease.setup.is_some()))
    })
    .await?;
    let began = Instant::now();
    let ways = loop {
        let net: LeaseNet = stage
            .buyer()
            .get(&format!("/leases/{}/net", lease.lease))
            .await?;
        let ways = Ways {
            setup_ms: lease.setup.map(|setup| setup.ms),
            all: ways(&net),
        };
        if ways.passed() || began.elapsed() > SETTLE {
            break ways;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    stage.command(&["job", "cancel", &job]).await?;
    until("the end of the lease", async || {
        let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
        Ok(all.is_empty().then_some(()))
    })
    .await?;
    progress.tell(&format!("ways of {} pairs", ways.all.len()));
    Ok(ways)
}

pub(super) fn ways(net: &LeaseNet) -> Vec<Way> {
    let of = |from: u32, net: &gridbay_node::api::types::NetPair| Way {
        from,
        to: net.rank,
        path: net.path.clone(),
        round_trip_ms: net.round_trip_ms,
    };
    let members = net
        .members
        .iter()
        .filter_map(|m| Some((*m.ranks.first()?, &m.pairs)));
    let mut all: Vec<Way> = members
        .flat_map(|(from, pairs)| pairs.iter().map(move |p| of(from, p)))
        .collect();
    all.sort_by_key(|way| (way.from, way.to));
    all
}
