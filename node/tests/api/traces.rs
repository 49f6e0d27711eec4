//! Traces of a node without a collector, and of one whose collector hangs.

use super::routes::job;
use super::served::Served;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The value of a metric.
async fn metric(at: &Served, line: &str) -> u64 {
    let text = at.world.backend.metrics().await;
    let found = text
        .lines()
        .find_map(|l| l.strip_prefix(line)?.strip_prefix(' '));
    found
        .unwrap_or_else(|| panic!("no {line}: {text}"))
        .parse()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_collector_tells_nobody() {
    let at = Served::start(&[]).await;
    let tracing = tokio::spawn(Arc::clone(&at.world.backend).trace_orders());
    timeout(Duration::from_secs(10), tracing)
        .await
        .unwrap()
        .unwrap();
    job(&at).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    for outcome in ["sent", "refused", "dropped"] {
        let name = format!("gridbay_traces_spans_total{{outcome=\"{outcome}\"}}");
        assert_eq!(metric(&at, &name).await, 0);
    }
    assert_eq!(metric(&at, "gridbay_traces_spans_waiting").await, 0);
    assert!(!at.world.dir.path().join("traces.json").exists());
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_hangs_does_not_slow_the_node() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hanging = tokio::spawn(async move {
        let mut held: Vec<TcpStream> = Vec::new();
        loop {
            held.push(listener.accept().await.unwrap().0);
        }
    });
    let at = Served::start(&[&format!("traces.endpoint=http://{address}/v1/traces")]).await;
    let tracing = tokio::spawn(Arc::clone(&at.world.backend).trace_orders());
    let begun = Instant::now();
    while metric(&at, "gridbay_traces_failures_total").await == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no attempt gives up"
        );
        let asked = Instant::now();
        job(&at).await;
        assert!(
            asked.elapsed() < Duration::from_secs(5),
            "{:?}",
            asked.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let sent = "gridbay_traces_spans_total{outcome=\"sent\"}";
    assert_eq!(metric(&at, sent).await, 0);
    let file = at.world.dir.path().join("traces.json");
    assert!(
        !file.exists(),
        "nothing has arrived, so a node that starts again tells it"
    );
    tracing.abort();
    hanging.abort();
    at.stop().await;
}
