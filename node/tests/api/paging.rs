//! Lists by pages, as programs walk them.

use super::asking::request;
use super::served::Served;
use super::world::credits;
use gridbay_node::api::client::{Client, body};
use gridbay_node::api::types::{JobRecord, Movement, TransferRequest, Transferred};
use serde::de::DeserializeOwned;

/// A page, and what leads to the next one.
async fn page<T: DeserializeOwned>(client: &Client, path: &str) -> (Vec<T>, Option<String>) {
    let answer = client.download(path).await.unwrap();
    let next = answer.headers().get("gridbay-next");
    let next = next.map(|next| next.to_str().unwrap().to_owned());
    let bytes = body(answer, 1 << 20).await.unwrap();
    (serde_json::from_slice(&bytes).unwrap(), next)
}

async fn submit(client: &Client, name: &str) -> String {
    let mut job = request(1);
    job.name = Some(name.to_owned());
    let job: JobRecord = client.post("/jobs", &job, None).await.unwrap();
    job.id.as_str().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_walked_once_each_while_others_come() {
    let at = Served::start(&[]).await;
    let client = at.client();
    let mut sent = Vec::new();
    for name in ["a", "b", "c"] {
        sent.push(submit(&client, name).await);
    }
    sent.reverse();
    let (mut seen, mut path) = (Vec::new(), "/jobs?all=true&limit=1".to_owned());
    loop {
        let (jobs, next) = page::<JobRecord>(&client, &path).await;
        seen.extend(jobs.iter().map(|job| job.id.as_str().to_owned()));
        match next {
            Some(next) => path = format!("/jobs?all=true&limit=1&after={next}"),
            None => break,
        }
        if seen.len() == 1 {
            submit(&client, "late").await;
        }
    }
    assert_eq!(seen, sent);
    let all: Vec<JobRecord> = client.all("/jobs?all=true&limit=2").await.unwrap();
    assert_eq!(all.len(), 4);
    let (whole, next) = page::<JobRecord>(&client, "/jobs?all=true").await;
    assert_eq!((whole.len(), next), (4, None));
    let (_, place) = page::<JobRecord>(&client, "/jobs?all=true&limit=1").await;
    let place = place.unwrap();
    for path in [
        "/jobs?after=0".to_owned(),
        format!("/jobs?after={place}"),
        format!("/jobs?all=true&after={place}00"),
        format!("/leases?after={place}"),
        format!("/auctions?after={place}"),
        format!("/ledger/history?after={place}"),
    ] {
        let error = client.download(&path).await.unwrap_err();
        assert_eq!(error.code.name(), "usage", "{path}");
        assert!(error.message.contains("`after`") && !error.hint.is_empty());
    }
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accounts_past_is_walked_while_money_moves() {
    let at = Served::start(&[]).await;
    let client = at.client();
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let pay = async |amount: &str| {
        let (amount, memo) = (credits(amount), None);
        let asked = TransferRequest { to, amount, memo };
        let _: Transferred = client.post("/ledger/transfer", &asked, None).await.unwrap();
    };
    for amount in ["1", "2", "3"] {
        pay(amount).await;
    }
    let amounts = |moves: &[Movement]| moves.iter().map(|m| m.amount.0).collect::<Vec<_>>();
    let (first, next) = page::<Movement>(&client, "/ledger/history?limit=1").await;
    pay("4").await;
    let rest = format!("/ledger/history?limit=1&after={}", next.unwrap());
    let rest: Vec<Movement> = client.all(&rest).await.unwrap();
    let walked = [amounts(&first), amounts(&rest)].concat();
    assert_eq!(walked, [-3_000_000, -2_000_000, -1_000_000]);
    let all: Vec<Movement> = client.all("/ledger/history?limit=3").await.unwrap();
    let whole: Vec<Movement> = client.get("/ledger/history").await.unwrap();
    assert_eq!((amounts(&all), all.len()), (amounts(&whole), 4));
    at.stop().await;
}
