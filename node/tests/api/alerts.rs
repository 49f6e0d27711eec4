//! Alerts that a node sends by itself, to a listener of the test.

use super::served::Served;
use gridbay_node::api::types::*;
use gridbay_protocol::ids::AccountId;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Takes one request and answers it; returns its JSON.
async fn take(listener: &TcpListener, status: &str) -> Value {
    let taken = async {
        let (mut io, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        let body = loop {
            let mut piece = [0; 4_096];
            let n = io.read(&mut piece).await.unwrap();
            assert!(n > 0, "it broke off");
            got.extend_from_slice(&piece[..n]);
            let text = String::from_utf8_lossy(&got);
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
            if let Some(body) = body.and_then(|body| serde_json::from_str(body).ok()) {
                break body;
            }
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        io.write_all(answer.as_bytes()).await.unwrap();
        body
    };
    timeout(Duration::from_secs(60), taken).await.unwrap()
}

async fn pay(at: &Served, to: AccountId, amount: &str) {
    let asked = json!({"to": to, "amount": amount, "memo": null});
    let paid: Result<Transferred, _> = at.client().post("/ledger/transfer", &asked, None).await;
    paid.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_balance_that_falls_is_told_once_by_every_way_until_it_arrives() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!(
        "alerts.webhook=http://{}/hook",
        listener.local_addr().unwrap()
    );
    let flags = [
        hook.as_str(),
        "alerts.command=[\"sh\", \"-c\", \"cat >> told; echo >> told\"]",
        "alerts.file=alerts.mbox",
        "alerts.balance=60",
        "alerts.after=0s",
    ];
    let at = Served::start(&flags).await;
    let watching = tokio::spawn(Arc::clone(&at.world.backend).watch_over());
    let all: AlertList = at.client().get("/alerts").await.unwrap();
    assert_eq!((all.open.len(), all.ways.len()), (0, 3));

    let of_beta: Balance = at
        .client()
        .get("/ledger/balance?account=beta")
        .await
        .unwrap();
    let beta = of_beta.account;
    pay(&at, beta, "50").await;
    let first = take(&listener, "503 Not Now").await;
    assert_eq!(
        (&first["kind"], &first["state"]),
        (&json!("low_balance"), &json!("raised"))
    );
    assert_eq!(first["what"], "the account has 50 credits, less than 60");
    assert_eq!(
        (&first["name"], &first["network"]),
        (&json!("test"), &json!("one"))
    );
    let again = take(&listener, "200 OK").await;
    assert_eq!(again, first, "the same one is sent again");
    // It falls further, which is no news.
    pay(&at, beta, "1").await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    let all: AlertList = at.client().get("/alerts").await.unwrap();
    assert_eq!(all.open.len(), 1);
    assert_eq!(all.open[0].kind, AlertKind::LowBalance);
    for line in &all.ways {
        let what = (line.waiting, line.told, line.lost, line.failure.clone());
        assert_eq!(what, (0, 1, 0, None), "{:?}", line.way);
    }
    let told = std::fs::read_to_string(at.world.dir.path().join("told")).unwrap();
    let told: Value = serde_json::from_str(told.trim()).unwrap();
    assert_eq!(told, first, "the command got the same");
    let mail = std::fs::read_to_string(at.world.dir.path().join("alerts.mbox")).unwrap();
    let subject = "Subject: gridbay test: the account has 50 credits, less than 60\n";
    assert!(mail.contains(subject), "{mail}");
    watching.abort();
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_tells_how_each_way_fares() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!(
        "alerts.webhook=http://{}/hook",
        listener.local_addr().unwrap()
    );
    let flags = [hook.as_str(), "alerts.command=false"];
    let at = Served::start(&flags).await;
    let client = at.client();
    let asked = client.post::<Vec<AlertTried>>("/alerts/test", &(), None);
    let (tried, got) = tokio::join!(asked, take(&listener, "200 OK"));
    let tried = tried.unwrap();
    assert_eq!(
        (tried[0].way, &tried[0].failure),
        (AlertWay::Webhook, &None)
    );
    let why = tried[1].failure.as_deref().unwrap();
    assert!(why.starts_with("false ended with"), "{why}");
    assert_eq!(got["kind"], "test");
    at.stop().await;

    let at = Served::start(&[]).await;
    let error = at
        .client()
        .post::<Vec<AlertTried>>("/alerts/test", &(), None)
        .await;
    assert_eq!(error.unwrap_err().code.name(), "usage");
    let all: AlertList = at.client().get("/alerts").await.unwrap();
    assert_eq!((all.open, all.ways), (vec![], vec![]));
    at.stop().await;
}
