//! Access to the TCP side: callers on this machine that can read the token file may do all, bearers
//! of other tokens what the scope of theirs allows, and users what their roles in projects do
//! (`node/src/project/gate.rs`). Callers over the unix socket show none.

use super::bearer::Bearer;
use super::host::is_drawn;
use super::scope::{Scope, needed_by};
use super::{ApiError, ErrorCode};
use crate::backend::wall_ms;
use crate::keys::{KeyFileError, random, read_secret, write_secret};
use crate::store::projects::ProjectBook;
use crate::store::tokens::TokenBook;
use axum::extract::{Request, State};
use axum::http::{HeaderName, header};
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
    /// Tokens of programs, with scopes.
    book: Option<TokenBook>,
    /// Users, with roles in projects.
    users: Option<ProjectBook>,
    hosts: Arc<[String]>,
}

/// The name of the user whose token a request showed, beside what all bearers have.
#[derive(Clone, Debug)]
pub(crate) struct User(pub(crate) String);

/// The mark of a user's request that the gate of projects has let through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted;

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
            book: None,
            users: None,
            hosts: Arc::new(hosts),
        })
    }
    /// Bearers of these tokens are let in as well.
    pub(super) fn open_to(&mut self, book: TokenBook) {
        self.book = Some(book);
    }
    /// Users are let in as well.
    pub(super) fn open_to_users(&mut self, users: ProjectBook) {
        self.users = Some(users);
    }
    /// A page elsewhere whose name leads to this machine would speak to the node otherwise.
    fn knows_host(&self, request: &Request) -> Result<(), ApiError> {
        let host = header(request, header::HOST).unwrap_or("");
        let host = host.to_ascii_lowercase();
        // As an address of the pages; the API wants its token there as well.
        let plain = |(name, port)| is_drawn(name).then(|| format!("localhost:{port}"));
        let known = host.rsplit_once(':').and_then(plain).unwrap_or(host);
        if self.hosts.contains(&known) {
            return Ok(());
        }
        Err(ApiError::new(
            ErrorCode::WrongHost,
            "this API is for programs on this machine",
            "address it as 127.0.0.1 or localhost",
        ))
    }
    fn knows_token(&self, request: &Request) -> Result<(Bearer, Option<User>), ApiError> {
        let token = header(request, header::AUTHORIZATION);
        let token = token.and_then(|value| value.strip_prefix("Bearer "));
        let bearer = token.and_then(|token| self.bearer(token));
        bearer.ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unauthorised,
                "no token, or a wrong one",
                "send Authorization: Bearer with the content of api.token from the data folder, \
                 or a token of gridbay token create",
            )
        })
    }
    fn bearer(&self, token: &str) -> Option<(Bearer, Option<User>)> {
        if blake3::hash(token.as_bytes()) == self.token {
            let (name, scope) = (None, Scope::Admin);
            return Some((Bearer { name, scope }, None));
        }
        let program = self.book.as_ref();
        if let Some((name, scope)) = program.and_then(|book| book.of(token, wall_ms())) {
            let name = Some(name);
            return Some((Bearer { name, scope }, None));
        }
        let user = self.users.as_ref()?.user_of(token)?;
        // No token of a program has such a name, so that users have shares and keys of their own.
        let name = Some(format!("user {user}"));
        let scope = Scope::Trade;
        Some((Bearer { name, scope }, Some(User(user))))
    }
}

fn header(request: &Request, name: HeaderName) -> Option<&str> {
    request.headers().get(name)?.to_str().ok()
}

/// The middleware before all that the listener serves.
pub(super) async fn check_host(
    State(gate): State<Gate>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    gate.knows_host(&request)?;
    Ok(next.run(request).await)
}

/// The middleware before the API.
pub(super) async fn check_token(
    State(gate): State<Gate>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (bearer, user) = gate.knows_token(&request)?;
    let of_api = request.uri().path().starts_with("/api/v1/");
    if user.is_some() && !of_api {
        let why = "users of projects have no access to this address";
        let hint = "ask who runs the node for a token: gridbay token create";
        return Err(ApiError::new(ErrorCode::Refused, why, hint));
    }
    if let Some(user) = user {
        request.extensions_mut().insert(user);
    }
    request.extensions_mut().insert(bearer);
    Ok(next.run(request).await)
}

/// The middleware of each address below `/api/v1`: refuses what the request's token does not reach.
/// Users are [`Admitted`] before, by the gate of their projects.
pub(crate) async fn allowed(request: Request, next: Next) -> Result<Response, ApiError> {
    let extensions = request.extensions();
    if extensions.get::<Admitted>().is_some() {
        return Ok(next.run(request).await);
    }
    if extensions.get::<User>().is_some() {
        let why = "users of projects have no access to this address";
        let hint = "ask the node's owner, who may: see docs/projects.md for what users reach";
        return Err(ApiError::new(ErrorCode::Refused, why, hint));
    }
    let Some(scope) = extensions.get::<Bearer>().map(|bearer| bearer.scope) else {
        return Ok(next.run(request).await);
    };
    let needed = needed_by(&request);
    if scope >= needed {
        return Ok(next.run(request).await);
    }
    let why = format!("this token may {}", scope.about());
    let hint = format!(
        "make one: gridbay token create NAME --scope {}",
        needed.name()
    );
    let details = serde_json::json!({"scope": scope.name(), "needed": needed.name()});
    Err(ApiError::new(ErrorCode::Refused, why, hint).with_details(details))
}
