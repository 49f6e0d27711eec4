//! How often one token may ask, and what it is told beyond that.

use super::served::Served;
use super::tokens::{self, make};
use gridbay_node::api::types::{NodeStatus, Scope};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Far above what the answers take.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than a token has at once, and no second's worth beside that.
const ASKED: usize = 1_000;

#[tokio::test]
async fn a_token_that_asks_without_pause_is_told_to_wait_and_no_other_is() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let reader = make(&at, "loop", Scope::Read, None).await.token;
    let other = make(&at, "calm", Scope::Read, None).await.token;
    let address = at.tcp.unwrap();
    // Also where nothing is.
    let one = |more: &str| {
        format!(
            "GET /api/v1/nothing HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {reader}\r\n{more}\r\n"
        )
    };
    let many = one("").repeat(ASKED - 1) + &one("Connection: close\r\n");
    let (mut from, mut to) = TcpStream::connect(address).await.unwrap().into_split();
    let sent = tokio::spawn(async move { to.write_all(many.as_bytes()).await.map(|()| to) });
    let mut told = String::new();
    let read = timeout(PATIENCE, from.read_to_string(&mut told)).await;
    read.expect("all are answered").unwrap();
    let _to = sent.await.unwrap().unwrap();
    let (all, refused) = (told.matches("HTTP/1.1 "), told.matches("HTTP/1.1 429"));
    let (all, refused) = (all.count(), refused.count());
    assert!(all == ASKED && refused > 0, "{refused} of {all}");
    assert!(all - refused >= 400, "{refused} of {all}");
    for word in ["retry-after: 1\r\n", "\"too_many\"", "\"at_once\":400"] {
        assert_eq!(told.matches(word).count(), refused, "{word}");
    }
    assert_eq!(tokens::ask(&at, &other, "GET", "/api/v1/node").await.0, 200);
    assert!(at.client().get::<NodeStatus>("/node").await.is_ok());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let again = tokens::ask(&at, &reader, "GET", "/api/v1/node").await;
    assert_eq!(again.0, 200);
    at.stop().await;
}
