//! One HTTP request with a body to an address of the owner's settings: alerts and traces leave the
//! node by it.
//!
//! A redirect is not followed, the body of the answer is not read, and the whole takes no longer
//! than the caller's patience.

mod tls;

use crate::config::Webhook;
use futures::future::{Either, select};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes of the answer's head at the most.
const HEAD: usize = 16 << 10;
/// The type of a body of JSON.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("gridbay/", env!("CARGO_PKG_VERSION")));

/// An address, and how it is met.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    /// The address.
    pub(crate) to: Webhook,
    /// File of certificates that it is checked against; the machine's if `None`.
    pub(crate) authorities: Option<PathBuf>,
    /// Setting that names such a file.
    pub(crate) setting: &'static str,
    /// Time for names, connection, request and answer.
    pub(crate) patience: Duration,
}

/// Posts a body; tells the status of the answer.
///
/// # Errors
/// Why there is no answer. It tells the host, and nothing else of the address, which may hold a
/// secret.
pub(crate) async fn post(aim: &Aim, headers: HeaderMap, body: Bytes) -> Result<StatusCode, String> {
    match tokio::time::timeout(aim.patience, exchange(aim, headers, body)).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("no answer within {} s", aim.patience.as_secs_f32())),
    }
}

async fn exchange(aim: &Aim, headers: HeaderMap, body: Bytes) -> Result<StatusCode, String> {
    let to = &aim.to;
    let connected = async || {
        let connected = TcpStream::connect((to.host.as_str(), to.port)).await;
        connected.map_err(|error| format!("no way to {}: {error}", to.host))
    };
    if !to.tls {
        return send(connected().await?, to, headers, body).await;
    }
    let (authorities, setting) = (aim.authorities.clone(), aim.setting);
    let connector =
        tokio::task::spawn_blocking(move || tls::connector(authorities.as_deref(), setting));
    let connector = connector.await.map_err(|error| error.to_string())??;
    let name = ServerName::try_from(to.host.clone()).map_err(|error| error.to_string())?;
    let secured = connector.connect(name, connected().await?).await;
    let secured = secured.map_err(|error| format!("no TLS with {}: {error}", to.host))?;
    send(secured, to, headers, body).await
}

async fn send(
    io: impl AsyncRead + AsyncWrite + Unpin,
    to: &Webhook,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, String> {
    let broken = |error: hyper::Error| format!("{} broke off: {error}", to.host);
    let mut request = Request::post(&to.target)
        .body(Full::new(body))
        .map_err(|error| error.to_string())?;
    let host = HeaderValue::from_str(&to.authority).map_err(|error| error.to_string())?;
    *request.headers_mut() = headers;
    request.headers_mut().insert(header::HOST, host);
    request.headers_mut().insert(header::USER_AGENT, AGENT);
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
