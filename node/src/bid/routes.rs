//! Bids: suggestions, the bids that stand, and new prices for them.

use super::types::{AmendRequest, BidAdvice, BidWish, StandingBid};
use crate::api::extract::{Body, Place, Reply};
use crate::backend::Node;
use crate::job::job_id;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/bids", get(list))
        .route("/bids/{id}/amend", post(amend))
        .route("/bids/suggest", post(suggest))
}

async fn suggest(State(node): State<Node>, Body(wish): Body<BidWish>) -> Reply<BidAdvice> {
    node.suggest(wish).await.map(Json)
}

async fn list(State(node): State<Node>) -> Reply<Vec<StandingBid>> {
    node.bids().await.map(Json)
}

async fn amend(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(request): Body<AmendRequest>,
) -> Reply<StandingBid> {
    node.amend(job_id(id)?, request).await.map(Json)
}
