//! The federation.

use super::types::Federation;
use crate::api::document::Routes;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("federation").get(
        "/federation",
        "Shows members, validators and rules of the network",
        federation,
    )
}

async fn federation(State(node): State<Node>) -> Reply<Federation> {
    node.federation().await.map(Json)
}
