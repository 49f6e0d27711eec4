//! A webhook: one HTTP request with the alert as its body.
//!
//! A redirect is not followed, the body of the answer is not read, and the whole takes no longer
//! than [`PATIENCE`].

use super::super::outbox::Outcome;
use super::tls;
use crate::config::Webhook;
use futures::future::{Either, select};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Time for names, connection, request and answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of the answer's head at the most.
const HEAD: usize = 16 << 10;

pub(super) async fn post(hook: &Webhook, authorities: Option<&Path>, json: Vec<u8>) -> Outcome {
    let authorities = authorities.map(Path::to_owned);
    match tokio::time::timeout(PATIENCE, exchange(hook, authorities, json)).await {
        Ok(Ok(status)) => judged(status),
        Ok(Err(why)) => Outcome::Failed(why),
        Err(_) => Outcome::Failed(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

/// The meaning of an answer for the alert.
fn judged(status: StatusCode) -> Outcome {
    match status.as_u16() {
        200..300 => Outcome::Done,
        300..400 => Outcome::Refused(format!(
            "it answers {status}, and redirects are not followed: name the address itself"
        )),
        408 | 425 | 429 | 500.. => Outcome::Failed(format!("it answers {status}")),
        _ => Outcome::Refused(format!("it answers {status}")),
    }
}

async fn exchange(
    hook: &Webhook,
    authorities: Option<PathBuf>,
    json: Vec<u8>,
) -> Result<StatusCode, String> {
    let connected = async || {
        let connected = TcpStream::connect((hook.host.as_str(), hook.port)).await;
        connected.map_err(|error| format!("no way to {}: {error}", hook.host))
    };
    if !hook.tls {
        return send(connected().await?, hook, json).await;
    }
    let connector = tokio::task::spawn_blocking(move || tls::connector(authorities.as_deref()));
    let connector = connector.await.map_err(|error| error.to_string())??;
    let name = ServerName::try_from(hook.host.clone()).map_err(|error| error.to_string())?;
    let secured = connector.connect(name, connected().await?).await;
    let secured = secured.map_err(|error| format!("no TLS with {}: {error}", hook.host))?;
    send(secured, hook, json).await
}

async fn send(
    io: impl AsyncRead + AsyncWrite + Unpin,
    hook: &Webhook,
    json: Vec<u8>,
) -> Result<StatusCode, String> {
    let broken = |error: hyper::Error| format!("{} broke off: {error}", hook.host);
    let request = Request::post(&hook.target)
        .header(header::HOST, &hook.authority)
        .header(header::CONTENT_TYPE, "application/json")
        .header(
            header::USER_AGENT,
            concat!("gridbay/", env!("CARGO_PKG_VERSION")),
        )
        .body(Full::new(Bytes::from(json)))
        .map_err(|error| error.to_string())?;
    let mut http = http1::Builder::new();
    let begun = http.max_buf_size(HEAD).handshake(TokioIo::new(io)).await;
    let (mut sender, connection) = begun.map_err(broken)?;
    // Both run in this task, so that nothing goes on once the time is over.
    let answer = match select(pin!(sender.send_request(request)), pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((_, asking)) => asking.await,
    };
    answer.map(|answer| answer.status()).map_err(broken)
}

#[cfg(test)]
mod tests;
