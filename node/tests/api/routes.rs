//! The API over real sockets: shapes, refusals, bounds, repeated requests.

use super::asking::request;
use super::served::Served;
use super::world::{Settings, credits};
use axum::Router;
use gridbay_core::key::OrderKey;
use gridbay_node::api::client::body;
use gridbay_node::api::types::*;
use gridbay_node::api::{ApiError, BindError, ErrorCode, Server};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::job::content_id;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

/// Status line, headers in lower case and body of one raw request.
async fn raw(
    mut io: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    text: &str,
) -> (u16, Value) {
    io.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or("");
    (
        status,
        serde_json::from_str(body).unwrap_or(Value::String(body.into())),
    )
}

async fn unix(at: &Served, text: &str) -> (u16, Value) {
    raw(
        UnixStream::connect(&at.config.api.socket).await.unwrap(),
        text,
    )
    .await
}

async fn tcp(at: SocketAddr, text: &str) -> (u16, Value) {
    raw(TcpStream::connect(at).await.unwrap(), text).await
}

/// Submits a job that no seller serves; its ids for users and in the node.
pub(crate) async fn job(at: &Served) -> (JobId, OrderKey) {
    let asked = at.client().post("/jobs", &request(1), None).await;
    let record: JobRecord = asked.unwrap();
    let order = record.id.as_str().parse().unwrap();
    (record.id, order)
}

const GET_NODE: &str = "GET /api/v1/node HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn shapes_are_exact_text() {
    let settings = Settings {
        credit_line: credits("50"),
        ..Settings::default()
    };
    let at = Served::with(&[], settings, Router::new()).await;
    let offer: Value = at
        .client()
        .put("/offers", &json!({"label": null, "class": "small", "units": 2, "reserve": "0.1", "buy": null, "notice_seconds": null}))
        .await
        .unwrap();
    assert_eq!(
        (&offer["reserve"], &offer["buy"]),
        (&json!("0.1"), &Value::Null)
    );
    let other = at.world.genesis.account(&at.world.genesis.members[1]);
    let pay = json!({"to": other.to_hex(), "amount": "101.5", "memo": null});
    let _moved: Value = at
        .client()
        .post("/ledger/transfer", &pay, None)
        .await
        .unwrap();
    let (status, node) = unix(&at, GET_NODE).await;
    assert_eq!(status, 200);
    assert_eq!(node["state"], "ready");
    assert_eq!(node["balance"], "-1.5");
    assert_eq!(node["held"], "0");
    assert_eq!(node["network"], at.world.genesis.network().to_hex());
    let own = at.world.genesis.account(&at.world.genesis.members[0]);
    assert_eq!(node["account"], own.to_hex());
    let path = format!("/ledger/balance?account={}", other.to_hex());
    let balance: Balance = at.client().get(&path).await.unwrap();
    let all = Signed::from(credits("201.5"));
    assert_eq!((balance.account, balance.balance), (other, all));
    let balance: Value = at.client().get("/ledger/balance").await.unwrap();
    let said = ["balance", "held", "credit_line"].map(|key| balance[key].clone());
    assert_eq!(said, ["-1.5", "0", "50"].map(|amount| json!(amount)));
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_absent_is_null() {
    // The key of the node's account is nobody's.
    let settings = Settings {
        account: 6,
        ..Settings::default()
    };
    let at = Served::with(&[], settings, Router::new()).await;
    let (status, node) = unix(&at, GET_NODE).await;
    assert_eq!((status, &node["state"]), (200, &json!("joining")));
    assert_eq!(node["account"], Value::Null);
    at.stop().await;
}

#[test]
fn every_amount_of_a_balance_has_its_own_name() {
    let balance = Balance {
        account: AccountId([7; 32]),
        balance: Signed(-1),
        held: credits("3"),
        staked: credits("4"),
        retained: credits("6"),
        in_use: credits("2"),
        arrears: credits("0.5"),
        credit_line: credits("5"),
        height: 42,
        stale: None,
        entries: Entries {
            spent: 3,
            budget: 4_800,
            spent_bytes: 900,
            budget_bytes: 2_000_000,
        },
    };
    let text = serde_json::to_value(&balance).unwrap();
    assert_eq!(
        serde_json::from_value::<Balance>(text.clone()).unwrap(),
        balance
    );
    let said = ["balance", "held", "staked", "retained", "in_use", "arrears"];
    let amounts = ["-0.000001", "3", "4", "6", "2", "0.5"];
    assert_eq!(said.map(|key| text[key].clone()), amounts.map(|a| json!(a)));
}

