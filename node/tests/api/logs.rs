//! Output of jobs over the API: pieces, and ranks or attempts that there are not.

use super::routes::job;
use super::served::Served;
use gridbay_node::api::ErrorCode;
use gridbay_node::api::client::body;
use gridbay_node::api::types::{JobRecord, JobState};

#[tokio::test(flavor = "multi_thread")]
async fn logs_come_in_pieces_with_their_offsets() {
    let at = Served::start(&[]).await;
    let (id, order) = job(&at).await;
    // More than two pieces; the answers of the seller are played.
    let said: Vec<u8> = (0..600_000u32).map(|n| n as u8).collect();
    let orders = at.world.orders();
    orders.append(&order, 0, false, 0, &said).unwrap();
    let (mut all, mut from, mut pieces) = (Vec::new(), 0u64, 0);
    let cancel = format!("/jobs/{id}/cancel");
    let _ended: JobRecord = at.client().post(&cancel, &(), None).await.unwrap();
    at.world.job_in(&id, JobState::Cancelled).await;
    loop {
        let path = format!("/jobs/{id}/logs?stream=stdout&from={from}");
        let answer = at.client().download(&path).await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let (next, last) = (header("gridbay-next-offset"), header("gridbay-last"));
        all.extend_from_slice(&body(answer, 1 << 20).await.unwrap());
        from = next.parse().unwrap();
        assert_eq!(from, all.len() as u64);
        pieces += 1;
        if last == "true" {
            break;
        }
    }
    assert!(all == said && pieces == 3, "{} in {pieces}", all.len());
    at.stop().await;
}

#[tokio::test]
async fn ranks_that_there_are_not_are_told_from_those_that_have_not_run() {
    let at = Served::start(&[]).await;
    let (id, _) = job(&at).await;
    let client = at.client();
    let logs = async |words: &str| {
        let path = format!("/jobs/{id}/logs?stream=stdout{words}");
        client.download(&path).await
    };
    let yet = logs("").await.unwrap();
    assert!(yet.headers().get("gridbay-present-attempt").is_none());
    assert_eq!(yet.headers()["gridbay-last"], "false", "it may still run");
    for (words, why) in [
        ("&rank=7", "no rank 7"),
        ("&attempt=0", "rank 0 has not run yet"),
    ] {
        let error = logs(words).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(error.message.contains(why), "{error}");
    }
    at.stop().await;
}
