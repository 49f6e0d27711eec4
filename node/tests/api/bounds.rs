//! Bounds on the connections, time and bytes that one client of the API may take from others, and
//! the words in which it is told.

use super::served::Served;
use super::tokens::{self, make};
use super::world::Settings;
use axum::Router;
use futures::future::join_all;
use gridbay_node::api::types::*;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// Far above every limit of the API.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Far below the limits that would free what is held.
const SOON: Duration = Duration::from_secs(8);
/// Thrice the time that a connection may say nothing.
const SILENCE: Duration = Duration::from_secs(30);

pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

pub(super) async fn connect(at: &Served, tcp: bool) -> Box<dyn Io> {
    match at.tcp.filter(|_| tcp) {
        Some(address) => Box::new(TcpStream::connect(address).await.unwrap()),
        None => Box::new(UnixStream::connect(&at.config.api.socket).await.unwrap()),
    }
}

/// A request's head as from a program that may ask, without its empty line.
pub(super) fn head(at: &Served, what: &str) -> String {
    let token = fs::read_to_string(at.config.home.token()).unwrap_or_default();
    let host = at.tcp.map_or("localhost".to_owned(), |a| a.to_string());
    let token = token.trim();
    format!("{what} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n")
}

/// One answer, read to the end of the connection: its head in lower case, and its body.
async fn answer(io: &mut (impl Io + ?Sized)) -> (String, Value) {
    let mut bytes = Vec::new();
    timeout(PATIENCE, io.read_to_end(&mut bytes))
        .await
        .expect("the node closes the connection")
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    (head.to_ascii_lowercase(), body)
}

pub(super) async fn ask(at: &Served, tcp: bool, what: &str, more: &str) -> (String, Value) {
    let mut io = connect(at, tcp).await;
    let text = format!("{}Connection: close\r\n{more}", head(at, what));
    io.write_all(text.as_bytes()).await.unwrap();
    answer(&mut *io).await
}

/// Connections that are open and say nothing, or half of what they have to, in every way.
pub(super) async fn hold(at: &Served, tcp: bool, n: usize) -> Vec<Box<dyn Io>> {
    let mut held = Vec::new();
    for i in 0..n {
        let mut io = connect(at, tcp).await;
        let health = head(at, "GET /healthz");
        let text = match i % 4 {
            0 => String::new(),
            1 => "GET /healthz HT".to_owned(),
            2 => health,
            _ => format!("{health}\r\n"),
        };
        io.write_all(text.as_bytes()).await.unwrap();
        if i % 4 == 3 {
            // Kept alive after its answer.
            let mut byte = [0];
            io.read_exact(&mut byte).await.unwrap();
        }
        held.push(io);
    }
    held
}

#[tokio::test]
async fn connections_that_say_nothing_keep_nobody_out() {
    for tcp in [false, true] {
        let sets = ["api.listen=127.0.0.1:0", "api.connections=8"];
        let at = Served::start(&sets).await;
        let held = hold(&at, tcp, 200).await;
        for what in ["GET /healthz", "GET /api/v1/node"] {
            let asked = timeout(SOON, ask(&at, tcp, what, "\r\n")).await;
            let (head, _) = asked.expect("it is answered at once");
            assert!(head.starts_with("http/1.1 200"), "{tcp} {what}: {head}");
        }
        let client = at.client();
        let status = timeout(SOON, client.get::<NodeStatus>("/node")).await;
        let told = status.unwrap().unwrap();
        assert_eq!(told.network, at.world.genesis.network());
        drop(held);
        at.stop().await;
    }
}

#[tokio::test]
async fn connections_that_say_nothing_are_closed() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let mut held = hold(&at, false, 4).await;
    held.extend(hold(&at, true, 4).await);
    let ended = timeout(SILENCE, async {
        for mut io in held {
            // A reset is an end, too.
            let _closed = io.read_to_end(&mut Vec::new()).await;
        }
    });
    ended.await.expect("the node ends all of them");
    at.stop().await;
}

