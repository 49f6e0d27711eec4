//! Auctions.

use super::types::{AuctionProof, AuctionSummary};
use crate::api::extract::{Params, Place, Reply, lines, parse};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use gridbay_protocol::ids::Hash32;
use serde::Deserialize;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/auctions", get(auctions))
        .route("/auctions/{id}", get(auction))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    class: Option<String>,
    limit: Option<usize>,
}

async fn auctions(
    State(node): State<Node>,
    Params(which): Params<Which>,
) -> Reply<Vec<AuctionSummary>> {
    let limit = lines(which.limit);
    node.auctions(which.class, limit).await.map(Json)
}

async fn auction(State(node): State<Node>, Place(id): Place<String>) -> Reply<AuctionProof> {
    let id: Hash32 = parse(&id, "auction id")?;
    node.auction(id.to_hex()).await.map(Json)
}
