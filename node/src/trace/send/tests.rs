//! Tests against collectors of their own.

use super::*;
use crate::config::Webhook;
use crate::trace::outbox::tests::spans;
use crate::trace::outbox::{BATCH, MOST};
use crate::trace::told::Told;
use serde_json::Value;
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

fn courier(port: u16, patience: Duration) -> Courier {
    let config = TracesConfig {
        endpoint: Webhook {
            tls: false,
            host: "127.0.0.1".to_owned(),
            port,
            authority: format!("127.0.0.1:{port}"),
            target: "/v1/traces".to_owned(),
        },
        percent: 100,
        authorities: None,
    };
    let from = Sender {
        name: "attic".to_owned(),
        network: "one".to_owned(),
    };
    Courier::new(&config, &from, (patience, Duration::ZERO)).unwrap()
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Takes one request and answers it; returns its head and its JSON.
async fn take(listener: &TcpListener, status: &str) -> (String, Value) {
    let (mut io, _) = listener.accept().await.unwrap();
    let (head, body) = read(&mut io).await;
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
    io.write_all(answer.as_bytes()).await.unwrap();
    (head, body)
}

async fn read(io: &mut TcpStream) -> (String, Value) {
    let mut got = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let n = io.read(&mut piece).await.unwrap();
        assert!(n > 0, "it broke off");
        got.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&got);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head.to_ascii_lowercase(), body);
        }
    }
}

#[tokio::test]
async fn a_batch_is_one_request_of_otlp_in_json() {
    let (listener, port) = listener().await;
    let (outbox, mut courier) = (Outbox::default(), courier(port, PATIENCE));
    let told = Told {
        height: 9,
        ..Told::default()
    };
    outbox.push(spans(0..3), told);
    let (batch, (head, body)) = tokio::join!(courier.carry(&outbox), take(&listener, "200 OK"));
    assert_eq!((batch.spans.len(), batch.told), (3, Some(told)));
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    let resource = &body["resourceSpans"][0];
    let about = resource["resource"]["attributes"].as_array().unwrap();
    let about = |key: &str| {
        let found = about.iter().find(|kv| kv["key"] == key);
        found.map(|kv| kv["value"]["stringValue"].as_str().unwrap().to_owned())
    };
    assert_eq!(about("service.name").as_deref(), Some("gridbay"));
    assert_eq!(about("service.instance.id").as_deref(), Some("attic"));
    assert_eq!(about("gridbay.network").as_deref(), Some("one"));
    let sent = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[0]["traceId"], "07".repeat(16));
    assert_eq!(sent[0]["spanId"], "07".repeat(8));
    assert_eq!(sent[0]["startTimeUnixNano"], "1000000");
    assert_eq!(outbox.counts().sent.load(Relaxed), 3);
}

#[tokio::test]
async fn a_fault_of_the_collector_is_tried_again_and_a_refusal_is_not() {
    let (listener, port) = listener().await;
    let (outbox, mut courier) = (Outbox::default(), courier(port, PATIENCE));
    outbox.push(spans(0..2), Told::default());
    let answers = async {
        let first = take(&listener, "503 Not Now").await.1;
        assert_eq!(first, take(&listener, "200 OK").await.1, "the same again");
    };
    tokio::join!(courier.carry(&outbox), answers);
    assert!(!courier.failing);
    outbox.push(spans(2..5), Told::default());
    tokio::join!(courier.carry(&outbox), take(&listener, "400 Bad Request"));
    assert!(courier.failing, "which is said once");
    let counts = outbox.counts();
    let counted = [&counts.sent, &counts.refused, &counts.failures].map(|c| c.load(Relaxed));
    assert_eq!(counted, [2, 3, 1]);
}

#[tokio::test]
async fn a_collector_that_hangs_holds_up_nobody_and_takes_no_more_memory() {
    let (listener, port) = listener().await;
    let outbox = Arc::new(Outbox::default());
    let mut courier = courier(port, Duration::from_millis(100));
    // It takes every connection, and never says a word.
    let hanging = tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            held.push(listener.accept().await.unwrap());
        }
    });
    let queue = Arc::clone(&outbox);
    let carrying = tokio::spawn(async move { courier.carry(&queue).await });
    let begun = Instant::now();
    for n in 0..40 {
        outbox.push(spans(n * 500..(n + 1) * 500), Told::default());
        assert!(outbox.waiting() <= MOST);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    let failed = || outbox.counts().failures.load(Relaxed);
    while failed() < 2 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "no attempt gives up"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let counts = outbox.counts();
    let (waiting, dropped) = (outbox.waiting(), counts.dropped.load(Relaxed) as usize);
    let carried = 20_000 - waiting - dropped;
    assert!(carried <= BATCH, "{carried} are with the courier");
    assert_eq!(counts.sent.load(Relaxed), 0);
    carrying.abort();
    hanging.abort();
}
