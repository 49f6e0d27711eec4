//! Leases.

use super::types::{LeaseNet, LeaseView};
use crate::api::ApiError;
use crate::api::extract::{Params, Place, Reply};
use crate::backend::Node;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/leases", get(list))
        .route("/leases/{id}", get(show))
        .route("/leases/{id}/net", get(net))
        .route("/leases/{id}/stream", post(stream))
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    /// A member and a port, such as `rank0:8080`.
    to: String,
}

async fn stream(
    State(node): State<Node>,
    Place(id): Place<String>,
    Params(To { to }): Params<To>,
    request: Request,
) -> Result<Response, ApiError> {
    super::stream::upgrade(&node, id, &to, request).await
}

async fn connect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, true).await.map(Json)
}

async fn disconnect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, false).await.map(Json)
}
