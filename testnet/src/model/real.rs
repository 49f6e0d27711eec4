//! A hundred overlays in one process, and their counters of lookups.

use super::Seen;
use anyhow::{Context as _, bail};
use futures::StreamExt as _;
use futures::stream;
use gridbay_node::overlay::{
    self, Count, Multiaddr, OverlayConfig, OverlayHandle, PeerId, TransportSeed, Tuning,
};
use gridbay_sim::overlay::world::FOUNDERS;
use gridbay_sim::rng::Rng;
use std::time::{Duration, Instant};

/// Until all have met.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often that is looked at.
const POLL: Duration = Duration::from_millis(200);
/// After that, as in the model: lookups that nodes make for themselves end, records reach those who
/// keep them, and unneeded connections are given up.
const SETTLE: Duration = Duration::from_secs(60);
/// Lookups at a time.
const AT_ONCE: usize = 4;

/// Starts so many, lets them look up so many records, ends them.
pub(super) async fn measure(nodes: usize, lookups: usize, seed: u64) -> anyhow::Result<Seen> {
    let mut rng = Rng::new(seed, "real overlays");
    let handles = start(nodes, &mut rng).await?;
    settle(&handles).await?;
    let before = Tally::of(&handles);
    // Counted while all is quiet, as in the model: each lookup leaves connections for a while.
    let peers: usize = handles.iter().map(|h| h.peers().len()).sum();
    let peers = peers as f64 / nodes as f64;
    let mut pairs = Vec::new();
    while pairs.len() < lookups {
        let (from, of) = (rng.index(nodes), rng.index(nodes));
        if from != of {
            pairs.push((&handles[from], handles[of].local_peer()));
        }
    }
    let look = |(from, of): (&OverlayHandle, PeerId)| {
        let from = from.clone();
        async move { from.record(of).await.is_ok() }
    };
    let found = stream::iter(pairs).map(look).buffer_unordered(AT_ONCE);
    let found = found.filter(|found| futures::future::ready(*found));
    let found = found.count().await;
    let seen = Tally::of(&handles).since(&before, found, lookups, peers);
    let ends = handles.iter().map(OverlayHandle::shutdown);
    futures::future::join_all(ends).await;
    seen
}

/// Starts them, one after the other; all begin with the first four.
async fn start(nodes: usize, rng: &mut Rng) -> anyhow::Result<Vec<OverlayHandle>> {
    let network = rng.bytes32();
    let listen: Multiaddr = "/ip4/127.0.0.1/tcp/0".parse()?;
    let mut handles: Vec<OverlayHandle> = Vec::new();
    for _ in 0..nodes {
        let mut config = OverlayConfig::new(
            TransportSeed(rng.bytes32()),
            network,
            vec![listen.clone()],
            Tuning::local(),
        );
        let founders = handles.iter().take(FOUNDERS);
        config.bootstrap = founders
            .filter_map(|h| Some((h.local_peer(), h.addresses().first()?.clone())))
            .collect();
        let (handle, mut events) = overlay::start(config).await?;
        // An overlay waits for nobody, but a full queue is counted; nothing here listens.
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        handles.push(handle);
    }
    Ok(handles)
}

/// Waits until each has the peers that it wants and has put its record.
async fn settle(handles: &[OverlayHandle]) -> anyhow::Result<()> {
    let wanted = overlay::Limits::default()
        .wanted_peers
        .min(handles.len() - 1);
    let began = Instant::now();
    let ready =
        |h: &&OverlayHandle| h.peers().len() >= wanted && h.stats().get(Count::RecordsPut) > 0;
    loop {
        let met = handles.iter().filter(ready).count();
        if met == handles.len() {
            break;
        }
        if began.elapsed() > PATIENCE {
            bail!("only {met} of {} overlays have met", handles.len());
        }
        tokio::time::sleep(POLL).await;
    }
    tokio::time::sleep(SETTLE).await;
    Ok(())
}

/// Counters of all together.
#[derive(Clone, Copy, Debug)]
struct Tally {
    ended: u64,
    requests: u64,
    here: u64,
    near: u64,
    far: u64,
}

impl Tally {
    fn of(handles: &[OverlayHandle]) -> Tally {
        let stats: Vec<_> = handles.iter().map(OverlayHandle::stats).collect();
        let sum = |kind| stats.iter().map(|s| s.get(kind)).sum();
        Tally {
            ended: sum(Count::RecordLookupsEnded),
            requests: sum(Count::RecordLookupRequests),
            here: sum(Count::RecordsFoundHere),
            near: sum(Count::RecordsFoundNear),
            far: sum(Count::RecordsFoundFar),
        }
    }

    fn since(
        &self,
        before: &Tally,
        found: usize,
        lookups: usize,
        peers: f64,
    ) -> anyhow::Result<Seen> {
        let ended = self.ended - before.ended;
        let (here, near) = (self.here - before.here, self.near - before.near);
        let first = here + near + self.far - before.far;
        if ended != lookups as u64 {
            bail!("{ended} lookups ended of {lookups}");
        }
        let percent = |part: u64| 100.0 * part as f64 / first.max(1) as f64;
        Some(Seen {
            found: 100.0 * found as f64 / lookups as f64,
            requests: (self.requests - before.requests) as f64 / ended as f64,
            here: percent(here),
            near: percent(near),
            peers,
        })
        .filter(|seen| seen.requests > 0.0)
        .context("nobody was asked for anything")
    }
}
