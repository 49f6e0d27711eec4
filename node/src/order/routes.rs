//! Orders before they are sent: their quotes.

use super::quote::Quote;
use super::types::{Prospect, Want, Wish};
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::post;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/quote", post(quote))
        .route("/prospects", post(prospects))
}

async fn quote(State(node): State<Node>, Body(want): Body<Want>) -> Reply<Quote> {
    node.quote(want).await.map(Json)
}

async fn prospects(State(node): State<Node>, Body(wish): Body<Wish>) -> Reply<Vec<Prospect>> {
    node.prospects(wish).await.map(Json)
}
