//! The stream of events: what changes is told, once, also to a reader who was away.

use super::routes::job;
use super::served::Served;
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// A stream of events that is open.
struct Events(Lines<BufReader<UnixStream>>);

impl Events {
    async fn open(at: &Served, last: Option<&str>) -> Events {
        let mut io = UnixStream::connect(&at.config.api.socket).await.unwrap();
        let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        let text = format!("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n{last}\r\n");
        io.write_all(text.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(io).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        assert!(first.contains(" 200 "), "{first}");
        Events(lines)
    }
    /// Id, kind and data of the next event.
    async fn next(&mut self) -> (String, String, Value) {
        let mut event = [const { String::new() }; 3];
        let read = async {
            loop {
                let line = self
                    .0
                    .next_line()
                    .await
                    .unwrap()
                    .expect("the stream goes on");
                for (place, name) in event.iter_mut().zip(["id: ", "event: ", "data: "]) {
                    if let Some(text) = line.strip_prefix(name) {
                        text.clone_into(place);
                    }
                }
                if event.iter().all(|part| !part.is_empty()) {
                    let [id, kind, data] = event;
                    return (id, kind, serde_json::from_str(&data).unwrap());
                }
            }
        };
        timeout(Duration::from_secs(20), read).await.unwrap()
    }
    /// The rest of the next line that begins so.
    async fn line(&mut self, begin: &str) -> String {
        loop {
            let line = self.0.next_line().await.unwrap();
            let line = line.expect("the stream goes on");
            if let Some(rest) = line.strip_prefix(begin) {
                return rest.to_owned();
            }
        }
    }
    /// The next event of a kind.
    async fn next_of(&mut self, kind: &str) -> (String, Value) {
        loop {
            let (id, told, data) = self.next().await;
            if told == kind {
                return (id, data);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_goes_on_where_it_was_or_is_told_to_begin_anew() {
    let at = Served::start(&[]).await;
    let mut reader = Events::open(&at, None).await;
    let begin = reader.line("id: ").await;
    assert!(begin.ends_with("-0"), "{begin}");
    let (first, _) = job(&at).await;
    let (seen, told) = reader.next_of("job").await;
    assert_eq!(told["id"], first.as_str());
    drop(reader);
    // It is away while another job comes.
    let mut other = Events::open(&at, None).await;
    let (second, _) = job(&at).await;
    loop {
        let (_, told) = other.next_of("job").await;
        if told["id"] == second.as_str() {
            break;
        }
    }
    let mut reader = Events::open(&at, Some(&seen)).await;
    loop {
        let (id, kind, told) = reader.next().await;
        assert_ne!(kind, "reset");
        assert_ne!(id, seen, "told once");
        if kind == "job" && told["id"] == second.as_str() {
            break;
        }
    }
    let mut lost = Events::open(&at, Some("0123456789abcdef-7")).await;
    let (id, kind, told) = lost.next().await;
    assert_eq!(
        (kind.as_str(), &told["next"]),
        ("reset", &Value::String(id))
    );
    at.stop().await;
}
