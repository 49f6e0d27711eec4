//! Access to the TCP side: callers on this machine that can read the token file.

use super::{ApiError, ErrorCode};
use crate::keys::{KeyFileError, random, read_secret, write_secret};
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use gridbay_protocol::ids::to_hex;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The token that a request must show.
#[derive(Clone)]
pub(super) struct Gate {
    /// Hash of the token: comparing hashes takes the same time wherever a guess goes wrong.
    token: blake3::Hash,
    hosts: Arc<[String]>,
}

impl Gate {
    /// The gate of a listener at `address`; makes the token file if there is none.
    pub(super) fn open(token: &Path, address: SocketAddr) -> Result<Gate, KeyFileError> {
        let text = match read_secret(token) {
            Err(KeyFileError::Missing(_)) => {
                let fresh = to_hex(&random()?);
                write_secret(token, format!("{fresh}\n"))?;
                fresh
            }
            other => other?,
        };
        if text.trim_end().len() < 64 {
            return Err(KeyFileError::Broken(token.to_owned()));
        }
        let port = address.port();
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Ok(Gate {
            token: blake3::hash(text.trim_end().as_bytes()),
            hosts: Arc::new(hosts),
        })
    }
    fn admits(&self, request: &Request) -> Result<(), ApiError> {
        let header = |name| request.headers().get(name).and_then(|v| v.to_str().ok());
        let host = header(header::HOST).unwrap_or("").to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return Err(ApiError::new(
                ErrorCode::WrongHost,
                "this API is for programs on this machine",
                "address it as 127.0.0.1 or localhost",
            ));
        }
        let token = header(header::AUTHORIZATION).and_then(|v| v.strip_prefix("Bearer "));
        if token.is_none_or(|token| blake3::hash(token.as_bytes()) != self.token) {
            return Err(ApiError::new(
                ErrorCode::Unauthorised,
                "no token, or a wrong one",
                "send Authorization: Bearer with the content of api.token from the data folder",
            ));
        }
        Ok(())
    }
}

/// The middleware.
pub(super) async fn check(
    State(gate): State<Gate>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    gate.admits(&request)?;
    Ok(next.run(request).await)
}
