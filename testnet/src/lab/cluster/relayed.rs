//! Two sellers behind symmetric NATs, and a relay between them that the buyer pays.

use super::echoes::{self, Echoes, Question};
use super::stage::{HOME, RELAYS, Stage, until};
use crate::parallel::{ECHO, tools::built};
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::client;
use gridbay_node::api::types::{JobRecord, JobState, LeaseNet, LeaseView};
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a way may take to be found anew.
const BACK_MS: u64 = 10_000;
/// Time around a change in which echoes are looked at.
const AROUND: Duration = Duration::from_secs(30);
/// Time after which a question counts as answered or lost, and its line was read.
const LATE: Duration = Duration::from_secs(4);
/// Bytes of the echoes' lines at the most.
const LINES: usize = 8 << 20;

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Relayed {
    /// Seconds without a change.
    pub(crate) seconds: u64,
    /// Milliseconds from the start of the job to the first echo.
    pub(crate) first_ms: u64,
    /// Ways in use then, of each rank to the other.
    pub(crate) ways: Vec<Option<String>>,
    /// Echoes while nothing changed.
    pub(crate) calm: Echoes,
    /// While the relay in use was killed.
    pub(crate) relay_killed: Echoes,
    /// While one of the two got another address.
    pub(crate) moved: Echoes,
    /// The buyer's orders for relays: state, and credits paid.
    pub(crate) orders: Vec<(String, String)>,
}

impl Relayed {
    /// Nothing lost while nothing happened, soon back after that, and the relay was paid.
    pub(crate) fn passed(&self) -> bool {
        let relay = |way: &Option<String>| way.as_deref() == Some("relay");
        let back = |echoes: &Echoes| echoes.lost < echoes.sent && echoes.gap_ms < BACK_MS;
        let paid = self.orders.iter().any(|(_, paid)| paid != "0");
        self.ways.iter().all(relay)
            && self.calm.lost == 0
            && back(&self.relay_killed)
            && back(&self.moved)
            && paid
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Waits so long, and returns when it began and ended.
async fn pass(time: Duration) -> (u64, u64) {
    let from = now_ms();
    tokio::time::sleep(time).await;
    (from, now_ms())
}

pub(super) async fn run(
    stage: &mut Stage,
    seconds: u64,
    progress: &Progress,
) -> anyhow::Result<Relayed> {
    let program = stage.folder().join("echo");
    built("cc", &[], ECHO, &program)?;
    let (program, wall) = (program.display().to_string(), format!("{}s", seconds + 300));
    let buying = "run -n 2 --class small --max-price 20 --relay-price 60 --network --detach --time";
    let mut words: Vec<&str> = buying.split(' ').collect();
    words.extend([wall.as_str(), "--input", program.as_str(), "--", "./echo"]);
    let job = stage.order(&words).await?;
    let begun = until("the job to run", async || {
        Ok(Some(stage.job(&job).await?).filter(|job| job.state == JobState::Running))
    })
    .await?;
    let first = until("the first echo", async || {
        let all = said(stage, &job, 0).await?;
        Ok(all
            .iter()
            .find(|asked| asked.took.is_some())
            .map(|asked| asked.at))
    })
    .await?;
    let first_ms = first.saturating_sub(begun.running_ms.unwrap_or(first));
    progress.tell(&format!(
        "first echo {first_ms} ms after the start of the job"
    ));
    // The first questions may have come before the way: they are not of the calm time.
    let ways = ways(stage, &job).await?;
    let calm = pass(Duration::from_secs(seconds)).await;
    progress.tell(&format!("{seconds} s over a relay"));

    let dead = in_use(stage).await?;
    stage.network_mut().kill(&dead)?;
    let killed = pass(AROUND).await;
    progress.tell(&format!("{dead}, which relayed, was killed"));
    stage.lab().readdress(HOME)?;
    let moved = pass(AROUND).await;
    tokio::time::sleep(LATE).await;
    let all = said(stage, &job, 0).await?;
    let relays = relays(stage).await?;
    stage.command(&["job", "cancel", &job]).await?;
    let order = |job: &JobRecord| (job.state.name().to_owned(), job.paid.to_string());
    let echoes = |time: (u64, u64)| Echoes::between(&all, time);
    Ok(Relayed {
        seconds,
        first_ms,
        ways,
        calm: echoes(calm),
        relay_killed: echoes(killed),
        moved: echoes(moved),
        orders: relays.iter().map(order).collect(),
    })
}

/// What a rank printed of its echoes.
pub(super) async fn said(stage: &Stage, job: &str, rank: u32) -> anyhow::Result<Vec<Question>> {
    let path = format!("/jobs/{job}/logs?rank={rank}&stream=stdout&from=0");
    let answer = stage.buyer().download(&path).await?;
    let bytes = client::body(answer, LINES).await?;
    Ok(echoes::read(&String::from_utf8_lossy(&bytes)))
}

/// The ways in use, once all members have told theirs.
async fn ways(stage: &Stage, job: &str) -> anyhow::Result<Vec<Option<String>>> {
    until("the members' word on their ways", async || {
        let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
        let mut ours = all
            .iter()
            .filter(|l| l.job.as_ref().is_some_and(|j| j.to_string() == job));
        let Some(lease) = ours.next() else {
            return Ok(None);
        };
        let net: LeaseNet = stage
            .buyer()
            .get(&format!("/leases/{}/net", lease.lease))
            .await?;
        let pairs = net.members.iter().flat_map(|m| &m.pairs);
        let ways: Vec<_> = pairs.map(|pair| pair.path.clone()).collect();
        Ok((ways.len() == 2 && ways.iter().all(Option::is_some)).then_some(ways))
    })
    .await
}

/// The buyer's orders for relays.
async fn relays(stage: &Stage) -> anyhow::Result<Vec<JobRecord>> {
    let all: Vec<JobRecord> = stage.buyer().get("/jobs?all=true").await?;
    Ok(all.into_iter().filter(|job| job.name == "relay").collect())
}

/// The name of the node that relays.
async fn in_use(stage: &Stage) -> anyhow::Result<String> {
    let all: Vec<LeaseView> = stage.buyer().get("/leases").await?;
    let relay = |lease: &&LeaseView| lease.name.as_deref() == Some("relay");
    let node = all.iter().find(relay).and_then(|lease| lease.nodes.first());
    let node = node.context("no relay is leased")?.node;
    let named = |name: &&str| {
        stage
            .network()
            .node(name)
            .status()
            .is_some_and(|s| s.node == node)
    };
    let found = RELAYS.into_iter().find(named);
    Ok(found.context("a node that sells relaying")?.to_owned())
}
