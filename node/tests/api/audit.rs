//! The log of actions, as requests over real sockets leave it.

use super::asking::request;
use super::served::Served;
use gridbay_node::api::types::{JobRecord, JobRequest, NodeStatus, Quote};
use gridbay_node::audit::{Line, Outcome, Who};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The lines of the log in a data folder.
pub(crate) fn lines(home: &Path) -> Vec<Line> {
    let mut files: Vec<_> = fs::read_dir(home.join("audit"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some())
        .collect();
    files.sort();
    let text: String = files
        .iter()
        .map(|p| fs::read_to_string(p).unwrap())
        .collect();
    let line = |row: &str| serde_json::from_str(row).unwrap();
    text.lines().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_a_line_and_no_question_is() {
    let at = Served::start(&["api.listen=127.0.0.1:0"]).await;
    let client = at.client();
    let _: NodeStatus = client.get("/node").await.unwrap();
    let _: Result<Quote, _> = client.post("/quote", &request(1).want, None).await;
    let secret = JobRequest {
        name: Some("sweep".to_owned()),
        argv: vec!["prog".to_owned(), "secret-argument".to_owned()],
        env: vec![("KEY".to_owned(), "secret-value".to_owned())],
        ..request(1)
    };
    let key = Some("0123456789abcdef");
    let job: JobRecord = client.post("/jobs", &secret, key).await.unwrap();
    let _: JobRecord = client.post("/jobs", &secret, key).await.unwrap();
    let cancel = format!("/jobs/{}/cancel", job.id);
    let _: JobRecord = client.post(&cancel, &(), None).await.unwrap();
    let dear = json!({"to": "11".repeat(32), "amount": "5", "memo": "secret-note"});
    let refused: Result<Value, _> = client.post("/ledger/transfer", &dear, None).await;
    refused.unwrap_err();
    let address = at.tcp.unwrap();
    let token = fs::read_to_string(at.config.home.token()).unwrap();
    let mut io = TcpStream::connect(address).await.unwrap();
    let drain = format!(
        "POST /api/v1/node/drain HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n",
        token.trim_end()
    );
    io.write_all(drain.as_bytes()).await.unwrap();
    let mut answer = String::new();
    io.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let home = at.world.dir.path().to_owned();
    let lines = lines(&home);
    let told: Vec<_> = lines.iter().map(|l| (&l.what[..], l.outcome)).collect();
    assert_eq!(
        told,
        [
            ("node begins", Outcome::Done),
            ("POST /jobs", Outcome::Done),
            ("POST /jobs", Outcome::Done),
            ("POST /jobs/{id}/cancel", Outcome::Done),
            ("POST /ledger/transfer", Outcome::Refused),
            ("POST /node/drain", Outcome::Done),
        ]
    );
    assert_eq!(lines[1].detail["name"], "sweep");
    assert_eq!(lines[1].detail["want.nodes"], "1");
    assert_eq!(lines[2].detail["replayed"], "true");
    assert_eq!(lines[3].place, Some(cancel));
    assert_eq!(
        (&lines[4].detail["amount"][..], lines[4].status),
        ("5", Some(404))
    );
    let ours = nix::unistd::geteuid().as_raw();
    let pid = i32::try_from(std::process::id()).ok();
    assert_eq!(lines[1].who, Who::Socket { uid: ours, pid });
    let (name, scope) = (None, Some("admin".to_owned()));
    assert_eq!(lines[5].who, Who::Token { name, scope });
    for entry in fs::read_dir(home.join("audit")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("secret") && !text.contains(token.trim_end()));
    }
    at.stop().await;
}
