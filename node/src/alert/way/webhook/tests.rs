//! Tests against listeners of their own.

use super::*;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A listener that takes one request and gives one answer; its task returns the request.
async fn listener(answer: &'static str) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let (io, _) = listener.accept().await.unwrap();
        served(io, answer).await
    });
    (port, task)
}

/// Reads until the JSON of the tests has come, and answers.
async fn served(mut io: impl AsyncRead + AsyncWrite + Unpin, answer: &str) -> String {
    let mut got = Vec::new();
    while !got.ends_with(b"{}") {
        let mut piece = [0; 1_024];
        let n = io.read(&mut piece).await.unwrap();
        assert!(n > 0, "it broke off");
        got.extend_from_slice(&piece[..n]);
    }
    io.write_all(answer.as_bytes()).await.unwrap();
    let _gone = io.shutdown().await;
    String::from_utf8(got).unwrap()
}

fn hook(port: u16, tls: bool) -> Webhook {
    Webhook {
        tls,
        host: "localhost".to_owned(),
        port,
        authority: format!("localhost:{port}"),
        target: "/hook?x=1".to_owned(),
    }
}

#[tokio::test]
async fn one_request_is_sent_and_its_answer_counts() {
    let (port, task) = listener("HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!(
        post(&hook(port, false), None, b"{}".to_vec()).await,
        Outcome::Done
    );
    let got = task.await.unwrap().to_ascii_lowercase();
    assert!(got.starts_with("post /hook?x=1 http/1.1\r\n"), "{got}");
    assert!(
        got.contains(&format!("host: localhost:{port}\r\n")),
        "{got}"
    );
    assert!(got.contains("content-type: application/json\r\n"), "{got}");
    assert!(got.contains("content-length: 2\r\n"), "{got}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_fault_is_tried_again() {
    let (aim, _unasked) = listener("HTTP/1.1 200 OK\r\n\r\n").await;
    let moved = format!("HTTP/1.1 307 Moved\r\nLocation: http://localhost:{aim}/\r\n\r\n");
    let (port, _task) = listener(moved.leak()).await;
    let outcome = post(&hook(port, false), None, b"{}".to_vec()).await;
    assert!(
        matches!(&outcome, Outcome::Refused(why) if why.contains("redirects")),
        "{outcome:?}"
    );
    assert!(!_unasked.is_finished(), "nobody asked there");
    for (answer, again) in [
        ("HTTP/1.1 503 No\r\n\r\n", true),
        ("HTTP/1.1 429 No\r\n\r\n", true),
        ("HTTP/1.1 404 No\r\n\r\n", false),
        ("no HTTP at all\r\n\r\n", true),
        ("", true),
    ] {
        let (port, _task) = listener(answer).await;
        let outcome = post(&hook(port, false), None, b"{}".to_vec()).await;
        assert_eq!(
            matches!(outcome, Outcome::Failed(_)),
            again,
            "{answer}: {outcome:?}"
        );
        assert_ne!(outcome, Outcome::Done, "{answer}");
    }
}

#[tokio::test]
async fn an_endless_head_is_cut_off() {
    let head = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(64 << 10));
    let (port, _task) = listener(head.leak()).await;
    let outcome = post(&hook(port, false), None, b"{}".to_vec()).await;
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
}

#[tokio::test]
async fn https_wants_a_certificate_of_an_authority_that_is_trusted() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.key_pair.serialize_der().try_into().unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (stranger, _) = listener.accept().await.unwrap();
        assert!(
            acceptor.accept(stranger).await.is_err(),
            "it was not trusted"
        );
        let (io, _) = listener.accept().await.unwrap();
        let io = acceptor.accept(io).await.unwrap();
        served(io, "HTTP/1.1 200 OK\r\n\r\n").await
    });
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (
        folder.path().join("own.pem"),
        folder.path().join("other.pem"),
    );
    std::fs::write(&own, made.cert.pem()).unwrap();
    let stranger = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&other, stranger.cert.pem()).unwrap();
    let outcome = post(&hook(port, true), Some(&other), b"{}".to_vec()).await;
    assert!(
        matches!(&outcome, Outcome::Failed(why) if why.contains("TLS")),
        "{outcome:?}"
    );
    let outcome = post(&hook(port, true), Some(&own), b"{}".to_vec()).await;
    assert_eq!(outcome, Outcome::Done);
    assert!(server.await.unwrap().starts_with("POST /hook"));
    std::fs::write(&other, "nothing").unwrap();
    let outcome = post(&hook(port, true), Some(&other), b"{}".to_vec()).await;
    assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("no certificate")));
}
