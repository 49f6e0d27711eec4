//! A contract on real processes: a buyer's node proposes, another one provides, validators' units
//! run the jobs.

use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    Balance, Contract, ContractHow, How, JobRecord, JobRequest, JobState, NodeStatus, Want,
};
use gridbay_protocol::job::JobExit;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, plan};

const JOBS: u32 = 5;

/// Five jobs at a credit each; a tenth is owed for one that fails.
fn request(provider: String) -> JobRequest {
    JobRequest {
        project: None,
        worth: None,
        name: Some("batch".into()),
        want: Want {
            class: Some("small".into()),
            nodes: JOBS,
            max_price: None,
            seconds: 4,
            budget: None,
            how: How::Contract(ContractHow {
                provider,
                value: plan::credits(1),
                penalty: "0.1".parse().unwrap(),
                hold_seconds: 60,
                decay_seconds: 60,
                alpha_ppm: 1_000_000,
                beta16: 32,
                window_seconds: 30,
            }),
        },
        argv: ["sh", "-c", "sleep 1; echo $GRIDBAY_RANK of $GRIDBAY_SIZE"]
            .map(str::to_owned)
            .to_vec(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

async fn stdout(client: &Client, job: &JobRecord, rank: u32) -> String {
    let path = format!("/jobs/{}/logs?rank={rank}&stream=stdout", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn balance(client: &Client) -> i64 {
    let balance: Balance = client.get("/ledger/balance").await.unwrap();
    balance.balance.0
}

#[tokio::test]
async fn a_batch_of_jobs_under_contract_runs_and_is_settled() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "contract").unwrap();
    let mut plan = Plan::local("contract", 4, 2);
    let provider =
        "provider.policy = \"conservative\"\nprovider.cost = \"30\"\nprovider.most = \"200\"\n";
    plan.more.insert("b1".to_owned(), provider.to_owned());
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let network = started.await.unwrap();
    let provider = network.node("b1").client().clone();
    let buyer = network.node("b2").client().clone();
    let status: NodeStatus = provider.get("/node").await.unwrap();
    let account = status.account.unwrap().to_hex();
    let before = (balance(&buyer).await, balance(&provider).await);

    let sent: JobRecord = buyer.post("/jobs", &request(account), None).await.unwrap();
    let path = format!("/jobs/{}", sent.id);
    let done = until("the batch", async || {
        let now: JobRecord = buyer.get(&path).await.unwrap();
        now.state.is_final().then_some(now)
    })
    .await;
    assert_eq!(done.state, JobState::Done, "{done:?}");
    assert_eq!(done.exits.len(), JOBS as usize);
    assert!(done.exits.iter().all(|e| e.exit == JobExit::Code(0)));
    for rank in 0..JOBS {
        let text = stdout(&buyer, &done, rank).await;
        assert_eq!(text, format!("{rank} of {JOBS}\n"));
    }

    // All jobs done in time: five credits, and the provider keeps what its units did not cost.
    until("the settlement", async || {
        let open: Vec<Contract> = buyer.get("/contracts").await.unwrap();
        open.is_empty().then_some(())
    })
    .await;
    assert_eq!(balance(&buyer).await, before.0 - 5_000_000);
    let kept = until("the provider's last lease", async || {
        let balance: Balance = provider.get("/ledger/balance").await.unwrap();
        (balance.held.micros() == 0).then_some(balance.balance.0 - before.1)
    })
    .await;
    assert!((1..5_000_000).contains(&kept), "{kept}");
}
