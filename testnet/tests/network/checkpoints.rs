//! A counting job on real processes goes on where it was: when a buy takes its nodes again and
//! again, and when its seller is killed.

use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    How, JobAttempt, JobRecord, JobRequest, JobState, NodeStatus, Want,
};
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, cli, plan};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Counts to the number given, and keeps the count after each step. Says where it began, where it
/// was stopped, and its end.
const COUNT: &str = r#"
    cd "$GRIDBAY_CHECKPOINT"
    trap 'echo to $(cat count 2>/dev/null || echo 0); exit 0' TERM
    n=$(cat count 2>/dev/null || echo 0)
    test "$n" = 0 || test "$GRIDBAY_RESUMED" = 1
    echo from $n
    while [ $n -lt $0 ]; do
        n=$((n + 1)); echo $n > count.tmp; mv count.tmp count; sleep 0.05
    done
    echo end $n"#;

/// A counting job whose checkpoint is fetched every second.
pub(crate) fn counting(class: &str, nodes: u32, how: How, price: u64, to: u32) -> JobRequest {
    let to = to.to_string();
    let checkpoint = Checkpoint {
        folder: "ckpt".into(),
        grace_seconds: 20,
        every_seconds: 1,
    };
    JobRequest {
        project: None,
        worth: None,
        name: None,
        want: Want {
            class: Some(class.into()),
            nodes,
            max_price: Some(plan::credits(price)),
            seconds: 120,
            budget: None,
            how,
        },
        argv: ["sh", "-c", COUNT, &to].map(str::to_owned).to_vec(),
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Relays::Free,
        checkpoint: Some(checkpoint),
    }
}

pub(crate) async fn job(client: &Client, sent: &JobRecord) -> JobRecord {
    client.get(&format!("/jobs/{}", sent.id)).await.unwrap()
}

/// What an attempt at a rank put out; the present one if `None`.
pub(crate) async fn stdout(
    client: &Client,
    job: &JobRecord,
    rank: u32,
    attempt: Option<u32>,
) -> String {
    let which = attempt.map_or(String::new(), |n| format!("&attempt={n}"));
    let path = format!("/jobs/{}/logs?rank={rank}&stream=stdout{which}", job.id);
    let answer = client.download(&path).await.unwrap();
    let bytes = client::body(answer, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The number behind a word at the beginning of a line.
pub(crate) fn number(text: &str, word: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.trim().parse().ok()
}

pub(crate) fn of_rank(job: &JobRecord, rank: u32) -> Vec<&JobAttempt> {
    job.attempts.iter().filter(|a| a.rank == rank).collect()
}

async fn network(name: &str, dir: &Path) -> Network {
    let folder = RunFolder::create_in(dir, name).unwrap();
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, Plan::local(name, 4, 2), PATIENCE, &quiet);
    started.await.unwrap()
}

/// Buys a large node for a moment, and waits until that has been.
async fn buy_one(rich: &Client) {
    let mut buy = counting("large", 1, How::BUY, 80, 1);
    buy.checkpoint = None;
    buy.argv = vec!["true".into()];
    let bought: JobRecord = rich.post("/jobs", &buy, None).await.unwrap();
    let ended = until("the buy has run", async || {
        let now = job(rich, &bought).await;
        now.state.is_final().then_some(now)
    })
    .await;
    assert_eq!(ended.state, JobState::Done, "{ended:?}");
}

#[tokio::test]
async fn a_job_whose_nodes_are_taken_again_and_again_goes_on_where_it_was() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let network = network("preempted", dir.path()).await;
    let (low, rich) = (network.node("b1").client(), network.node("b2").client());
    // All four large nodes, so that every buy takes them.
    let want = counting("large", 4, How::BID, 20, 400);
    let sent: JobRecord = low.post("/jobs", &want, None).await.unwrap();
    let mut stopped = Vec::new();
    for times in 0..3 {
        let began = async |rank| stdout(low, &sent, rank, None).await.contains("from ");
        until("all ranks count", async || {
            let now = job(low, &sent).await;
            let attempts = (0..4).all(|r| of_rank(&now, r).len() == times + 1);
            let runs = now.state == JobState::Running && attempts;
            (runs && began(0).await && began(3).await).then_some(())
        })
        .await;
        buy_one(rich).await;
        // Where each attempt was stopped, as long as the job has not ended.
        until("all ranks go on", async || {
            let now = job(low, &sent).await;
            (0..4)
                .all(|r| of_rank(&now, r).len() > times + 1)
                .then_some(())
        })
        .await;
        for rank in 0..4 {
            let said = stdout(low, &sent, rank, Some(times as u32)).await;
            stopped.push((rank, times, number(&said, "to ").expect("it was told")));
        }
    }
    let done = until("the job", async || {
        let now = job(low, &sent).await;
        now.state.is_final().then_some(now)
    })
    .await;
    assert_eq!(done.state, JobState::Done, "{done:?}");
    for rank in 0..4 {
        assert_eq!(
            number(&stdout(low, &sent, rank, None).await, "end "),
            Some(400)
        );
        let attempts = of_rank(&done, rank);
        assert!(attempts.len() >= 4, "{attempts:?}");
        let (last, before) = attempts.split_last().unwrap();
        assert_eq!(last.end.as_deref(), Some("done"));
        for (attempt, next) in before.iter().zip(&attempts[1..]) {
            // The seller may have heard of the buy before the buyer did.
            let end = attempt.end.as_deref();
            assert!(matches!(end, Some("preempted" | "stopped")), "{attempts:?}");
            let from = next.resumed.expect("it went on");
            assert_eq!(from.attempt, attempt.attempt, "{attempts:?}");
        }
        // No count was lost: the ends grow, and the last attempt began at the last of them.
        let ends: Vec<u32> = { stopped.iter() }
            .filter_map(|(r, _, end)| (*r == rank).then_some(*end))
            .collect();
        assert!(ends.is_sorted() && ends[0] > 0, "{ends:?}");
        let began = number(&stdout(low, &sent, rank, None).await, "from ");
        assert!(began >= ends.last().copied(), "{began:?} after {ends:?}");
    }
}

