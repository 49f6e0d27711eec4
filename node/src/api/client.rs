//! The other end of the API: requests over the unix socket.
//!
//! A connection per request; a request fails when the node is away, answers with an [`ApiError`],
//! or takes longer than its time.

mod upgrade;

use super::idempotency;
use super::limits::BLOCK_WAIT;
use super::page::NEXT;
use super::{ApiError, ErrorCode};
use futures::{Stream, StreamExt as _};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Bytes of a JSON answer at the most.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// Time for an answer to begin: longer than an entry waits for its block, so that the node's word
/// comes first.
const PATIENCE: Duration = Duration::from_secs(BLOCK_WAIT.as_secs() + 15);

type Upload = UnsyncBoxBody<Bytes, io::Error>;

/// A client of one node.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

/// Address of the metrics, which has no version.
const METRICS: &str = "/metrics";
/// Bytes of them at the most.
const METRICS_BYTES: usize = 1 << 20;

impl Client {
    /// A client of the node that listens on `socket`.
    pub fn new(socket: impl Into<PathBuf>) -> Client {
        Client {
            socket: socket.into(),
        }
    }
    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
    /// `GET` of JSON; `path` begins after `/api/v1`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        json(self.send(Method::GET, path, None, empty(), None).await?).await
    }
    /// `GET` of a list to its end, page by page; `path` has a limit, and may have the place behind
    /// which it begins as its last parameter.
    pub async fn all<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ApiError> {
        let list = path.split_once("&after=").map_or(path, |(list, _)| list);
        let (mut lines, mut at) = (Vec::new(), path.to_owned());
        loop {
            let answer = self.send(Method::GET, &at, None, empty(), None).await?;
            let next = answer
                .headers()
                .get(NEXT)
                .and_then(|next| next.to_str().ok());
            let next = next.map(|next| format!("{list}&after={next}"));
            lines.extend(json::<Vec<T>>(answer).await?);
            match next {
                Some(next) => at = next,
                None => return Ok(lines),
            }
        }
    }
    /// `POST` of JSON, under an idempotency key if given.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: Option<&str>,
    ) -> Result<T, ApiError> {
        json(
            self.send(Method::POST, path, key, full(body)?, None)
                .await?,
        )
        .await
    }
    /// `POST` without body or answer.
    pub async fn tell(&self, path: &str) -> Result<(), ApiError> {
        self.send(Method::POST, path, None, empty(), None).await?;
        Ok(())
    }
    /// `PUT` of JSON.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ApiError> {
        json(
            self.send(Method::PUT, path, None, full(body)?, None)
                .await?,
        )
        .await
    }
    /// `DELETE`.
    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        json(self.send(Method::DELETE, path, None, empty(), None).await?).await
    }
    /// `PUT` of `bytes` bytes from a stream.
    pub async fn upload<T: DeserializeOwned>(
        &self,
        path: &str,
        bytes: u64,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<T, ApiError> {
        let body =
            BodyExt::boxed_unsync(StreamBody::new(stream.map(|piece| piece.map(Frame::data))));
        json(
            self.send(Method::PUT, path, None, body, Some(bytes))
                .await?,
        )
        .await
    }
    /// The node's metrics, in Prometheus' text form.
    pub async fn metrics(&self) -> Result<String, ApiError> {
        let answer = self.send(Method::GET, METRICS, None, empty(), None).await?;
        let bytes = body(answer, METRICS_BYTES).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
    /// `GET` of raw bytes with the answer's headers.
    pub async fn download(&self, path: &str) -> Result<Response<Incoming>, ApiError> {
        self.send(Method::GET, path, None, empty(), None).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Upload,
        length: Option<u64>,
    ) -> Result<Response<Incoming>, ApiError> {
        let version = if path == METRICS { "" } else { "/api/v1" };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{version}{path}"))
            .header(header::HOST, "localhost");
        if let Some(key) = key {
            request = request.header(idempotency::HEADER, key);
        }
        if let Some(length) = length {
            request = request.header(header::CONTENT_LENGTH, length);
        }
        let request = request.body(body).map_err(|error| {
            let why = format!("`{path}` is no address: {error}");
            ApiError::new(ErrorCode::Usage, why, "check the ids in the command")
        })?;
        let stream = UnixStream::connect(&self.socket)
            .await
            .map_err(|error| self.away(&error))?;
        let broken = |error: hyper::Error| {
            ApiError::new(
                ErrorCode::Unreachable,
                format!("the node broke off: {error}"),
                "see whether it runs: gridbay node status",
            )
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        tokio::spawn(connection);
        let response = timeout(PATIENCE, sender.send_request(request))
            .await
            .map_err(|_| {
                let why = format!("no answer within {} s", PATIENCE.as_secs());
                ApiError::new(ErrorCode::Timeout, why, "try again; see the node's log")
            })?
            .map_err(broken)?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(failure(response).await)
        }
    }
    fn away(&self, error: &io::Error) -> ApiError {
        let socket = self.socket.display();
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no node at {socket}"),
            io::ErrorKind::ConnectionRefused => format!("the node of {socket} is gone"),
            io::ErrorKind::PermissionDenied => {
                return ApiError::new(
                    ErrorCode::Refused,
                    format!("{socket} belongs to another user"),
                    "run the command as the user who runs the node",
                );
            }
            _ => format!("no way to {socket}: {error}"),
        };
        let hint = "start it with gridbay node up, or name its folder with --data";
        // Nothing was sent.
        ApiError::new(ErrorCode::Unreachable, why, hint).with_details(json!({"done": false}))
    }
}

fn empty() -> Upload {
    full_bytes(Bytes::new())
}

fn full(body: &impl Serialize) -> Result<Upload, ApiError> {
    serde_json::to_vec(body)
        .map(|bytes| full_bytes(Bytes::from(bytes)))
        .map_err(|error| {
            let hint = "report it, with the request";
            ApiError::new(ErrorCode::Internal, error.to_string(), hint)
        })
}

fn full_bytes(bytes: Bytes) -> Upload {
    BodyExt::boxed_unsync(Full::new(bytes).map_err(|never| match never {}))
}

async fn json<T: DeserializeOwned>(response: Response<Incoming>) -> Result<T, ApiError> {
    let bytes = body(response, ANSWER_BYTES).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        ApiError::new(
            ErrorCode::Internal,
            format!("the node's answer is not understood: {error}"),
            "use the same version of gridbay for the node and its commands",
        )
    })
}

/// The whole body of an answer, at most `max` bytes.
pub async fn body(response: Response<Incoming>, max: usize) -> Result<Bytes, ApiError> {
    let limited = Limited::new(response.into_body(), max);
    let collected = limited.collect().await.map_err(|error| {
        let (code, why) = if error.is::<LengthLimitError>() {
            (ErrorCode::TooLarge, format!("more than {max} bytes"))
        } else {
            (
                ErrorCode::Unreachable,
                format!("the node broke off: {error}"),
            )
        };
        ApiError::new(code, why, "try again")
    })?;
    Ok(collected.to_bytes())
}

async fn failure(response: Response<Incoming>) -> ApiError {
    let status = response.status();
    let parsed = match body(response, 1 << 20).await {
        Ok(bytes) => serde_json::from_slice(&bytes).ok(),
        Err(error) => return error,
    };
    parsed.unwrap_or_else(|| {
        let code = match status {
            StatusCode::NOT_FOUND => ErrorCode::NotFound,
            _ => ErrorCode::Internal,
        };
        let why = format!("the node answered {status}");
        ApiError::new(
            code,
            why,
            "use the same version of gridbay for the node and its commands",
        )
    })
}
