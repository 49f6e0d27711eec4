//! Clusters that are held.

use super::carry;
use super::types::{ClusterKey, ClusterRecord, ClusterRequest, Enter, Guest, Ranks, VisitRecord};
use crate::api::ApiError;
use crate::api::document::Routes;
use crate::api::document::parts::{Made, Null, Switched};
use crate::api::extract::{Body, Listed, Params, Place, Reply};
use crate::api::page::Asked;
use crate::backend::Node;
use crate::job::routes::fresh_id;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("clusters")
        .get("/clusters", "Lists the clusters that are held", list)
        .post("/clusters", "Orders nodes to hold", new)
        .get("/clusters/key", "Shows the key that others admit", key)
        .get("/clusters/{id}", "Shows a cluster", show)
        .post("/clusters/{id}/end", "Gives a cluster back", end)
        .post(
            "/clusters/{id}/admit",
            "Lets another user run programs on a cluster",
            admit,
        )
        .post("/clusters/{id}/dismiss", "Takes that back", dismiss)
        .post(
            "/clusters/{id}/enter",
            "Enters the network of another user's cluster",
            enter,
        )
        .post("/clusters/{id}/leave", "Leaves it", leave)
        .get(
            "/clusters/{id}/ranks",
            "Counts the ranks of a cluster",
            ranks,
        )
        .post(
            "/clusters/{id}/ranks/{rank}",
            "Turns the connection into one to a rank",
            rank,
        )
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Present in any form: those that ended too.
    all: Option<String>,
    /// Lines at the most; all without it, and never more than 1,000.
    limit: Option<u32>,
    /// The header `gridbay-next` of the answer behind which these lines begin.
    #[param(min_length = 1, max_length = 528)]
    after: Option<String>,
}

async fn list(State(node): State<Node>, Params(which): Params<Which>) -> Listed<ClusterRecord> {
    let all = which.all.is_some_and(|text| text != "false");
    let filter = if all { "all" } else { "open" };
    let asked = Asked::of(&["clusters", filter], which.limit, which.after.as_deref())?;
    node.clusters_asked(all, &asked).await
}

async fn new(
    State(node): State<Node>,
    headers: HeaderMap,
    Body(request): Body<ClusterRequest>,
) -> Result<Made<ClusterRecord>, ApiError> {
    let record = node.hold(fresh_id(&headers)?, request).await?;
    Ok(Made(record))
}

async fn key(State(node): State<Node>) -> Json<ClusterKey> {
    Json(ClusterKey {
        key: node.parts.account_key.public(),
    })
}

async fn show(State(node): State<Node>, Place(id): Place<String>) -> Reply<ClusterRecord> {
    node.cluster(node.meant_cluster(id).await?).await.map(Json)
}

async fn end(State(node): State<Node>, Place(id): Place<String>) -> Reply<ClusterRecord> {
    node.give_up(node.meant_cluster(id).await?).await.map(Json)
}

async fn admit(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(guest): Body<Guest>,
) -> Reply<ClusterRecord> {
    node.admit(node.meant_cluster(id).await?, guest)
        .await
        .map(Json)
}

async fn dismiss(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(guest): Body<Guest>,
) -> Reply<ClusterRecord> {
    node.dismiss(node.meant_cluster(id).await?, guest)
        .await
        .map(Json)
}

async fn enter(
    State(node): State<Node>,
    Place(lease): Place<String>,
    Body(owner): Body<Enter>,
) -> Reply<VisitRecord> {
    node.enter(&lease, owner).await.map(Json)
}

async fn leave(State(node): State<Node>, Place(lease): Place<String>) -> Reply<Null> {
    node.leave(&lease).await?;
    Ok(Json(Null))
}

async fn ranks(State(node): State<Node>, Place(id): Place<String>) -> Reply<Ranks> {
    let (lease, size) = node.ranks(&id).await?;
    Ok(Json(Ranks { lease, size }))
}

/// The connection becomes one to the rank.
async fn rank(
    State(node): State<Node>,
    Place((id, rank)): Place<(String, u32)>,
    request: Request,
) -> Result<Switched, ApiError> {
    let answer = carry::upgrade(&node, &id, rank, request).await;
    answer.map(Switched)
}
