//! A lease as a private cluster, on real nodes: the ranks reach one another by name, command one
//! another, and reach nothing else.

use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::{How, JobRecord, JobRequest, JobState, Want};
use gridbay_node::executor::{Config, Executor, ProcessExecutor};
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, plan};
use std::io::Write as _;

/// What rank 0 runs: a command on each rank, and looks at what must not be there.
const PROGRAM: &str = r#"
for rank in 0 1 2 3; do
    $GRIDBAY_EXEC rank$rank 'echo $(uname -n) $GRIDBAY_RANK of $GRIDBAY_SIZE'
done
head -c 3000000 /dev/zero | $GRIDBAY_EXEC rank3 'wc -c'
cat /proc/net/dev | grep -c :
"#;

/// A job whose four ranks are led by the first.
fn led(script: &str) -> JobRequest {
    let words = ["/run/gridbay-rank", "lead", "hosts", "sh", "-c", script];
    JobRequest {
        worth: None,
        name: None,
        want: Want {
            class: Some("small".into()),
            nodes: 4,
            max_price: Some(plan::credits(20)),
            seconds: 90,
            budget: None,
            how: How::BID,
        },
        argv: words.map(str::to_owned).to_vec(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: true,
    }
}

async fn ends(client: &Client, job: &JobRecord) -> JobRecord {
    until("the job", async || {
        let now: JobRecord = client.get(&format!("/jobs/{}", job.id)).await.unwrap();
        now.state.is_final().then_some(now)
    })
    .await
}

async fn said(client: &Client, job: &JobRecord, stream: &str) -> String {
    let path = format!("/jobs/{}/logs?rank=0&stream={stream}&from=0", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Why jobs of this machine have no network, if they have none.
fn no_device(dir: &std::path::Path) -> Option<String> {
    let mut config = Config::new(dir.join("probe"));
    config.supervisor = program();
    let found = ProcessExecutor::new(config).unwrap().probe();
    found.map_or_else(|e| Some(e.to_string()), |found| found.no_device)
}

#[tokio::test]
async fn ranks_on_several_nodes_command_one_another_by_name() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    if let Some(why) = no_device(dir.path()) {
        let _ = writeln!(std::io::stderr().lock(), "not checked: no device: {why}");
        return;
    }
    let folder = RunFolder::create_in(dir.path(), "cluster").unwrap();
    let quiet = Progress::silent();
    let plan = Plan::local("cluster", 4, 1);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();

    let job: JobRecord = buyer
        .post("/jobs", &led(PROGRAM), Some("led-by-the-first"))
        .await
        .unwrap();
    let done = ends(&buyer, &job).await;
    let (out, err) = (
        said(&buyer, &job, "stdout").await,
        said(&buyer, &job, "stderr").await,
    );
    assert_eq!(done.state, JobState::Done, "{done:?}\n{out}\n{err}");
    let ranks: String = (0..4).map(|r| format!("rank{r} {r} of 4\n")).collect();
    // Two interfaces: its own loopback, and the lease's network.
    assert_eq!(out, format!("{ranks}3000000\n2\n"), "{err}");
    assert_eq!(done.exits.len(), 4);
    network.stop().unwrap();
}