/// The counts that lie at a buyer's node.
fn counts_at(home: &Path) -> Option<u32> {
    let contents = fs::read_dir(home.join("checkpoints/contents")).ok()?;
    let number = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
    contents.filter_map(|e| number(e.ok()?.path())).max()
}

/// A job that counts to 400, as a user sends it.
async fn sent_by_command(buyer: &Client, home: &Path) -> JobRecord {
    let order = "run --detach --class small --max-price 20 --time 2m";
    let keeps = "--checkpoint ckpt --grace 20s --every 1s --";
    let words = order.split(' ').chain(keeps.split(' '));
    let words: Vec<&str> = words.chain(["sh", "-c", COUNT, "400"]).collect();
    let id = cli::run(&program(), home, &words).await.unwrap();
    buyer.get(&format!("/jobs/{}", id.trim())).await.unwrap()
}

#[tokio::test]
async fn a_killed_seller_costs_at_most_what_came_after_the_last_checkpoint() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let mut network = network("killed", dir.path()).await;
    let buyer = network.node("b1").client().clone();
    let home = network.node("b1").home.path().to_owned();
    let sent = sent_by_command(&buyer, &home).await;
    let mut follow = cli::command(&program(), &home);
    follow
        .args(["job", "logs", "-f", &sent.id.to_string()])
        .stdin(Stdio::null());
    let follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let held = until("two checkpoints", async || {
        let first = counts_at(&home)?;
        let later = until("a later one", async || {
            counts_at(&home).filter(|c| *c > first)
        })
        .await;
        Some(later)
    })
    .await;
    let node = of_rank(&job(&buyer, &sent).await, 0)[0].node;
    let mut seller = None;
    for node_of in network.nodes() {
        let status: NodeStatus = node_of.client().get("/node").await.unwrap();
        if status.node == node {
            seller = Some(node_of.name.clone());
        }
    }
    network.kill(&seller.expect("one of them")).unwrap();
    let began = until("the next attempt", async || {
        let now = job(&buyer, &sent).await;
        let said = stdout(&buyer, &sent, 0, None).await;
        let again = of_rank(&now, 0).len() > 1;
        number(&said, "from ").filter(|_| again)
    })
    .await;
    assert!(began >= held, "{began} after {held}");
    let done = until("the job", async || {
        let now = job(&buyer, &sent).await;
        now.state.is_final().then_some(now)
    })
    .await;
    assert_eq!(done.state, JobState::Done, "{done:?}");
    let said = stdout(&buyer, &sent, 0, None).await;
    assert_eq!(number(&said, "end "), Some(400));
    let followed = follow.wait_with_output().unwrap();
    let followed = String::from_utf8(followed.stdout).unwrap();
    assert!(
        followed.starts_with("from 0\n") && followed.ends_with(&said),
        "{followed}"
    );
    let attempts = of_rank(&done, 0);
    let last = attempts.last().unwrap();
    assert!(last.node != node && last.resumed.is_some(), "{attempts:?}");
    // Nothing of it is left at the buyer's.
    until("the checkpoint is forgotten", async || {
        counts_at(&home).is_none().then_some(())
    })
    .await;
}
