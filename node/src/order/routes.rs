//! Orders before they are sent: their quotes.

use super::quote::Quote;
use super::types::{Prospect, Want, Wish};
use crate::api::document::Routes;
use crate::api::extract::{Body, Lines, Reply, Whole};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("orders")
        .post(
            "/quote",
            "Tells what an order would cost, and sends nothing",
            quote,
        )
        .post(
            "/prospects",
            "Tells what a wish would cost under each mechanism",
            prospects,
        )
}

async fn quote(State(node): State<Node>, Body(want): Body<Want>) -> Reply<Quote> {
    node.quote(want).await.map(Json)
}

async fn prospects(State(node): State<Node>, Body(wish): Body<Wish>) -> Whole<Prospect> {
    node.prospects(wish).await.map(Lines)
}
