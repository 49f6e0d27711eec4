//! The address of the findings on the node's network.

use super::Finding;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new().route("/doctor", get(doctor))
}

async fn doctor(State(node): State<Node>) -> Reply<Vec<Finding>> {
    node.doctor().await.map(Json)
}
