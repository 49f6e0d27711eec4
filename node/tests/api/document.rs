//! The document of the API: it tells all that is served, and nothing else.

use super::served::Served;
use super::world::Settings;
use axum::Router;
use gridbay_node::api::client::body;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// Status and answer to a request without a body.
async fn ask(at: &Served, method: &str, path: &str) -> (u16, String) {
    ask_with(at, method, path, "").await
}

async fn ask_with(at: &Served, method: &str, path: &str, header: &str) -> (u16, String) {
    let mut io = UnixStream::connect(&at.config.api.socket).await.unwrap();
    let text = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\
         Content-Length: 0\r\n\r\n"
    );
    io.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_told_is_served() {
    let at = Served::with(&[], Settings::default(), Router::new()).await;
    let answer = at.client().download("/openapi.json").await.unwrap();
    let text = body(answer, 1 << 22).await.unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    let mut asked = 0;
    for (path, item) in paths {
        let place = path.replace("{height}", "1").replace("{label}", "1");
        let place = place.replace("{rank}", "0").replace("{path}", "out");
        let place = place
            .replace("{id}", "0123456789abcdef")
            .replace("{name}", "x");
        for method in item.as_object().unwrap().keys() {
            // They would end the node, or not end.
            if ["/node/stop", "/events"].contains(&path.as_str()) {
                continue;
            }
            let (status, answer) = ask(&at, &method.to_uppercase(), &place).await;
            let told = &item[method]["responses"];
            assert!(
                told.get(status.to_string()).is_some(),
                "{method} {path}: {answer}"
            );
            assert!(!answer.contains("no such address"), "{method} {path}");
            asked += 1;
        }
        let (status, answer) = ask(&at, "PATCH", &place).await;
        assert_eq!(status, 405, "{path}: {answer}");
    }
    assert!(asked > 60, "{asked}");
    at.stop().await;
}

/// What stands before each of them finds a key that is none, so it would also find a good one.
#[tokio::test(flavor = "multi_thread")]
async fn every_post_takes_an_idempotency_key() {
    let at = Served::start(&[]).await;
    let answer = at.client().download("/openapi.json").await.unwrap();
    let text = body(answer, 1 << 22).await.unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(told) = item.get("post") else {
            continue;
        };
        let parameters = told["parameters"].as_array().unwrap();
        assert!(
            parameters.iter().any(|p| p["name"] == "idempotency-key"),
            "{path}"
        );
        let place = path
            .replace("{id}", "0123456789abcdef")
            .replace("{rank}", "0");
        let (status, answer) = ask_with(&at, "POST", &place, "Idempotency-Key: short\r\n").await;
        assert_eq!(status, 400, "{path}: {answer}");
        assert!(
            answer.contains("an idempotency key has"),
            "{path}: {answer}"
        );
        let (status, _) = ask_with(&at, "POST", &place, "Idempotency-Key: 1234\t5678\r\n").await;
        assert_eq!(status, 400, "{path}: a tab is not visible");
        asked += 1;
    }
    assert!(asked > 30, "{asked}");
    at.stop().await;
}

/// Addresses are served by way of `Routes`, which tells them.
#[test]
fn all_that_is_served_is_told() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut nouns = 0;
    for entry in fs::read_dir(sources).unwrap() {
        let noun = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(noun.join("routes.rs")) else {
            continue;
        };
        let apart = noun.ends_with("metrics");
        assert_eq!(text.contains(".route("), apart, "{}", noun.display());
        nouns += 1;
    }
    assert!(nouns > 15, "{nouns}");
}
