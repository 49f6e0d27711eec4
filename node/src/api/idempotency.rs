//! Repeated requests: the same key gives the same answer, and the deed is done once.
//!
//! 1. A `POST` with a new `Idempotency-Key` runs in a task of its own, so that a client that goes
//!    away does not leave it half done.
//! 2. While it runs, the same key is answered with `conflict`; afterwards with the stored answer
//!    and the header `idempotency-replayed: true`.
//! 3. The same key with another request is refused. A fault of the node (5xx) is forgotten, so that
//!    trying again tries again.
//!
//! The last [`KEPT`] keys are kept, in memory. State that must survive a restart is durable behind
//! the API: a job's id is derived from its key, a transfer's entry is kept under it.

use super::intake::whole;
use super::limits::BODY_BYTES;
use super::{ApiError, ErrorCode};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Name of the header.
pub(crate) const HEADER: &str = "idempotency-key";
/// Keys remembered.
const KEPT: usize = 1_024;

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    body: Bytes,
}

struct Slot {
    request: blake3::Hash,
    answer: Option<Answer>,
}

#[derive(Default)]
struct Known {
    slots: BTreeMap<String, Slot>,
    order: VecDeque<String>,
}

/// The keys seen.
#[derive(Clone, Default)]
pub(crate) struct Keys(Arc<Mutex<Known>>);

impl Keys {
    fn lock(&self) -> MutexGuard<'_, Known> {
        // Every change below leaves the map consistent at every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Takes a key for a request; an answer if the request was answered before.
    fn take(&self, key: &str, request: blake3::Hash) -> Result<Option<Answer>, ApiError> {
        let mut known = self.lock();
        if let Some(slot) = known.slots.get(key) {
            let conflict = |why: &str, hint: &str| ApiError::new(ErrorCode::Conflict, why, hint);
            return match &slot.answer {
                _ if slot.request != request => Err(conflict(
                    "this idempotency key belongs to another request",
                    "use a fresh key for each request",
                )),
                None => Err(conflict(
                    "the same request is still running",
                    "ask again in a moment",
                )),
                Some(answer) => Ok(Some(answer.clone())),
            };
        }
        if known.order.len() >= KEPT
            && let Some(oldest) = known.order.pop_front()
        {
            known.slots.remove(&oldest);
        }
        known.order.push_back(key.to_owned());
        let slot = Slot {
            request,
            answer: None,
        };
        known.slots.insert(key.to_owned(), slot);
        Ok(None)
    }
    fn finish(&self, key: &str, answer: Option<Answer>) {
        let mut known = self.lock();
        match answer {
            Some(answer) => {
                if let Some(slot) = known.slots.get_mut(key) {
                    slot.answer = Some(answer);
                }
            }
            None => {
                known.slots.remove(key);
                known.order.retain(|other| other != key);
            }
        }
    }
}

/// Frees a key whose request ended without an answer to keep, also by a panic.
struct Taken {
    keys: Keys,
    key: String,
    answer: Option<Answer>,
}

impl Taken {
    fn keep(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.keys.finish(&self.key, self.answer.take());
    }
}

/// The middleware.
pub(crate) async fn once(
    State(keys): State<Keys>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Some(key) = key_of(&request)? else {
        return Ok(next.run(request).await);
    };
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(parts.uri.path().as_bytes()).update(&[0]);
    hasher.update(&bytes);
    if let Some(answer) = keys.take(&key, hasher.finalize())? {
        return Ok(replayed(answer));
    }
    let mut taken = Taken {
        keys,
        key,
        answer: None,
    };
    let request = Request::from_parts(parts, Body::from(bytes));
    let running = tokio::spawn(async move {
        let response = next.run(request).await;
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, BODY_BYTES)
            .await
            .unwrap_or_default();
        if !parts.status.is_server_error() {
            taken.keep(Answer {
                status: parts.status,
                body: body.clone(),
            });
        }
        Response::from_parts(parts, Body::from(body))
    });
    running.await.map_err(|_| {
        ApiError::new(
            ErrorCode::Internal,
            "the node failed while it worked on this",
            "see the node's log",
        )
    })
}

/// The key of a `POST`: 8 to 64 visible characters.
fn key_of(request: &Request) -> Result<Option<String>, ApiError> {
    let Some(value) = request.headers().get(HEADER) else {
        return Ok(None);
    };
    if request.method() != Method::POST {
        return Ok(None);
    }
    let legal = |text: &&str| (8..=64).contains(&text.len()) && !text.contains(' ');
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