#[tokio::test]
async fn a_node_ends_beside_connections_that_say_nothing() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let _unix = hold(&at, false, 8).await;
    let _tcp = hold(&at, true, 8).await;
    timeout(SOON, at.stop()).await.expect("it ends at once");
}

#[tokio::test]
async fn bodies_that_stop_are_broken_off() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    for (what, key) in [
        ("POST /api/v1/jobs", ""),
        ("POST /api/v1/jobs", "Idempotency-Key: 0123456789\r\n"),
    ] {
        let more = format!("{key}Content-Length: 100\r\n\r\n{{\"name\"");
        let (head, body) = ask(&at, true, what, &more).await;
        assert!(head.starts_with("http/1.1 408"), "{head}");
        assert_eq!(body["code"], "too_slow");
    }
    let more = "Content-Length: 100\r\n\r\nhalf";
    let (head, body) = ask(&at, false, "PUT /api/v1/content", more).await;
    assert!(head.starts_with("http/1.1 4"), "{head}");
    assert!(body["code"].is_string(), "{body}");
    at.stop().await;
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_before_it_is_sent() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    for (what, key) in [
        ("POST /api/v1/jobs", ""),
        ("POST /api/v1/quote", "Idempotency-Key: 0123456789\r\n"),
        ("POST /api/v1/node/drain", ""),
        ("PUT /api/v1/offers", ""),
        ("PUT /api/v1/content", ""),
    ] {
        let more = format!("{key}Content-Length: 99999999999\r\n\r\n");
        let asked = timeout(SOON, ask(&at, true, what, &more)).await;
        let (head, body) = asked.expect("it is answered at once");
        assert!(head.starts_with("http/1.1 413"), "{what}: {head}");
        assert_eq!(body["code"], "too_large", "{what}");
    }
    at.stop().await;
}

