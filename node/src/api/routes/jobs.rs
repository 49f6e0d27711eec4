//! Jobs.

use super::{Reply, Shared};
use crate::api::extract::{Body, Params, Place};
use crate::api::idempotency;
use crate::api::types::{JobId, JobRecord, JobRequest, Stream, Why};
use crate::api::{ApiError, Backend, ErrorCode};
use crate::keys::random;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;

/// Bytes of one piece of a log.
const LOG_PIECE: usize = 256 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Present in any form: those that ended too.
    all: Option<String>,
}

pub(super) async fn list<B: Backend>(
    State(at): State<Shared<B>>,
    Params(which): Params<Which>,
) -> Reply<Vec<JobRecord>> {
    let all = which.all.is_some_and(|text| text != "false");
    at.backend.jobs(all).await.map(Json)
}

pub(super) async fn submit<B: Backend>(
    State(at): State<Shared<B>>,
    headers: HeaderMap,
    Body(request): Body<JobRequest>,
) -> Result<impl IntoResponse, ApiError> {
    let record = at.backend.submit(fresh_id(&headers)?, request).await?;
    Ok((StatusCode::CREATED, Json(record)))
}

/// A job's id: of its idempotency key, so that a repeated request finds the job also after the node
/// was restarted; random without one.
fn fresh_id(headers: &HeaderMap) -> Result<JobId, ApiError> {
    let seed = match headers.get(idempotency::HEADER) {
        Some(key) => blake3::derive_key("gridbay/job-id/1", key.as_bytes()),
        None => random()
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), "try again"))?,
    };
    let mut id = [0; 8];
    id.copy_from_slice(&seed[..8]);
    Ok(JobId::from_bytes(id))
}

/// Parses the id in a path.
pub(super) fn job_id(text: String) -> Result<JobId, ApiError> {
    JobId::try_from(text)
        .map_err(|problem| ApiError::new(ErrorCode::Usage, problem, "see gridbay job list --all"))
}

pub(super) async fn describe<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<JobRecord> {
    at.backend.job(job_id(id)?).await.map(Json)
}

pub(super) async fn why<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<Why> {
    at.backend.why(job_id(id)?).await.map(Json)
}

pub(super) async fn cancel<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<JobRecord> {
    at.backend.cancel(job_id(id)?).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Piece {
    #[serde(default)]
    rank: u32,
    stream: Stream,
    #[serde(default)]
    from: u64,
}

pub(super) async fn logs<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
    Params(piece): Params<Piece>,
) -> Result<impl IntoResponse, ApiError> {
    let Piece { rank, stream, from } = piece;
    let id = job_id(id)?;
    let chunk = at.backend.logs(id, rank, stream, from, LOG_PIECE).await?;
    let headers = [
        (
            header::CONTENT_TYPE.as_str(),
            "application/octet-stream".to_owned(),
        ),
        ("gridbay-next-offset", chunk.next.to_string()),
        ("gridbay-last", chunk.last.to_string()),
    ];
    Ok((headers, chunk.bytes))
}
