//! Metrics.

use crate::backend::Node;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// Addresses of this noun, which are not below `/api`.
pub(crate) fn routes() -> Router<Node> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(node): State<Node>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, node.metrics().await)
}
