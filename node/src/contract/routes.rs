//! Contracts.

use super::types::{Contract, ContractWord};
use crate::api::document::Routes;
use crate::api::extract::{Listed, Params, Place, Reply, parse};
use crate::api::page::Window;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("contracts")
        .get("/contracts", "Lists the contracts of this node", list)
        .post(
            "/contracts/{id}/sign",
            "Signs a contract as its provider",
            sign,
        )
        .post(
            "/contracts/{id}/close",
            "Requests no more jobs, or takes a proposal back",
            close,
        )
}

async fn list(State(node): State<Node>, Params(window): Params<Window>) -> Listed<Contract> {
    let asked = window.of("contracts")?;
    let all = node.contracts().await?;
    Ok(asked.of_all(all, |one| one.contract.0))
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
