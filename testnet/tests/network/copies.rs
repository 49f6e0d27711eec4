//! A second node of the lease keeps what a counting job on real processes had reached, for a
//! buyer's node that was away when the job's seller died.

use crate::checkpoints::{counting, job, number, of_rank, stdout};
use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::types::{How, JobRecord, JobRequest, JobState};
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder};
use std::fs;
use std::path::Path;

/// The highest count that lies in a store of checkpoints.
fn count_in(store: &Path) -> Option<u32> {
    let contents = fs::read_dir(store.join("contents")).ok()?;
    let number = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
    contents.filter_map(|e| number(e.ok()?.path())).max()
}

async fn name_of(network: &Network, node: &gridbay_protocol::keys::PublicKey) -> String {
    let here = |n: &&gridbay_testnet::network::Node| n.status().is_some_and(|s| s.node == *node);
    network.nodes().iter().find(here).unwrap().name.clone()
}

/// Two ranks that count for some minutes, and leave at once.
fn long() -> JobRequest {
    let mut want = counting("large", 2, How::BID, 30, 3_000);
    want.want.seconds = 400;
    if let Some(keeps) = &mut want.checkpoint {
        keeps.grace_seconds = 1;
    }
    want
}

#[tokio::test]
async fn a_job_goes_on_from_the_copy_of_another_seller_if_its_buyer_was_away() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "copies").unwrap();
    let quiet = Progress::silent();
    let plan = Plan::local("copies", 4, 2);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    let buyer = network.node("b1").client().clone();
    let home = network.node("b1").home.path().to_owned();
    let sent: JobRecord = buyer.post("/jobs", &long(), None).await.unwrap();
    let nodes = until(
        "both ranks run, and their checkpoints are here",
        async || {
            let now = job(&buyer, &sent).await;
            let node = |rank| Some(of_rank(&now, rank).last()?.node);
            let both = count_in(&home.join("checkpoints"))? > 0 && now.state == JobState::Running;
            both.then_some(())?;
            Some((node(0)?, node(1)?))
        },
    )
    .await;
    assert_ne!(nodes.0, nodes.1, "one large node each");
    let (dead, keeper) = (
        name_of(&network, &nodes.0).await,
        name_of(&network, &nodes.1).await,
    );
    let kept = network.node(&keeper).home.path().join("copies");
    until("its checkpoints have a second copy", async || {
        count_in(&kept)
    })
    .await;
    network.kill("b1").unwrap();
    let had = count_in(&home.join("checkpoints")).unwrap();
    // Much more than the two ranks may differ by.
    let copied = until("copies come while the buyer is away", async || {
        count_in(&kept).filter(|count| *count >= had + 100)
    })
    .await;
    network.kill(&dead).unwrap();
    network.restart("b1").unwrap();
    network.ready("b1", PATIENCE).await.unwrap();
    let buyer = network.node("b1").client().clone();
    let next = until("rank 0 goes on", async || {
        let now = job(&buyer, &sent).await;
        let said = stdout(&buyer, &sent, 0, None).await;
        let last = of_rank(&now, 0).last().copied().cloned()?;
        let from = number(&said, "from ")?;
        // The market may place it at the dead seller once more, where it never runs.
        (last.attempt > 0 && last.node != nodes.0).then_some((last, from))
    })
    .await;
    let (attempt, from) = next;
    assert!(from >= copied, "{from} after {copied}, {had} at the buyer");
    assert!(
        from > had,
        "{from}: newer than the {had} that came to the buyer"
    );
    until("it tells what it went on from", async || {
        let now = job(&buyer, &sent).await;
        let attempts = of_rank(&now, 0);
        let this = attempts.iter().find(|a| a.attempt == attempt.attempt)?;
        assert_eq!(this.resumed?.attempt, 0);
        Some(())
    })
    .await;
    let path = format!("/jobs/{}/cancel", sent.id);
    let _: JobRecord = buyer.post(&path, &(), None).await.unwrap();
}
