//! Repeated requests: the same key gives the same answer, and the deed is done once.
//!
//! 1. A `POST` with a new `Idempotency-Key` runs in a task of its own, so that a client that goes
//!    away does not leave it half done.
//! 2. While it runs, the same request under its key is answered with `busy`; afterwards with the
//!    stored answer and the header `idempotency-replayed: true`.
//! 3. The same key with another request is refused. A fault of the node (5xx) is forgotten, so that
//!    trying again tries again; so is what is refused as things are (403, 429), which may change,
//!    and an answer of which a part is one of these ([`Passing`]).
//! 4. What a reader may ask with a `POST` changes nothing, and is answered anew each time.
//!
//! Keys are kept in memory, as many as [`answers`] says. State that must survive a restart is
//! durable behind the API: a job's id is derived from its key, a transfer's entry is kept under it.

mod answers;

use super::bearer::Bearer;
use super::intake::{in_its_turn, whole};
use super::limits::BODY_BYTES;
use super::scope::{Scope, needed_by};
use super::{ApiError, ErrorCode};
use answers::{Answer, Found};
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use answers::Keys;

/// Name of the header.
pub(crate) const HEADER: &str = "idempotency-key";
/// Characters of a key.
pub(crate) const LENGTH: RangeInclusive<usize> = 8..=64;

/// Lets the deed say that its answer is not the last word on it: a part of it may do better when it
/// is asked for again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passing(Arc<AtomicBool>);

impl Passing {
    /// Says so.
    pub(crate) fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether a status tells a fault of the moment: the same request has a chance later.
pub(crate) fn passes(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::FORBIDDEN
        )
}

/// The middleware.
pub(crate) async fn once(
    State(keys): State<Keys>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Some(key) = key_of(&request)?.filter(|_| needed_by(&request) > Scope::Read) else {
        return Ok(next.run(request).await);
    };
    let bearer = request.extensions().get::<Bearer>();
    let owner = bearer.and_then(|bearer| bearer.name.clone());
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await?;
    let mut hasher = blake3::Hasher::new();
    let place = parts.uri.path_and_query();
    let place = place.map_or("", |place| place.as_str());
    hasher.update(place.as_bytes()).update(&[0]).update(&bytes);
    let mut taken = match keys.take(owner, key, hasher.finalize())? {
        Found::Before(answer) => return Ok(replayed(answer)),
        Found::Fresh(taken) => taken,
    };
    let mut request = Request::from_parts(parts, Body::from(bytes));
    let passing = Passing::default();
    request.extensions_mut().insert(passing.clone());
    let running = tokio::spawn(in_its_turn(async move {
        let response = next.run(request).await;
        if passes(response.status()) || passing.0.load(Ordering::Relaxed) {
            return Ok(response);
        }
        let size = response.body().size_hint().exact();
        if size.is_none_or(|bytes| bytes > BODY_BYTES as u64) {
            taken.answered(None);
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, BODY_BYTES).await.map_err(|_| failed())?;
        taken.answered(Some(Answer {
            status: parts.status,
            body: body.clone(),
        }));
        Ok::<_, ApiError>(Response::from_parts(parts, Body::from(body)))
    }));
    running.await.map_err(|_| failed())?
}

fn failed() -> ApiError {
    ApiError::new(
        ErrorCode::Internal,
        "the node failed while it worked on this",
        "see the node's log",
    )
}

/// The key of a `POST`: 8 to 64 visible characters.
fn key_of(request: &Request) -> Result<Option<String>, ApiError> {
    let Some(value) = request.headers().get(HEADER) else {
        return Ok(None);
    };
    if request.method() != Method::POST {
        return Ok(None);
    }
    let visible = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    let legal = |text: &&str| LENGTH.contains(&text.len()) && visible(text);
    match value.to_str().ok().filter(legal) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(ApiError::new(
            ErrorCode::Usage,
            "an idempotency key has 8 to 64 visible characters",
            "use a random one, as in 32 hex digits",
        )),
    }
}

fn replayed(answer: Answer) -> Response {
    let mut response = (answer.status, answer.body).into_response();
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::post;
    use axum::{Extension, Router, middleware};
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use std::sync::atomic::AtomicUsize;

    async fn ask(routes: &Router, place: &str) -> (u16, usize) {
        let request = Request::post(place).header(HEADER, "key-0001");
        let request = request.body(Body::empty()).unwrap();
        let routes = TowerToHyperService::new(routes.clone());
        let answer = routes.call(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), 4 * BODY_BYTES).await.unwrap();
        (status, body.len())
    }

    #[tokio::test]
    async fn an_answer_with_a_passing_fault_is_not_the_last_one() {
        let done = Arc::new(AtomicUsize::new(0));
        let deeds = Arc::clone(&done);
        let deed = move |Extension(passing): Extension<Passing>| {
            if deeds.fetch_add(1, Ordering::SeqCst) == 0 {
                passing.tell();
            }
            async { "x" }
        };
        let once = middleware::from_fn_with_state(Keys::default(), once);
        let routes = Router::new().route("/deed", post(deed)).layer(once);
        for asked in 1..=3 {
            assert_eq!(ask(&routes, "/deed").await, (200, 1));
            assert_eq!(
                done.load(Ordering::SeqCst),
                asked.min(2),
                "the second stays"
            );
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_too_long_to_keep_is_whole_and_its_deed_is_done_once() {
        let done = Arc::new(AtomicUsize::new(0));
        let deeds = Arc::clone(&done);
        let deed = move || {
            deeds.fetch_add(1, Ordering::SeqCst);
            async { "x".repeat(2 * BODY_BYTES) }
        };
        let once = middleware::from_fn_with_state(Keys::default(), once);
        let routes = Router::new().route("/deed", post(deed)).layer(once);
        assert_eq!(ask(&routes, "/deed").await, (200, 2 * BODY_BYTES));
        assert_eq!(ask(&routes, "/deed").await.0, 409);
        assert_eq!(ask(&routes, "/deed?other").await.0, 409, "another request");
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }
}
