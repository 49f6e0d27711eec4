//! Contracts.

use super::types::{Contract, ContractWord};
use crate::api::extract::{Place, Reply, parse};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/contracts", get(list))
        .route("/contracts/{id}/sign", post(sign))
        .route("/contracts/{id}/close", post(close))
}

async fn list(State(node): State<Node>) -> Reply<Vec<Contract>> {
    node.contracts().await.map(Json)
}

async fn sign(State(node): State<Node>, Place(id): Place<String>) -> Reply<Contract> {
    say(node, &id, ContractWord::Sign).await
}

async fn close(State(node): State<Node>, Place(id): Place<String>) -> Reply<Contract> {
    say(node, &id, ContractWord::Close).await
}

async fn say(node: Node, id: &str, word: ContractWord) -> Reply<Contract> {
    let id = parse(id, "contract id")?;
    node.say(id, word).await.map(Json)
}
