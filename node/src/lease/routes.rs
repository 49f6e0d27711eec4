//! Leases.

use super::types::{LeaseNet, LeaseView};
use crate::api::ApiError;
use crate::api::document::Routes;
use crate::api::document::parts::Switched;
use crate::api::extract::{Listed, Params, Place, Reply};
use crate::api::page::Window;
use crate::backend::Node;
use axum::Json;
use axum::extract::{Request, State};
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("leases")
        .get("/leases", "Lists the leases of this node", list)
        .get("/leases/{id}", "Shows a lease", show)
        .get(
            "/leases/{id}/net",
            "Shows the private network of a lease",
            net,
        )
        .post(
            "/leases/{id}/stream",
            "Turns the connection into one to a port of a member of the network",
            stream,
        )
        .post(
            "/leases/{id}/connect",
            "Joins the network of a lease",
            connect,
        )
        .post(
            "/leases/{id}/disconnect",
            "Leaves the network of a lease",
            disconnect,
        )
}

async fn list(State(node): State<Node>, Params(window): Params<Window>) -> Listed<LeaseView> {
    let asked = window.of("leases")?;
    let all = node.leases().await?;
    Ok(asked.of_all(all, |view| view.lease.0))
}

async fn show(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.lease(id).await.map(Json)
}

async fn net(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseNet> {
    node.lease_net(id).await.map(Json)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct To {
    /// A member and a port, such as `rank0:8080`.
    to: String,
}

async fn stream(
    State(node): State<Node>,
    Place(id): Place<String>,
    Params(To { to }): Params<To>,
    request: Request,
) -> Result<Switched, ApiError> {
    let answer = super::stream::upgrade(&node, id, &to, request).await;
    answer.map(Switched)
}

async fn connect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, true).await.map(Json)
}

async fn disconnect(State(node): State<Node>, Place(id): Place<String>) -> Reply<LeaseView> {
    node.attend(id, false).await.map(Json)
}
