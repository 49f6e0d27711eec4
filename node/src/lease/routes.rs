//! Leases.

use super::types::{LeaseNet, LeaseView};
use crate::api::extract::{Place, Reply};
use crate::backend::Node;
use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/leases", get(list))
        .route("/leases/{id}", get(show))
        .route("/leases/{id}/net", get(net))
        .route("/leases/{id}/connect", post(connect))
        .route("/leases/{id}/disconnect", post(disconnect))
}

async fn list(State(node): State<Node>) -> Reply<Vec<LeaseView>> {
    node.leases().await.map(Json)
}

async fn show(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.lease(id).await.map(Json)
}

async fn net(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseNet> {
    node.lease_net(id).await.map(Json)
}

async fn connect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, true).await.map(Json)
}

async fn disconnect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, false).await.map(Json)
}
