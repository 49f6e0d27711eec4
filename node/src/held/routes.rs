//! Clusters that are held.

use super::carry;
use super::types::{ClusterKey, ClusterRecord, ClusterRequest, Enter, Guest, Ranks, VisitRecord};
use crate::api::ApiError;
use crate::api::extract::{Body, Params, Place, Reply};
use crate::backend::Node;
use crate::job::job_id;
use crate::job::routes::fresh_id;
use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/clusters", get(list).post(new))
        .route("/clusters/key", get(key))
        .route("/clusters/{id}", get(show))
        .route("/clusters/{id}/end", post(end))
        .route("/clusters/{id}/admit", post(admit))
        .route("/clusters/{id}/dismiss", post(dismiss))
        .route("/clusters/{id}/enter", post(enter))
        .route("/clusters/{id}/leave", post(leave))
        .route("/clusters/{id}/ranks", get(ranks))
        .route("/clusters/{id}/ranks/{rank}", post(rank))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Present in any form: those that ended too.
    all: Option<String>,
}

async fn list(State(node): State<Node>, Params(which): Params<Which>) -> Reply<Vec<ClusterRecord>> {
    let all = which.all.is_some_and(|text| text != "false");
    node.clusters(all).await.map(Json)
}

async fn new(
    State(node): State<Node>,
    headers: HeaderMap,
    Body(request): Body<ClusterRequest>,
) -> Result<impl IntoResponse, ApiError> {
    let record = node.hold(fresh_id(&headers)?, request).await?;
    Ok((StatusCode::CREATED, Json(record)))
}

async fn key(State(node): State<Node>) -> Json<ClusterKey> {
    Json(ClusterKey {
        key: node.parts.account_key.public(),
    })
}

async fn show(State(node): State<Node>, Place(id): Place<String>) -> Reply<ClusterRecord> {
    node.cluster(job_id(id)?).await.map(Json)
}

async fn end(State(node): State<Node>, Place(id): Place<String>) -> Reply<ClusterRecord> {
    node.give_up(job_id(id)?).await.map(Json)
}

async fn admit(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(guest): Body<Guest>,
) -> Reply<ClusterRecord> {
    node.admit(job_id(id)?, guest).await.map(Json)
}

async fn dismiss(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(guest): Body<Guest>,
) -> Reply<ClusterRecord> {
    node.dismiss(job_id(id)?, guest).await.map(Json)
}

async fn enter(
    State(node): State<Node>,
    Place(lease): Place<String>,
    Body(owner): Body<Enter>,
) -> Reply<VisitRecord> {
    node.enter(&lease, owner).await.map(Json)
}

async fn leave(State(node): State<Node>, Place(lease): Place<String>) -> Reply<()> {
    node.leave(&lease).await.map(Json)
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
) -> Result<Response, ApiError> {
    carry::upgrade(&node, &id, rank, request).await
}
