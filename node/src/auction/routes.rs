//! Auctions.

use super::types::{AuctionProof, AuctionSummary};
use crate::api::document::Routes;
use crate::api::extract::{Lines, Listed, Params, Place, Reply, lines};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("auctions")
        .get(
            "/auctions",
            "Lists the last auctions, newest first",
            auctions,
        )
        .get("/auctions/{id}", "Shows an auction with its proof", auction)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Name of a class; all classes without it.
    class: Option<String>,
    /// Lines at the most; 20 without it, and never more than 1,000.
    limit: Option<u32>,
}

async fn auctions(
    State(node): State<Node>,
    Params(which): Params<Which>,
) -> Listed<AuctionSummary> {
    let limit = lines(which.limit);
    node.auctions(which.class, limit).await.map(Lines)
}

async fn auction(State(node): State<Node>, Place(id): Place<String>) -> Reply<AuctionProof> {
    let id = node.auction_meant(id).await?;
    node.auction(id).await.map(Json)
}
