//! The address of the findings on the node's network.

use super::Finding;
use crate::api::document::Routes;
use crate::api::extract::{Lines, Whole};
use crate::backend::Node;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("doctor").get(
        "/doctor",
        "Tells what is wrong with the network of this node",
        doctor,
    )
}

async fn doctor(State(node): State<Node>) -> Whole<Finding> {
    node.doctor().await.map(Lines)
}