#[tokio::test]
async fn more_requests_than_can_be_worked_on_are_refused_and_health_is_told() {
    let sets = ["api.listen=127.0.0.1:0", "api.connections=4"];
    let at = Served::start(&sets).await;
    let mut held = Vec::new();
    let half = format!(
        "{}Content-Length: 9\r\n\r\nh",
        head(&at, "POST /api/v1/jobs")
    );
    for _ in 0..8 {
        let mut io = connect(&at, true).await;
        io.write_all(half.as_bytes()).await.unwrap();
        held.push(io);
    }
    // Eight are there, as many as may work and wait; when that is so the next one is refused.
    let refused = async {
        loop {
            let (head, body) = ask(&at, true, "GET /api/v1/node", "\r\n").await;
            if head.starts_with("http/1.1 503") {
                return (head, body);
            }
        }
    };
    let (told, body) = timeout(SOON, refused).await.expect("it is refused at once");
    assert!(told.contains("retry-after: 1"), "{told}");
    assert_eq!(body["code"], "busy");
    let (health, _) = timeout(SOON, ask(&at, true, "GET /healthz", "\r\n"))
        .await
        .unwrap();
    assert!(health.starts_with("http/1.1 200"), "{health}");
    let owner = timeout(SOON, at.client().get::<NodeStatus>("/node")).await;
    assert_eq!(
        owner.unwrap().unwrap().network,
        at.world.genesis.network(),
        "the socket has its own bound"
    );
    drop(held);
    let freed = async {
        while !ask(&at, true, "GET /api/v1/node", "\r\n")
            .await
            .0
            .starts_with("http/1.1 200")
        {}
    };
    timeout(PATIENCE, freed).await.expect("turns come back");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_that_wait_for_a_block_leave_their_turns_to_others() {
    let settings = Settings {
        block_ms: 10_000,
        ..Settings::default()
    };
    let sets = ["api.listen=127.0.0.1:0", "api.connections=2"];
    let at = Served::with(&sets, settings, Router::new()).await;
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let pay = TransferRequest {
        to,
        amount: "1".parse().unwrap(),
        memo: None,
    };
    let client = at.client();
    // Some under a key, as programs pay.
    let keys = [None, Some("key-of-one"), None, Some("key-of-another")];
    let pays = keys.map(|key| client.post::<Transferred>("/ledger/transfer", &pay, key));
    let look = async {
        // They rest by then, as many as may at once.
        tokio::time::sleep(Duration::from_secs(1)).await;
        timeout(Duration::from_secs(3), client.get::<NodeStatus>("/node")).await
    };
    let (paid, looked) = tokio::join!(join_all(pays), look);
    looked.expect("it has a turn at once").unwrap();
    for paid in paid {
        assert!(paid.unwrap().height > 0);
    }
    at.stop().await;
}

#[tokio::test]
async fn a_token_whose_bodies_drip_keeps_no_other_out() {
    let sets = ["api.listen=127.0.0.1:0", "api.connections=8"];
    let at = Served::start(&sets).await;
    let reader = make(&at, "watcher", Scope::Read, None).await.token;
    let address = at.tcp.unwrap();
    let half = format!(
        "POST /api/v1/quote HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {reader}\r\n\
         Connection: close\r\nContent-Length: 1000\r\n\r\nh"
    );
    let mut held = Vec::new();
    for _ in 0..16 {
        let mut io = connect(&at, true).await;
        io.write_all(half.as_bytes()).await.unwrap();
        held.push(io);
    }
    for what in ["GET /api/v1/node", "GET /metrics", "GET /healthz"] {
        let asked = timeout(SOON, ask(&at, true, what, "\r\n")).await;
        let (head, _) = asked.expect("it is answered at once");
        assert!(head.starts_with("http/1.1 200"), "{what}: {head}");
    }
    // All but a quarter of the turns are refused at once.
    let answers = held.iter_mut().map(|io| timeout(SOON, answer(&mut **io)));
    let answers = join_all(answers).await.into_iter().filter_map(Result::ok);
    let refused: Vec<_> = answers.filter(|(_, body)| body["code"] == "busy").collect();
    assert_eq!(refused.len(), 14, "{refused:?}");
    let why = "this token has 2 requests at work already";
    assert!(refused.iter().all(|(_, body)| body["message"] == why));
    drop(held);
    let again = async { while tokens::ask(&at, &reader, "GET", "/api/v1/node").await.0 != 200 {} };
    timeout(PATIENCE, again).await.expect("its part comes back");
    at.stop().await;
}

#[tokio::test]
async fn a_body_that_is_still_on_its_way_holds_no_turn() {
    let sets = ["api.listen=127.0.0.1:0", "api.connections=4"];
    let at = Served::start(&sets).await;
    let head = head(&at, "POST /api/v1/jobs");
    let half = format!("{head}Content-Length: 9\r\n\r\nh");
    let mut held = Vec::new();
    for _ in 0..7 {
        let mut io = connect(&at, true).await;
        io.write_all(half.as_bytes()).await.unwrap();
        held.push(io);
    }
    let asked = timeout(SOON, ask(&at, true, "GET /api/v1/node", "\r\n")).await;
    let (head, _) = asked.expect("it is answered at once");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    drop(held);
    at.stop().await;
}

#[tokio::test]
async fn refusals_have_the_headers_that_their_status_asks_for() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let (head, body) = ask(&at, true, "GET /api/v1/node/drain", "\r\n").await;
    assert!(
        head.starts_with("http/1.1 405") && head.contains("\r\nallow: post"),
        "{head}"
    );
    assert_eq!(body["code"], "wrong_method");
    let address = at.tcp.unwrap();
    for (host, token, status, more) in [
        (
            address.to_string(),
            "x",
            "401",
            "\r\nwww-authenticate: bearer",
        ),
        ("evil.example".to_owned(), "x", "421", ""),
        (String::new(), "x", "421", ""),
    ] {
        let mut io = connect(&at, true).await;
        let text = format!(
            "GET /api/v1/node HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        io.write_all(text.as_bytes()).await.unwrap();
        let (head, body) = answer(&mut *io).await;
        let begin = format!("http/1.1 {status}");
        assert!(
            head.starts_with(&begin) && head.contains(more),
            "{host}: {head}"
        );
        assert!(body["hint"].is_string(), "{body}");
    }
    at.stop().await;
}

/// Words of the program that no user has written.
const FOREIGN: [&str; 12] = [
    "struct",
    "enum",
    "tuple",
    "variant ",
    "u8",
    "u16",
    "u32",
    "u64",
    "i64",
    "elements",
    "seq",
    "deserialize",
];

#[tokio::test]
async fn refusals_speak_of_what_was_sent() {
    let at = Served::start(&[]).await;
    let how = serde_json::to_value(How::BID).unwrap();
    let want = json!({"class": null, "nodes": 1, "max_price": "1", "seconds": 60, "budget": null, "how": how});
    let with = |key: &str, value: Value| {
        let mut want = want.clone();
        want[key] = value;
        want
    };
    let list = json!([null, 1, "1", 60, null, how]);
    let text = want.to_string();
    let more = format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let (head, _) = ask(&at, false, "POST /api/v1/quote", &more).await;
    assert!(
        head.starts_with("http/1.1 200"),
        "the others differ from a good one: {head}"
    );
    let cases = [
        ("POST /api/v1/quote", json!([])),
        ("POST /api/v1/quote", list.clone()),
        ("POST /api/v1/quote", json!(null)),
        ("POST /api/v1/quote", json!("x")),
        ("POST /api/v1/quote", json!(7)),
        ("POST /api/v1/quote", with("nodes", json!("many"))),
        ("POST /api/v1/quote", with("nodes", json!(-1))),
        ("POST /api/v1/quote", with("nodes", json!(1.5))),
        ("POST /api/v1/quote", with("seconds", json!({}))),
        ("POST /api/v1/quote", with("how", json!([]))),
        ("POST /api/v1/quote", with("how", json!(3))),
        ("POST /api/v1/quote", with("max_price", json!(true))),
        ("POST /api/v1/quote", with("class", json!(["small"]))),
        ("POST /api/v1/jobs", json!({"want": list})),
        ("POST /api/v1/jobs", json!([[]])),
        ("POST /api/v1/ledger/transfer", json!(["a", "1", null])),
        (
            "POST /api/v1/ledger/transfer",
            json!({"to": 5, "amount": "1", "memo": null}),
        ),
        ("POST /api/v1/invitations", json!(["1", 60])),
        (
            "PUT /api/v1/offers",
            json!([null, "small", 1, "1", null, null]),
        ),
        ("POST /api/v1/find", json!([])),
        ("POST /api/v1/peers/mark", json!(["a", "blocked", true])),
    ];
    for (what, body) in cases {
        let text = body.to_string();
        let more = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let (head, answer) = ask(&at, false, what, &more).await;
        assert!(
            head.starts_with("http/1.1 400"),
            "{what} {text}: {head} {answer}"
        );
        assert_eq!(answer["code"], "usage", "{what} {text}");
        let message = answer["message"].as_str().unwrap();
        let foreign = FOREIGN.iter().find(|word| message.contains(**word));
        assert_eq!(foreign, None, "{what} {text}: {message}");
    }
    at.stop().await;
}

#[tokio::test]
async fn refusals_speak_of_the_address_that_was_asked() {
    let at = Served::start(&[]).await;
    for path in [
        "/api/v1/ledger/headers?from=x",
        "/api/v1/ledger/headers?from=-1",
        "/api/v1/ledger/headers",
        "/api/v1/ledger/headers?from=1&from=2",
        "/api/v1/jobs/0123456789abcdef/logs?stream=x",
        "/api/v1/jobs?al=%ff",
        "/api/v1/offers/%ff",
    ] {
        let (head, answer) = ask(&at, false, &format!("GET {path}"), "\r\n").await;
        let status = if path.contains("offers") {
            "405"
        } else {
            "400"
        };
        assert!(
            head.starts_with(&format!("http/1.1 {status}")),
            "{path}: {head}"
        );
        let message = answer["message"].as_str().unwrap();
        let foreign = FOREIGN.iter().find(|word| message.contains(**word));
        assert_eq!(foreign, None, "{path}: {message}");
    }
    let (head, _) = ask(&at, false, "DELETE /api/v1/offers/%ff", "\r\n").await;
    assert!(head.starts_with("http/1.1 400"), "{head}");
    at.stop().await;
}
