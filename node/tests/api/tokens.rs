//! Tokens of programs: each opens what its scope reaches, at every address, and no more.

use super::asking::request;
use super::audit::lines;
use super::served::Served;
use gridbay_node::api::types::*;
use gridbay_node::audit::Who;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Status and JSON of the answer to a request, after which the connection ends.
pub(crate) async fn answered(at: &Served, request: &str) -> (u16, Value) {
    let mut io = TcpStream::connect(at.tcp.unwrap()).await.unwrap();
    io.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or("");
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// Status and JSON of a request without a body over HTTP.
pub(crate) async fn ask(at: &Served, token: &str, method: &str, path: &str) -> (u16, Value) {
    let address = at.tcp.unwrap();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    answered(at, &text).await
}

pub(crate) async fn make(
    at: &Served,
    name: &str,
    scope: Scope,
    valid_seconds: Option<u32>,
) -> NewToken {
    let asked = TokenRequest {
        name: name.to_owned(),
        scope,
        valid_seconds,
    };
    at.client().post("/tokens", &asked, None).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_address_a_token_opens_what_its_scope_reaches() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let mut tokens = Vec::new();
    for scope in Scope::ALL {
        tokens.push((scope, make(&at, scope.name(), scope, None).await.token));
    }
    let document: Value = at.client().get("/openapi.json").await.unwrap();
    let (mut refused, mut opened) = (0, 0);
    for (path, item) in document["paths"].as_object().unwrap() {
        let place = format!("/api/v1{path}").replace("{id}", "0123456789abcdef");
        let place = place
            .replace("{height}", "1")
            .replace("{rank}", "0")
            .replace("{name}", "x")
            .replace("{user}", "x");
        let place = place.replace("{label}", "1").replace("{path}", "out");
        // It does not end.
        if path == "/events" {
            continue;
        }
        for (method, told) in item.as_object().unwrap() {
            let needed = told["security"][0]["token"][0].as_str().unwrap();
            let needed = Scope::ALL.into_iter().find(|s| s.name() == needed).unwrap();
            for (scope, token) in &tokens {
                // It would end the node.
                if path == "/node/stop" && *scope >= needed {
                    continue;
                }
                let (status, body) = ask(&at, token, &method.to_uppercase(), &place).await;
                let by_scope = !body["details"]["needed"].is_null();
                assert_eq!(
                    by_scope,
                    *scope < needed,
                    "{scope:?} {method} {path}: {body}"
                );
                if by_scope {
                    assert_eq!((status, &body["code"]), (403, &json!("refused")));
                    assert_eq!(body["details"]["needed"], needed.name());
                    refused += 1;
                } else {
                    opened += 1;
                }
            }
        }
    }
    assert!(refused > 60 && opened > 150, "{refused} {opened}");
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_revoked_or_over_opens_nothing() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let made = make(&at, "ci", Scope::Read, None).await;
    let short = make(&at, "short", Scope::Read, Some(1)).await;
    assert!(made.record.counts && short.record.ends_ms.is_some());
    let node = "/api/v1/node";
    assert_eq!(ask(&at, &made.token, "GET", node).await.0, 200);
    assert_eq!(ask(&at, &made.token, "GET", "/metrics").await.0, 200);
    let again = json!({"name": "ci", "scope": "admin", "valid_seconds": null});
    let error = at.client().post::<NewToken>("/tokens", &again, None).await;
    assert_eq!(error.unwrap_err().code.name(), "conflict");
    let gone: TokenRecord = at.client().delete("/tokens/ci").await.unwrap();
    assert!(!gone.counts);
    assert_eq!(ask(&at, &made.token, "GET", node).await.0, 401);
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(ask(&at, &short.token, "GET", node).await.0, 401);
    let left: Vec<TokenRecord> = at.client().get("/tokens").await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(!left[0].counts);
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_actions_names_tokens_and_has_no_line_of_what_they_do_not_reach() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let reader = make(&at, "watcher", Scope::Read, None).await.token;
    let trader = make(&at, "ci", Scope::Trade, None).await.token;
    let cancel = "/api/v1/jobs/0123456789abcdef/cancel";
    for token in [&reader, &trader] {
        ask(&at, token, "POST", cancel).await;
        assert_eq!(ask(&at, token, "POST", "/api/v1/node/stop").await.0, 403);
        assert_eq!(ask(&at, token, "DELETE", "/api/v1/tokens/ci").await.0, 403);
        assert_eq!(ask(&at, token, "PATCH", "/api/v1/jobs").await.0, 405);
    }
    let told = lines(at.world.dir.path());
    let by_token = |who: &Who| matches!(who, Who::Token { .. });
    let told: Vec<_> = told.iter().filter(|line| by_token(&line.who)).collect();
    let [line] = &told[..] else {
        panic!("the trader's own deed alone: {told:?}")
    };
    assert_eq!(line.what, "POST /jobs/{id}/cancel");
    let (name, scope) = (Some("ci".to_owned()), Some("trade".to_owned()));
    assert_eq!(line.who, Who::Token { name, scope });
    at.stop().await;
}

/// Status and JSON of a `POST` with a key.
async fn post(at: &Served, token: &str, (path, key): (&str, &str), body: &Value) -> (u16, Value) {
    let address = at.tcp.unwrap();
    let mut io = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Idempotency-Key: {key}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    io.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or("");
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_each_bearers_own_and_a_job_is_that_of_its_request() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let ci = make(&at, "ci", Scope::Trade, None).await.token;
    let other = make(&at, "other", Scope::Trade, None).await.token;
    let asked = |name: &str| {
        let name = Some(name.to_owned());
        serde_json::to_value(JobRequest { name, ..request(1) }).unwrap()
    };
    let to = ("/api/v1/jobs", "key-0001");
    let (status, job) = post(&at, &ci, to, &asked("a")).await;
    assert_eq!((status, &job["name"]), (201, &json!("a")), "{job}");
    // The other's key is its own; the job is known by it, whoever asks, as after a restart.
    let (status, error) = post(&at, &other, to, &asked("b")).await;
    assert_eq!(
        (status, &error["code"]),
        (409, &json!("conflict")),
        "{error}"
    );
    let (status, same) = post(&at, &other, ("/api/v1/jobs", "key-0001"), &asked("a")).await;
    assert_eq!(
        status, 409,
        "the key belongs to what it was first used for: {same}"
    );
    let third = make(&at, "third", Scope::Trade, None).await.token;
    let (status, same) = post(&at, &third, to, &asked("a")).await;
    assert_eq!((status, &same["id"]), (201, &job["id"]), "{same}");
    let jobs: Vec<JobRecord> = at.client().get("/jobs?all").await.unwrap();
    assert_eq!(jobs.len(), 1);
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_anew_and_repeats_little_of_what_was_sent() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let reader = make(&at, "watcher", Scope::Read, None).await.token;
    let mut want = serde_json::to_value(request(1).want).unwrap();
    let to = ("/api/v1/quote", "key-0001");
    want["class"] = json!("x".repeat(900_000));
    let (status, error) = post(&at, &reader, to, &want).await;
    assert!((400..500).contains(&status), "{status} {error}");
    let told = error.to_string().len();
    assert!((100..5_000).contains(&told), "{told} bytes");
    // Nothing is kept of a question, so its key is free.
    want["class"] = Value::Null;
    let (_, quote) = post(&at, &reader, to, &want).await;
    assert_ne!(quote["code"], "conflict", "{quote}");
    at.stop().await;
}
