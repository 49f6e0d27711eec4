//! Prices, and sellers by a query.

use super::types::{ClassPrice, FindReport, FindRequest};
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/prices", get(prices))
        .route("/find", post(find))
}

async fn find(State(node): State<Node>, Body(request): Body<FindRequest>) -> Reply<FindReport> {
    node.find(request).await.map(Json)
}

async fn prices(State(node): State<Node>) -> Reply<Vec<ClassPrice>> {
    node.prices().await.map(Json)
}
