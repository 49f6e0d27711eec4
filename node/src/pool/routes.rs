//! Pools.

use super::types::PoolView;
use crate::api::document::Routes;
use crate::api::extract::{Lines, Whole};
use crate::backend::Node;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("market").get(
        "/pools",
        "Lists the pools, with the shares of all claims on them",
        pools,
    )
}

async fn pools(State(node): State<Node>) -> Whole<PoolView> {
    node.pools().await.map(Lines)
}
