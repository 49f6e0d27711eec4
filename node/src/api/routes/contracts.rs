//! Contracts.

use super::{Reply, Shared};
use crate::api::Backend;
use crate::api::extract::{Place, parse};
use crate::api::types::{Contract, ContractWord};
use axum::Json;
use axum::extract::State;

pub(super) async fn list<B: Backend>(State(at): State<Shared<B>>) -> Reply<Vec<Contract>> {
    at.backend.contracts().await.map(Json)
}

pub(super) async fn sign<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<Contract> {
    say(at, &id, ContractWord::Sign).await
}

pub(super) async fn close<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<Contract> {
    say(at, &id, ContractWord::Close).await
}

async fn say<B: Backend>(at: Shared<B>, id: &str, word: ContractWord) -> Reply<Contract> {
    let id = parse(id, "contract id")?;
    at.backend.say(id, word).await.map(Json)
}
