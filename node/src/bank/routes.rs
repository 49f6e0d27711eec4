//! The bank's publications.

use super::types::BankReport;
use crate::api::document::Routes;
use crate::api::extract::Reply;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("ledger").get("/ledger/bank", "Shows the publications of the bank", bank)
}

async fn bank(State(node): State<Node>) -> Reply<BankReport> {
    node.bank().await.map(Json)
}
