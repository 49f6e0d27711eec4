//! Addresses. One file per noun; each handler parses, bounds, calls the backend and answers.

mod bids;
mod content;
mod contracts;
mod jobs;
mod ledger;
mod market;
mod node;
mod peers;

use super::idempotency::{self, Keys};
use super::{ApiError, Backend, ErrorCode};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router, middleware};
use std::sync::Arc;

/// What handlers share.
pub(super) struct Shared<B> {
    backend: Arc<B>,
    content_bytes: u64,
}

impl<B> Clone for Shared<B> {
    fn clone(&self) -> Self {
        Shared {
            backend: Arc::clone(&self.backend),
            content_bytes: self.content_bytes,
        }
    }
}

/// Whether the process answers.
pub(super) const HEALTH: &str = "/healthz";
/// Uploads, which have a bound of their own.
pub(super) const CONTENT: &str = "/api/v1/content";

/// A JSON answer or a failure.
type Reply<T> = Result<Json<T>, ApiError>;

/// Lines of a list at the most.
const LIST: usize = 1_000;

/// How many lines a request gets: what it asks for, 20 if it does not say, [`LIST`] at the most.
fn lines(limit: Option<usize>) -> usize {
    limit.unwrap_or(20).min(LIST)
}

/// All addresses.
pub(super) fn router<B: Backend>(backend: Arc<B>, content_bytes: u64) -> Router {
    let shared = Shared {
        backend,
        content_bytes,
    };
    let keys = Keys::default();
    let v1 = Router::new()
        .route("/node", get(node::status::<B>))
        .route("/node/drain", post(node::drain::<B>))
        .route("/node/stop", post(node::stop::<B>))
        .route("/invitations", post(node::invite::<B>))
        .route("/doctor", get(node::doctor::<B>))
        .route("/peers", get(peers::list::<B>))
        .route("/peers/ping", post(peers::ping::<B>))
        .route("/peers/find", post(peers::find::<B>))
        .route("/peers/connect", post(peers::connect::<B>))
        .route("/peers/mark", post(peers::mark::<B>))
        .route("/offers", get(market::offers::<B>).put(market::set::<B>))
        .route("/offers/{label}", delete(market::withdraw::<B>))
        .route("/contracts", get(contracts::list::<B>))
        .route("/contracts/{id}/sign", post(contracts::sign::<B>))
        .route("/contracts/{id}/close", post(contracts::close::<B>))
        .route("/quote", post(market::quote::<B>))
        .route("/prospects", post(market::prospects::<B>))
        .route("/bids", get(bids::list::<B>))
        .route("/bids/{id}/amend", post(bids::amend::<B>))
        .route("/bids/suggest", post(bids::suggest::<B>))
        .route("/find", post(market::find::<B>))
        .route("/prices", get(market::prices::<B>))
        .route("/auctions", get(market::auctions::<B>))
        .route("/auctions/{id}", get(market::auction::<B>))
        .route("/jobs", get(jobs::list::<B>).post(jobs::submit::<B>))
        .route("/jobs/{id}", get(jobs::describe::<B>))
        .route("/jobs/{id}/why", get(jobs::why::<B>))
        .route("/jobs/{id}/logs", get(jobs::logs::<B>))
        .route("/jobs/{id}/cancel", post(jobs::cancel::<B>))
        .route("/jobs/{id}/files/{rank}/{*path}", get(content::file::<B>))
        .route("/ledger/balance", get(ledger::balance::<B>))
        .route("/ledger/transfer", post(ledger::transfer::<B>))
        .route("/ledger/close", post(ledger::close::<B>))
        .route("/ledger/bank", get(ledger::bank::<B>))
        .route("/ledger/history", get(ledger::history::<B>))
        .route("/ledger/head", get(ledger::head::<B>))
        .route("/ledger/headers", get(ledger::headers::<B>))
        .route("/ledger/blocks/{height}", get(ledger::block::<B>))
        .route("/ledger/blocks/{height}/effects", get(ledger::effects::<B>))
        .route_layer(middleware::from_fn_with_state(keys, idempotency::once))
        // Uploads are cut off by their own bound, while they are streamed.
        .route("/content", put(content::upload::<B>));
    Router::new()
        .nest("/api/v1", v1)
        .route("/metrics", get(node::metrics::<B>))
        .route(HEALTH, get(node::health))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .with_state(shared)
}

async fn unknown() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "no such address",
        "addresses begin with /api/v1",
    )
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        ErrorCode::WrongMethod,
        "this address does not take this method",
        "the header Allow names those that it takes",
    )
}