#[tokio::test]
async fn every_refusal_has_the_same_shape() {
    let at = Served::start(&[]).await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    for (text, status, code) in [
        (get("/api/v1/nothing"), 404, "not_found"),
        (get("/api/v1/jobs/XYZ"), 404, "not_found"),
        (get("/api/v1/jobs/0123456789abcdef"), 404, "not_found"),
        (get("/api/v1/jobs?al=1"), 400, "usage"),
        (get("/api/v1/auctions/12"), 400, "usage"),
        (get("/api/v1/auctions/1234"), 404, "not_found"),
        (get("/api/v1/ledger/balance?account=1"), 404, "not_found"),
        (get("/api/v1/ledger/headers"), 400, "usage"),
        (get("/api/v1/ledger/blocks/-1"), 400, "usage"),
        (
            get("/api/v1/jobs/0123456789abcdef/files/0/..%2Fx"),
            400,
            "usage",
        ),
        (get("/api/v1/node/drain"), 405, "wrong_method"),
        (get("/api/v1/jobs/%ff"), 400, "usage"),
        (
            get("/api/v1/jobs/0123456789abcdef/files/0/%ff"),
            400,
            "usage",
        ),
    ] {
        let (found, body) = unix(&at, &text).await;
        assert_eq!((found, &body["code"]), (status, &json!(code)), "{text}");
        assert!(
            body["message"].is_string() && body["hint"].is_string(),
            "{body}"
        );
        assert!(body.get("details").is_some());
    }
    let mut odd = serde_json::to_value(request(1)).unwrap();
    odd["colour"] = json!("red");
    let error = at
        .client()
        .post::<Value>("/jobs", &odd, None)
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::Usage);
    assert!(error.message.contains("colour"), "{error}");
    let ask = InviteRequest {
        endowment: credits("900"),
        valid_seconds: 60,
    };
    let error = at
        .client()
        .post::<Invite>("/invitations", &ask, None)
        .await
        .unwrap_err();
    let expected = ApiError::new(
        ErrorCode::InsufficientFunds,
        "100 credits available, the endowment is 900",
        "invite with a smaller endowment",
    );
    assert_eq!(error, expected);
    at.stop().await;
}

#[tokio::test]
async fn statuses_and_codes_agree() {
    for code in ErrorCode::ALL {
        assert!(code.status().is_client_error() || code.status().is_server_error());
        let text = serde_json::to_string(&code).unwrap();
        assert_eq!(serde_json::from_str::<ErrorCode>(&text).unwrap(), code);
    }
}

#[tokio::test]
async fn uploads_are_bounded_and_whole() {
    let at = Served::start(&["limits.content=100KiB"]).await;
    let bytes = vec![7u8; 90_000];
    let pieces: Vec<_> = bytes.chunks(1_000).map(|c| Ok(c.to_vec().into())).collect();
    let stream = futures::stream::iter(pieces);
    let staged: Staged = at
        .client()
        .upload("/content", 90_000, stream)
        .await
        .unwrap();
    assert_eq!(
        staged,
        Staged {
            content: content_id(&bytes),
            bytes: 90_000
        }
    );

    let (status, body) = unix(&at, "PUT /api/v1/content HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 102401\r\n\r\n").await;
    assert_eq!((status, &body["code"]), (413, &json!("too_large")));
    let (status, body) = unix(&at, "PUT /api/v1/content HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").await;
    assert_eq!(
        (status, &body["message"]),
        (400, &json!("an upload announces its length"))
    );
    at.stop().await;
}

#[tokio::test]
async fn bodies_are_bounded() {
    let at = Served::start(&[]).await;
    let mut big = request(1);
    big.argv = vec!["x".repeat(2 << 20)];
    for key in [None, Some("0123456789")] {
        let error = at
            .client()
            .post::<Value>("/jobs", &big, key)
            .await
            .unwrap_err();
        assert!(
            matches!(error.code, ErrorCode::TooLarge | ErrorCode::Unreachable),
            "{error:?}"
        );
    }
    let jobs: Vec<JobRecord> = at.client().get("/jobs?all").await.unwrap();
    assert!(jobs.is_empty());
    at.stop().await;
}

