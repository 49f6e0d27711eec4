//! The node itself.

use super::types::NodeStatus;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/node", get(status))
        .route("/node/drain", post(drain))
        .route("/node/stop", post(stop))
}

async fn status(State(node): State<Node>) -> Reply<NodeStatus> {
    node.node().await.map(Json)
}

async fn drain(State(node): State<Node>) -> Reply<NodeStatus> {
    node.drain().await.map(Json)
}

async fn stop(State(node): State<Node>) -> StatusCode {
    node.stop();
    StatusCode::ACCEPTED
}
