//! The address of the metrics, and the count of requests to all addresses.

use super::Meters;
use crate::backend::Node;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Instant;

/// Addresses of this noun, which are not below `/api`.
pub(crate) fn routes() -> Router<Node> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(node): State<Node>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, node.metrics().await)
}

/// The middleware that counts.
pub(crate) async fn count(
    State(meters): State<Arc<Meters>>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let begun = Instant::now();
    let response = next.run(request).await;
    let route = route.as_ref().map(MatchedPath::as_str);
    let requests = &meters.requests;
    requests.answered(route, response.status(), begun.elapsed());
    response
}
