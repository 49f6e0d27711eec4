//! The common parts of the outages: a lease whose job runs, and the connections between nodes.

use gridbay_node::api::ApiError;
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    Balance, How, JobRecord, JobRequest, JobState, NodeStatus, Offer, PeerList, RankExit, Want,
};
use gridbay_protocol::job::JobExit;
use gridbay_testnet::Progress;
use gridbay_testnet::lab::{self, Lab, Topology};
use gridbay_testnet::network::plan::{credits, offer};
use gridbay_testnet::network::{Network, Plan, RunFolder};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bound on each wait that measures nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_gridbay-testnet"))
}

/// Past what keeps the output of tests that pass.
fn not_checked(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: {why}");
}

/// A lab, or none where it cannot be had, which is said.
pub(crate) fn lab(letter: char, topology: &str) -> Option<Lab> {
    if let Err(error) = lab::check() {
        not_checked(&format!("{error:#}"));
        return None;
    }
    let name = format!("{letter}{}", std::process::id() % 1_000_000_000);
    let topology = Topology::parse(topology).unwrap();
    let quiet = Progress::silent();
    Some(Lab::up(&name, topology, program(), &quiet).unwrap())
}

pub(crate) async fn start(dir: &Path, plan: Plan) -> Network {
    let folder = RunFolder::create_in(dir, &plan.name).unwrap();
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    started.await.unwrap()
}

pub(crate) async fn until(what: &str, mut met: impl AsyncFnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !met().await {
        assert!(began.elapsed() < PATIENCE, "{what} took too long");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    began.elapsed()
}

/// Whom a node is connected to; nobody while it does not answer.
pub(crate) async fn peers(network: &Network, name: &str) -> Option<PeerList> {
    network.node(name).client().get("/peers").await.ok()
}

/// How long it takes until each of these nodes is connected to every other one, and passes gossip
/// on to somebody.
pub(crate) async fn meshed(network: &Network, names: &[&str]) -> Duration {
    until("to mesh", async || {
        for name in names {
            let Some(list) = peers(network, name).await else {
                return false;
            };
            let has = |other: &&str| {
                let node = network.node(other).status().map(|status| status.node);
                list.peers.iter().any(|peer| peer.node == node)
            };
            let others = names.iter().filter(|other| *other != name);
            let in_mesh = list.peers.iter().any(|peer| peer.mesh);
            if !in_mesh || !others.clone().all(has) {
                return false;
            }
        }
        true
    })
    .await
}

/// Has a node offer one unit, at the only reserve there is in these networks.
pub(crate) async fn sell(network: &Network, name: &str) {
    sold(network, name).await.unwrap();
}

/// The same, or why not.
pub(crate) async fn sold(network: &Network, name: &str) -> Result<Offer, ApiError> {
    let request = offer("small", 1, credits(2), None);
    let client = network.node(name).client();
    client.put("/offers", &request).await
}

async fn balance(client: &Client) -> i64 {
    let balance: Balance = client.get("/ledger/balance").await.unwrap();
    balance.balance.0
}

/// A lease whose job runs.
pub(crate) struct Lease {
    buyer: Client,
    /// Sellers and what each had before.
    sellers: Vec<(Client, i64)>,
    record: JobRecord,
}

impl Lease {
    /// Buys a unit of each of these sellers, which are the only ones, for a job that runs so many
    /// seconds. Returns when it does.
    pub(crate) async fn begin(
        network: &Network,
        buyer: &str,
        sellers: &[&str],
        seconds: u32,
    ) -> Self {
        let buyer = network.node(buyer).client().clone();
        let mut paid = Vec::new();
        for seller in sellers {
            let client = network.node(seller).client().clone();
            let before = balance(&client).await;
            paid.push((client, before));
        }
        let script = format!(
            "i=0; while [ $i -lt {seconds} ]; do sleep 1; i=$((i + 1)); done; \
             echo end $GRIDBAY_RANK of $GRIDBAY_SIZE after $i"
        );
        let request = JobRequest {
            project: None,
            worth: None,
            name: Some("steady".into()),
            want: Want {
                class: Some("small".into()),
                nodes: u32::try_from(sellers.len()).unwrap(),
                max_price: Some(credits(20)),
                seconds: 120,
                budget: None,
                how: How::BID,
            },
            argv: ["sh", "-c", &script].map(str::to_owned).to_vec(),
            env: vec![],
            inputs: vec![],
            outputs: vec![],
            checkpoint: None,
            network: false,
            internet: false,
            relays: Relays::Free,
        };
        let record = buyer.post("/jobs", &request, None).await.unwrap();
        let mut lease = Lease {
            buyer,
            sellers: paid,
            record,
        };
        lease.follow(|now| now.state == JobState::Running).await;
        assert_eq!(lease.record.sellers.len(), sellers.len());
        lease
    }
    /// Looks until something holds. A buyer that is down is asked again.
    async fn follow(&mut self, met: impl Fn(&JobRecord) -> bool) {
        let end = Instant::now() + PATIENCE;
        let path = format!("/jobs/{}", self.record.id);
        loop {
            if let Ok(now) = self.buyer.get::<JobRecord>(&path).await {
                let over = now.state.is_final();
                self.record = now;
                if met(&self.record) {
                    return;
                }
                assert!(!over, "ended: {:?}", self.record);
            }
            assert!(Instant::now() < end, "still {:?}", self.record);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    /// Whether the job had not ended when the buyer was asked.
    pub(crate) async fn runs(&mut self) -> bool {
        self.follow(|_| true).await;
        !self.record.state.is_final()
    }
    /// Waits for the end of the job: the lease is the one that it was, every rank has done its work
    /// and is paid.
    pub(crate) async fn ends_well(mut self, seconds: u32) {
        let before = self.record.clone();
        self.follow(|now| now.state.is_final()).await;
        let done = &self.record;
        let well = |exit: &RankExit| exit.exit == JobExit::Code(0);
        assert!(done.state == JobState::Done, "{done:?}");
        assert!(done.exits.iter().all(well), "{done:?}");
        assert_eq!(done.exits.len(), self.sellers.len());
        assert_eq!((done.preemptions, done.lease), (0, before.lease));
        assert_eq!(done.running_ms, before.running_ms, "begun once");
        let size = self.sellers.len();
        for rank in 0..size {
            let path = format!("/jobs/{}/logs?rank={rank}&stream=stdout", done.id);
            let answer = self.buyer.download(&path).await.unwrap();
            let bytes = client::body(answer, 1 << 20).await.unwrap();
            let said = format!("end {rank} of {size} after {seconds}\n");
            assert_eq!(bytes, said.as_bytes());
        }
        let paid = i64::try_from(done.paid.micros()).unwrap();
        assert!(paid > 0);
        let sellers = &self.sellers;
        until("what was paid to be earned", async || {
            let mut earned = 0;
            for (client, before) in sellers {
                earned += balance(client).await - before;
            }
            earned == paid
        })
        .await;
    }
}

/// The height of a node.
pub(crate) async fn height(network: &Network, name: &str) -> u64 {
    let status: NodeStatus = network.node(name).client().get("/node").await.unwrap();
    status.height
}
