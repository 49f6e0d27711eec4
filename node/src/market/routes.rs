//! Prices, and sellers by a query.

use super::types::{ClassPrice, FindReport, FindRequest};
use crate::api::document::Routes;
use crate::api::extract::{Body, Lines, Reply, Whole};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("market")
        .get("/prices", "Lists supply and prices of all classes", prices)
        .post("/find", "Finds sellers by a query", find)
}

async fn find(State(node): State<Node>, Body(request): Body<FindRequest>) -> Reply<FindReport> {
    node.find(request).await.map(Json)
}

async fn prices(State(node): State<Node>) -> Whole<ClassPrice> {
    node.prices().await.map(Lines)
}
