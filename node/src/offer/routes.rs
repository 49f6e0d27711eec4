//! Offers.

use super::types::{Offer, OfferRequest};
use crate::api::document::Routes;
use crate::api::extract::{Body, Listed, Params, Place, Reply, parse};
use crate::api::page::Window;
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

async fn offers(State(node): State<Node>, Params(window): Params<Window>) -> Listed<Offer> {
    let asked = window.of("offers")?;
    let all = node.offers().await?;
    Ok(asked.of_all(all, place))
}

/// The list is sorted by class, account and label; no name of a class has a zero in it.
fn place(offer: &Offer) -> Vec<u8> {
    let class = offer.class.as_bytes();
    let label = offer.label.to_be_bytes();
    [class, &[0][..], &offer.account.0[..], &label[..]].concat()
}

async fn set(State(node): State<Node>, Body(request): Body<OfferRequest>) -> Reply<Offer> {
    node.set_offer(request).await.map(Json)
}

async fn withdraw(State(node): State<Node>, Place(label): Place<String>) -> Reply<Offer> {
    let label = parse(&label, "offer number")?;
    node.withdraw_offer(label).await.map(Json)
}
