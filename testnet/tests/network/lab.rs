//! A laboratory network of real processes: an order end to end, every validator killed in turn
//! under load, and an end that leaves nothing behind.

use crate::{program, turn};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{How, JobRecord, JobRequest, JobState, NodeStatus, RankExit, Want};
use gridbay_protocol::job::JobExit;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, find_processes, plan};
use std::time::{Duration, Instant};

/// Bound on each wait; none of them is a measurement, as other networks run beside this one.
const PATIENCE: Duration = Duration::from_secs(60);

fn request(name: &str, nodes: u32, script: &str) -> JobRequest {
    JobRequest {
        project: None,
        worth: None,
        name: Some(name.into()),
        want: Want {
            class: Some("small".into()),
            nodes,
            max_price: Some(plan::credits(20)),
            seconds: 120,
            budget: None,
            how: How::BID,
        },
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

async fn submit(client: &Client, request: &JobRequest) -> JobRecord {
    client.post("/jobs", request, None).await.unwrap()
}

async fn until(client: &Client, job: &JobRecord, met: impl Fn(&JobRecord) -> bool) -> JobRecord {
    let end = Instant::now() + PATIENCE;
    loop {
        let now: JobRecord = client.get(&format!("/jobs/{}", job.id)).await.unwrap();
        if met(&now) {
            return now;
        }
        assert!(Instant::now() < end, "still {:?}", now);
        assert!(!now.state.is_final(), "ended: {now:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn stdout(client: &Client, job: &JobRecord, rank: u32) -> String {
    let path = format!("/jobs/{}/logs?rank={rank}&stream=stdout", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn height(network: &Network, name: &str) -> u64 {
    let status: NodeStatus = network.node(name).client().get("/node").await.unwrap();
    status.height
}

async fn reaches(network: &Network, name: &str, height: u64, when: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = self::height(network, name).await;
        if now >= height {
            return;
        }
        let late = Instant::now() >= end;
        assert!(!late, "{when}: {name} is at {now}, not at {height}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn ended_well(record: &JobRecord) -> bool {
    let well = |exit: &RankExit| exit.exit == JobExit::Code(0);
    record.state == JobState::Done && record.exits.iter().all(well)
}

async fn an_order_runs_end_to_end(buyer: &Client) {
    let asked = request("hello", 2, "echo $GRIDBAY_RANK of $GRIDBAY_SIZE");
    let job = submit(buyer, &asked).await;
    let job = until(buyer, &job, |record| record.state.is_final()).await;
    assert!(ended_well(&job), "{job:?}");
    assert_eq!(job.exits.len(), 2);
    for rank in 0..2 {
        assert_eq!(stdout(buyer, &job, rank).await, format!("{rank} of 2\n"));
    }
    let (accepted, running) = (job.accepted_ms, job.running_ms.unwrap());
    assert!(accepted <= running && running <= job.ended_ms.unwrap());
    assert!(job.paid.micros() > 0);
}

/// One job on every unit of the class, and each validator killed in turn while it runs a part of
/// it.
async fn killed_validators_cost_nobody_anything(network: &mut Network, buyer: &Client) {
    let script = "i=0; while [ $i -lt 20 ]; do sleep 1; i=$((i + 1)); done; echo end $GRIDBAY_RANK";
    let job = submit(buyer, &request("long", 8, script)).await;
    let job = until(buyer, &job, |record| record.state == JobState::Running).await;
    let hosts: Vec<_> = job.sellers.iter().filter_map(|s| s.name.clone()).collect();
    for (victim, witness) in [("v1", "v2"), ("v2", "v3"), ("v3", "v4"), ("v4", "v1")] {
        assert!(hosts.contains(&victim.to_owned()), "{hosts:?}");
        network.kill(victim).unwrap();
        let killed_at = height(network, witness).await;
        reaches(network, witness, killed_at + 2, "one of four is dead").await;

        network.restart(victim).unwrap();
        network.ready(victim, PATIENCE).await.unwrap();
        let head = height(network, witness).await;
        assert!(head > killed_at);
        reaches(network, victim, head, "started again").await;
    }
    let done = until(buyer, &job, |record| record.state.is_final()).await;
    assert!(ended_well(&done), "{done:?}");
    assert_eq!((done.preemptions, done.lease), (0, job.lease));
    for rank in 0..8 {
        assert_eq!(stdout(buyer, &done, rank).await, format!("end {rank}\n"));
    }
}

#[tokio::test]
async fn a_local_network_trades_survives_a_crash_and_leaves_nothing_behind() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "lab").unwrap();
    let path = folder.path().to_owned();
    let plan = Plan::local("lab", 4, 1);
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();

    an_order_runs_end_to_end(&buyer).await;
    killed_validators_cost_nobody_anything(&mut network, &buyer).await;

    assert!(find_processes(&path).unwrap().len() >= 5);
    drop(network);
    assert_eq!(find_processes(&path).unwrap(), []);
    assert!(!path.exists());
}