#[tokio::test]
async fn the_same_key_does_the_deed_once() {
    let at = Served::start(&[]).await;
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let pay = |amount: &str| TransferRequest {
        to,
        amount: credits(amount),
        memo: None,
    };
    let client = at.client();
    let first: Transferred = client
        .post("/ledger/transfer", &pay("1"), Some("key-0001"))
        .await
        .unwrap();
    let again: Transferred = client
        .post("/ledger/transfer", &pay("1"), Some("key-0001"))
        .await
        .unwrap();
    assert_eq!(first, again);
    let history = async || {
        let moved: Vec<Movement> = client.get("/ledger/history").await.unwrap();
        moved.len()
    };
    assert_eq!(history().await, 1, "money moves once");
    let other = client
        .post::<Transferred>("/ledger/transfer", &pay("2"), Some("key-0001"))
        .await;
    assert_eq!(other.unwrap_err().code, ErrorCode::Conflict);
    let fresh: Transferred = client
        .post("/ledger/transfer", &pay("2"), Some("key-0002"))
        .await
        .unwrap();
    assert_ne!(fresh.entry, first.entry);
    assert_eq!(history().await, 2);
    let bad = client
        .post::<Transferred>("/ledger/transfer", &pay("2"), Some("short"))
        .await;
    assert_eq!(bad.unwrap_err().code, ErrorCode::Usage);

    let one: JobRecord = client
        .post("/jobs", &request(1), Some("key-0003"))
        .await
        .unwrap();
    drop(at.stop().await);
    // Another node process derives the same id from the same key.
    let at = Served::start(&[]).await;
    let two: JobRecord = at
        .client()
        .post("/jobs", &request(1), Some("key-0003"))
        .await
        .unwrap();
    assert_eq!(one.id, two.id);
    let three: JobRecord = at.client().post("/jobs", &request(1), None).await.unwrap();
    assert_ne!(one.id, three.id);
    at.stop().await;
}

#[tokio::test]
async fn files_are_streamed_and_links_are_not_followed() {
    let at = Served::start(&[]).await;
    let (id, order) = job(&at).await;
    let folder = at.world.orders().files(&order, 0);
    fs::create_dir_all(folder.join("out")).unwrap();
    let bytes: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
    fs::write(folder.join("out/a b"), &bytes).unwrap();
    symlink("/etc/passwd", folder.join("out/link")).unwrap();
    let client = at.client();
    let answer = client
        .download(&format!("/jobs/{id}/files/0/out/a%20b"))
        .await
        .unwrap();
    assert_eq!(body(answer, 1 << 20).await.unwrap(), bytes);
    for path in ["out/link", "out", "out/none"] {
        let path = format!("/jobs/{id}/files/0/{path}");
        let error = client.download(&path).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound, "{path}");
    }
    at.stop().await;
}

#[tokio::test]
async fn tcp_wants_token_and_host() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let (address, path) = (at.tcp.unwrap(), at.config.home.token());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let token = fs::read_to_string(&path).unwrap().trim().to_owned();
    assert_eq!(token.len(), 64);
    let get = |host: &str, token: &str| {
        format!(
            "GET /api/v1/node HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
    };
    let host = format!("localhost:{}", address.port());
    assert_eq!(tcp(address, &get(&host, &token)).await.0, 200);
    let (status, body) = tcp(address, &get("evil.example", &token)).await;
    assert_eq!((status, &body["code"]), (421, &json!("wrong_host")));
    let guess = format!(
        "{}{}",
        &token[..63],
        if token.ends_with('0') { "1" } else { "0" }
    );
    assert_eq!(tcp(address, &get(&host, &guess)).await.0, 401);
    let bare = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert_eq!(tcp(address, &bare).await.0, 401);
    at.stop().await;
}

#[tokio::test]
async fn health_and_metrics_are_text() {
    let at = Served::start(&[]).await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!(unix(&at, &get("/healthz")).await, (200, json!("ok\n")));
    let (status, text) = unix(&at, &get("/metrics")).await;
    let Value::String(text) = text else {
        panic!("{text}")
    };
    assert_eq!(status, 200);
    assert!(text.contains("\ngridbay_up 1\n") && text.contains("\ngridbay_ledger_height "));
    at.stop().await;
}

#[tokio::test]
async fn one_node_per_socket_and_stale_ones_are_replaced() {
    let at = Served::start(&[]).await;
    let socket = at.config.api.socket.clone();
    assert_eq!(
        fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let second = Server::bind(&at.config).await;
    assert!(matches!(second.err(), Some(BindError::Running(_))));
    let config = at.config.clone();
    let _dir = at.stop().await;
    assert!(!socket.exists());
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists(), "a crash leaves the file");
    Server::bind(&config).await.unwrap();
}

#[tokio::test]
async fn a_node_that_is_away_is_told_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let client = gridbay_node::api::client::Client::new(dir.path().join("api.sock"));
    let error = client.get::<NodeStatus>("/node").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unreachable);
    assert!(error.message.starts_with("there is no node at "), "{error}");
}
