//! Jobs.

use super::files::file;
use super::job_id;
use super::logs::Output;
use super::types::{JobId, JobRecord, JobRequest, Stream, Why};
use crate::api::extract::{Body, Params, Place, Reply};
use crate::api::{ApiError, ErrorCode, idempotency};
use crate::backend::Node;
use crate::keys::random;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{get, post};
use serde::Deserialize;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/jobs", get(list).post(submit))
        .route("/jobs/{id}", get(describe))
        .route("/jobs/{id}/why", get(why))
        .route("/jobs/{id}/logs", get(logs))
        .route("/jobs/{id}/cancel", post(cancel))
        .route("/jobs/{id}/files/{rank}/{*path}", get(file))
}

/// Tells the present attempt; absent of a rank that has not run yet.
const PRESENT: &str = "gridbay-present-attempt";
/// Bytes of one piece of a log.
const LOG_PIECE: usize = 256 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Present in any form: those that ended too.
    all: Option<String>,
}

async fn list(State(node): State<Node>, Params(which): Params<Which>) -> Reply<Vec<JobRecord>> {
    let all = which.all.is_some_and(|text| text != "false");
    node.jobs(all).await.map(Json)
}

async fn submit(
    State(node): State<Node>,
    headers: HeaderMap,
    Body(request): Body<JobRequest>,
) -> Result<impl IntoResponse, ApiError> {
    let record = node.submit(fresh_id(&headers)?, request).await?;
    Ok((StatusCode::CREATED, Json(record)))
}

/// A job's id: of its idempotency key, so that a repeated request finds the job also after the node
/// was restarted; random without one.
pub(crate) fn fresh_id(headers: &HeaderMap) -> Result<JobId, ApiError> {
    let seed = match headers.get(idempotency::HEADER) {
        Some(key) => blake3::derive_key("gridbay/job-id/1", key.as_bytes()),
        None => random()
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), "try again"))?,
    };
    let mut id = [0; 8];
    id.copy_from_slice(&seed[..8]);
    Ok(JobId::from_bytes(id))
}

async fn describe(State(node): State<Node>, Place(id): Place<String>) -> Reply<JobRecord> {
    node.job(job_id(id)?).await.map(Json)
}

async fn why(State(node): State<Node>, Place(id): Place<String>) -> Reply<Why> {
    node.why(job_id(id)?).await.map(Json)
}

async fn cancel(State(node): State<Node>, Place(id): Place<String>) -> Reply<JobRecord> {
    node.cancel(job_id(id)?).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    #[serde(default)]
    rank: u32,
    stream: Stream,
    #[serde(default)]
    from: u64,
    /// An earlier attempt; the present one if `None`.
    attempt: Option<u32>,
}

async fn logs(
    State(node): State<Node>,
    Place(id): Place<String>,
    Params(piece): Params<Piece>,
) -> Result<impl IntoResponse, ApiError> {
    let id = job_id(id)?;
    let from = piece.from;
    let which = Output {
        rank: piece.rank,
        stream: piece.stream,
        attempt: piece.attempt,
    };
    let chunk = node.logs(id, which, from, LOG_PIECE).await?;
    let headers = [
        (
            header::CONTENT_TYPE.as_str(),
            "application/octet-stream".to_owned(),
        ),
        ("gridbay-next-offset", chunk.next.to_string()),
        ("gridbay-last", chunk.last.to_string()),
    ];
    let present = chunk.present.map(|n| [(PRESENT, n.to_string())]);
    Ok((headers, present.map(AppendHeaders), chunk.bytes))
}
