//! The middleware that writes down what requests change.

use super::book::Book;
use super::detail;
use super::files::Action;
use super::line::{Outcome, Who};
use super::pending::Pending;
use crate::api::intake::whole;
use crate::api::peer::Caller;
use crate::api::{ApiError, Bearer};
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use std::collections::BTreeMap;

/// Addresses that take something other than a question for an address, and change nothing: they
/// compute, look, or carry bytes. What ranks of a cluster are told by such bytes has lines of its
/// own (`node/src/held/logged.rs`).
const QUESTIONS: [&str; 8] = [
    "/bids/suggest",
    "/clusters/{id}/ranks/{rank}",
    "/find",
    "/leases/{id}/stream",
    "/peers/find",
    "/peers/ping",
    "/prospects",
    "/quote",
];
/// Such actions bring files, of which nothing is told.
const FILES: &str = " /content";
/// Begins the actions of forms of the web pages.
const PAGE: &str = "page ";
/// The kind of a form that comes in parts, one of which may be a file.
const IN_PARTS: &str = "multipart/form-data";
/// Characters of an address at the most.
const CHARS: usize = 200;

/// What a handler tells, in its answer, of the fields of a form that it has read in parts.
#[derive(Clone, Debug)]
pub(crate) struct Told(pub(crate) Vec<(String, String)>);

/// Whether a body of this kind comes in parts.
pub(crate) fn comes_in_parts(kind: &str) -> bool {
    let begin = kind.trim_start().get(..IN_PARTS.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(IN_PARTS))
}

/// Writes down what came of a request, before its answer leaves.
async fn ends(pending: Pending, status: StatusCode, replayed: bool, told: Option<Told>) {
    let tell = |action: &mut Action| {
        if let Some(Told(fields)) = told {
            action.detail = detail::of_fields(fields);
        }
        action.outcome = match status {
            status if status.is_server_error() => Outcome::Failed,
            status if status.is_client_error() => Outcome::Refused,
            _ => Outcome::Done,
        };
        action.status = Some(status.as_u16());
        if replayed {
            let (name, value) = ("replayed".to_owned(), "true".to_owned());
            action.detail.insert(name, value);
        }
    };
    pending.ends(tell).await;
}

/// The middleware. Sessions of the web pages are told by what [`Who`] their gate leaves.
pub(crate) async fn record(
    State(book): State<Book>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Some(mut action) = action(&request) else {
        return Ok(next.run(request).await);
    };
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let in_parts = action.what.starts_with(PAGE) && comes_in_parts(kind);
    let is_file = in_parts || action.what.contains(FILES);
    let (parts, body) = request.into_parts();
    let body = match is_file {
        true => Ok(body),
        false => match whole(body).await {
            Ok(bytes) => {
                action.detail = match action.what.starts_with(PAGE) {
                    true => detail::of_form(bytes.clone()).await,
                    false => detail::of(&bytes),
                };
                Ok(Body::from(bytes))
            }
            Err(error) => Err(error),
        },
    };
    let pending = Pending::new(book, action);
    let body = match body {
        Ok(body) => body,
        Err(error) => {
            ends(pending, error.code.status(), false, None).await;
            return Err(error);
        }
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    let replayed = response.headers().contains_key("idempotency-replayed");
    let told = response.extensions().get::<Told>().cloned();
    ends(pending, response.status(), replayed, told).await;
    Ok(response)
}

/// The action that a request asks for; `None` if it changes nothing, whatever comes of it.
fn action(request: &Request) -> Option<Action> {
    let route = request.extensions().get::<MatchedPath>()?.as_str();
    let of_api = route.strip_prefix("/api/v1");
    let route = of_api.unwrap_or(route);
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS];
    if reads.contains(request.method()) || QUESTIONS.contains(&route) {
        return None;
    }
    let door = if of_api.is_some() { "" } else { PAGE };
    let path = request.uri().path().chars().take(CHARS).collect();
    Some(Action {
        who: who(request),
        what: format!("{door}{} {route}", request.method()),
        place: route.contains('{').then_some(path),
        detail: BTreeMap::new(),
        outcome: Outcome::Failed,
        status: None,
    })
}

/// The one that sent a request.
pub(crate) fn who(request: &Request) -> Who {
    let extensions = request.extensions();
    if let Some(who) = extensions.get::<Who>() {
        return who.clone();
    }
    if let Some(Caller { uid, pid }) = extensions.get() {
        let (uid, pid) = (*uid, *pid);
        return Who::Socket { uid, pid };
    }
    let bearer = extensions.get::<Bearer>();
    Who::Token {
        name: bearer.and_then(|bearer| bearer.name.clone()),
        scope: bearer.map(|bearer| bearer.scope.name().to_owned()),
    }
}
