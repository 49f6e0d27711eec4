//! What stands before every page: headers of the answer, and the session of the request.
//!
//! 1. Each answer tells the browser to load nothing from elsewhere, to run no script but ours, to
//!    show the page in no frame, and to keep no copy.
//! 2. A request's cookie names its session, under the host name of that session alone. Without one,
//!    a page asks the user to sign in and anything else is refused.
//! 3. A form, and the stream of changes, is answered if a page of the same host and port asks, as
//!    far as the browser tells; a page at another port of this machine is a stranger's.
//! 4. A session that may only read sends no form but that which ends it; what others may do, each
//!    form checks by itself.

use super::failure::Failure;
use super::login;
use super::session::Who;
use crate::api::intake::EVENTS;
use crate::api::scope::Scope;
use crate::api::{ApiError, ErrorCode, host};
use crate::audit;
use crate::backend::Node;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::time::Instant;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Sets the headers of step 1.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// Steps 2 to 4.
pub(super) async fn session(
    State(node): State<Node>,
    mut request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let Some(who) = who(&node, request.headers()) else {
        return Ok(login::asked().into_response());
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads || request.uri().path() == EVENTS {
        of_own_page(request.headers())?;
    }
    if !reads && request.uri().path() != login::LEAVE {
        who.may(Scope::Trade)?;
    }
    request.extensions_mut().insert(audit::Who::from(&who));
    request.extensions_mut().insert(who);
    Ok(next.run(request).await)
}

impl From<&Who> for audit::Who {
    fn from(who: &Who) -> audit::Who {
        audit::Who::Session {
            session: who.fingerprint(),
            scope: who.scope.name().to_owned(),
        }
    }
}

/// Whose request this is.
fn who(node: &Node, headers: &HeaderMap) -> Option<Who> {
    let name = login::cookie_name(node)?;
    let sent = headers.get_all(header::COOKIE).iter();
    let mut pairs = sent
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, secret) = pairs.find(|(key, _)| *key == name)?;
    node.web.who(secret, host::asked(headers)?, Instant::now())
}

/// Refuses what a page of another origin asks for. Browsers tell the origin of each form, and most
/// of them its relation to this page; programs that are no browsers need not.
fn of_own_page(headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name: HeaderName| headers.get(name).map(HeaderValue::as_bytes);
    let host = text(header::HOST).unwrap_or_default();
    let origin = text(header::ORIGIN);
    let is_own = origin.is_none_or(|o| o.strip_prefix(b"http://") == Some(host));
    let fits = match text(HeaderName::from_static("sec-fetch-site")) {
        // Of a page that tells no referrer, the origin is `null`.
        Some(b"same-origin" | b"none") => is_own || origin == Some(b"null"),
        Some(_) => false,
        None => is_own,
    };
    if fits {
        return Ok(());
    }
    let why = "a page of another address asks for this";
    let hint = "open the page at the address of this node, and send its form";
    Err(ApiError::new(ErrorCode::Refused, why, hint))
}
