//! The bank's publications.

use super::types::BankReport;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new().route("/ledger/bank", get(bank))
}

async fn bank(State(node): State<Node>) -> Reply<BankReport> {
    node.bank().await.map(Json)
}
