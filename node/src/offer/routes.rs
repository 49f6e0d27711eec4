//! Offers.

use super::types::{Offer, OfferRequest};
use crate::api::extract::{Body, Place, Reply, parse};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::{delete, get};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/offers", get(offers).put(set))
        .route("/offers/{label}", delete(withdraw))
}

async fn offers(State(node): State<Node>) -> Reply<Vec<Offer>> {
    node.offers().await.map(Json)
}

async fn set(State(node): State<Node>, Body(request): Body<OfferRequest>) -> Reply<Offer> {
    node.set_offer(request).await.map(Json)
}

async fn withdraw(State(node): State<Node>, Place(label): Place<String>) -> Reply<Offer> {
    let label = parse(&label, "offer number")?;
    node.withdraw_offer(label).await.map(Json)
}
