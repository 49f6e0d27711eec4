//! All addresses of the API: those of each noun, side by side.

use crate::api::idempotency::{self, Keys};
use crate::api::intake::HEALTH;
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::{
    auction, bank, bid, content, contract, doctor, held, invite, job, lease, ledger, market,
    metrics, node, offer, order, peer,
};
use axum::routing::get;
use axum::{Router, middleware};
use std::sync::Arc;

/// All addresses, answered by `node`.
pub fn router(node: Arc<NodeBackend>) -> Router {
    let v1 = Router::new()
        .merge(node::routes::routes())
        .merge(invite::routes::routes())
        .merge(doctor::routes::routes())
        .merge(peer::routes::routes())
        .merge(offer::routes::routes())
        .merge(contract::routes::routes())
        .merge(order::routes::routes())
        .merge(bid::routes::routes())
        .merge(market::routes::routes())
        .merge(auction::routes::routes())
        .merge(job::routes::routes())
        .merge(lease::routes::routes())
        .merge(held::routes::routes())
        .merge(ledger::routes::routes())
        .merge(bank::routes::routes())
        .route_layer(middleware::from_fn_with_state(
            Keys::default(),
            idempotency::once,
        ))
        .merge(content::routes::routes());
    Router::new()
        .nest("/api/v1", v1)
        .merge(metrics::routes::routes())
        .route(HEALTH, get(health))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .with_state(node)
}

/// The process answers.
async fn health() -> &'static str {
    "ok\n"
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
