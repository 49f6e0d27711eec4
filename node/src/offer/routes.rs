//! Offers.

use super::types::{Offer, OfferRequest};
use crate::api::document::Routes;
use crate::api::extract::{Body, Lines, Listed, Place, Reply, parse};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("offers")
        .get("/offers", "Lists the offers on the ledger", offers)
        .put("/offers", "Sets an own offer", set)
        .delete("/offers/{label}", "Withdraws an own offer", withdraw)
}

async fn offers(State(node): State<Node>) -> Listed<Offer> {
    node.offers().await.map(Lines)
}

async fn set(State(node): State<Node>, Body(request): Body<OfferRequest>) -> Reply<Offer> {
    node.set_offer(request).await.map(Json)
}

async fn withdraw(State(node): State<Node>, Place(label): Place<String>) -> Reply<Offer> {
    let label = parse(&label, "offer number")?;
    node.withdraw_offer(label).await.map(Json)
}
