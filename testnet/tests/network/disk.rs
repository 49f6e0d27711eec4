//! Disk trouble in real processes: a node whose files may not grow any more says so, acknowledges
//! nothing, answers the questions that it can, and goes on by itself when it is cured. Jobs under
//! way are not lost.
//!
//! The trouble is a limit on the size of files, put on the running process (`prlimit` of
//! util-linux, no privilege needed): writes fail as on a full disk, and lifting the limit is the
//! cure.

use crate::{program, turn};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    Balance, BlockInfo, How, JobRecord, JobRequest, JobState, NodeState, NodeStatus,
    TransferRequest, Transferred, Want,
};
use gridbay_node::api::{ApiError, ErrorCode};
use gridbay_protocol::ids::AccountId;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, cli, plan};
use std::process::Command;
use std::time::{Duration, Instant};

/// Bound on each wait; none of them is a measurement.
const PATIENCE: Duration = Duration::from_secs(40);

/// Sets the soft limit on the size of the files of a process.
fn limit_files(pid: u32, bytes: &str) {
    let words = [format!("--pid={pid}"), format!("--fsize={bytes}:")];
    let done = Command::new("prlimit").args(words).status();
    let done = done.expect("prlimit of util-linux is installed");
    assert!(
        done.success(),
        "this machine lets nobody limit a process of his own"
    );
}

async fn status(client: &Client) -> NodeStatus {
    client.get("/node").await.unwrap()
}

async fn until(client: &Client, what: &str, met: impl Fn(&NodeStatus) -> bool) -> NodeStatus {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = status(client).await;
        if met(&now) {
            return now;
        }
        assert!(Instant::now() < end, "not {what}: {now:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn pay(client: &Client, to: AccountId, key: &str) -> Result<Transferred, ApiError> {
    let amount = plan::credits(1);
    let memo = None;
    let request = TransferRequest { to, amount, memo };
    client.post("/ledger/transfer", &request, Some(key)).await
}

fn job(nodes: u32, seconds: u32) -> JobRequest {
    let script = format!("sleep {seconds}; echo end");
    JobRequest {
        project: None,
        worth: None,
        name: None,
        want: Want {
            class: Some("small".into()),
            nodes,
            max_price: Some(plan::credits(20)),
            seconds: 90,
            budget: None,
            how: How::BID,
        },
        argv: ["sh", "-c", &script].map(str::to_owned).to_vec(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

async fn order(client: &Client, request: &JobRequest, key: &str) -> Result<JobRecord, ApiError> {
    client.post("/jobs", request, Some(key)).await
}

async fn reaches(client: &Client, id: &JobRecord, state: JobState) -> JobRecord {
    let end = Instant::now() + PATIENCE;
    loop {
        let now: JobRecord = client.get(&format!("/jobs/{}", id.id)).await.unwrap();
        if now.state == state {
            return now;
        }
        assert!(Instant::now() < end && !now.state.is_final(), "{now:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A halted node shows what is wrong, answers what it can, and takes nothing.
async fn halts(network: &Network, name: &str, to: AccountId) {
    let node = network.node(name);
    let client = node.client();
    let halted = until(client, "halted", |now| now.state == NodeState::Halted).await;
    assert_eq!(halted.troubles.len(), 1, "{halted:?}");
    let trouble = &halted.troubles[0];
    assert!(trouble.what.contains("too large"), "{}", trouble.what);
    assert!(trouble.hint.contains("goes on by itself"));

    let refused = pay(client, to, "paid-while-halted").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Halted);
    assert_eq!(refused.code.status().as_u16(), 503);
    let refused = order(client, &job(1, 0), "ordered-while-halted").await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Halted);
    let head: BlockInfo = client.get("/ledger/head").await.unwrap();
    assert!(head.height >= 1);
    let own: Balance = client.get("/ledger/balance").await.unwrap();
    assert_eq!(Some(own.account), halted.account);

    let shown = cli::run(network.program(), node.home.path(), &["node", "status"]).await;
    let shown = shown.unwrap();
    for word in ["halted", "trouble", "too large", "goes on by itself"] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
}

#[tokio::test]
async fn a_node_with_a_full_disk_says_so_and_goes_on_when_cured() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "disk").unwrap();
    let plan = Plan::local("disk", 4, 1);
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let [v1, v2, b1] = ["v1", "v2", "b1"].map(|name| network.node(name).client().clone());
    let (pid, to) = (status(&v2).await.pid, status(&v1).await.account.unwrap());

    // A seller that buys: a part of its job runs on its own machine.
    let own = order(&v1, &job(8, 0), "partly-its-own").await.unwrap();
    reaches(&v1, &own, JobState::Done).await;
    // A job that has a part on every seller, also on the one whose disk fails.
    let long = order(&b1, &job(8, 10), "the-long-job").await.unwrap();
    reaches(&b1, &long, JobState::Running).await;
    limit_files(pid, "1");
    halts(&network, "v2", to).await;
    let at = status(&v1).await.height;
    until(&v1, "going on without it", |now| now.height >= at + 4).await;

    limit_files(pid, "unlimited");
    let head = status(&v1).await.height;
    let cured = |now: &NodeStatus| now.state == NodeState::Ready && now.height >= head;
    let back = until(&v2, "ready again", cured).await;
    assert_eq!(
        (back.pid, back.troubles.len()),
        (pid, 0),
        "the same process"
    );
    let paid = pay(&v2, to, "paid-while-halted").await.unwrap();
    let again = pay(&v2, to, "paid-while-halted").await.unwrap();
    assert_eq!(paid, again);
    let long = reaches(&b1, &long, JobState::Done).await;
    assert_eq!((long.preemptions, long.exits.len()), (0, 8));

    // A buyer's: an order that was refused is taken once, when it is asked for again.
    let pid = status(&b1).await.pid;
    limit_files(pid, "1");
    halts(&network, "b1", to).await;
    limit_files(pid, "unlimited");
    until(&b1, "ready again", |now| now.state == NodeState::Ready).await;
    let key = "ordered-while-halted";
    let late = order(&b1, &job(1, 0), key).await.unwrap();
    reaches(&b1, &late, JobState::Done).await;
    let jobs: Vec<JobRecord> = b1.get("/jobs?all=true").await.unwrap();
    assert_eq!(jobs.len(), 2);

    for name in ["v2", "b1"] {
        let log = std::fs::read(network.folder().log(name)).unwrap();
        let log = String::from_utf8_lossy(&log);
        assert!(!log.contains("panicked"), "{log}");
    }
    network.stop().unwrap();
}
