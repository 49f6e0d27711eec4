//! Jobs.

use super::files::file;
use super::logs::Output;
use super::types::{JobId, JobRecord, JobRequest, Stream, Why};
use crate::api::document::Routes;
use crate::api::document::parts::{Made, Octets};
use crate::api::extract::{Body, Listed, Params, Place, Reply};
use crate::api::page::Asked;
use crate::api::scope::Role;
use crate::api::{ApiError, ErrorCode, idempotency};
use crate::backend::Node;
use crate::keys::random;
use crate::project::Actor;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("jobs")
        .get("/jobs", "Lists own jobs, newest first", list)
        .post("/jobs", "Sends an order with its job", submit)
        .get("/jobs/{id}", "Shows an own job", describe)
        .get("/jobs/{id}/why", "Explains the state of a job", why)
        .get(
            "/jobs/{id}/logs",
            "Reads a piece of a stream of a rank: the headers gridbay-next-offset, gridbay-last and gridbay-present-attempt tell the next offset, whether nothing follows, and the present attempt",
            logs,
        )
        .post("/jobs/{id}/cancel", "Ends a job", cancel)
        .get("/jobs/{id}/files/{rank}/{*path}", "Reads a file that a rank brought back", file)
}

/// Tells the present attempt; absent of a rank that has not run yet.
const PRESENT: &str = "gridbay-present-attempt";
/// Bytes of one piece of a log.
const LOG_PIECE: usize = 256 * 1024;

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

impl Which {
    fn all(&self) -> bool {
        self.all.as_ref().is_some_and(|text| text != "false")
    }
    fn asked(&self) -> Result<Asked, ApiError> {
        let ended = if self.all() { "all" } else { "open" };
        Asked::of(&["jobs", ended], self.limit, self.after.as_deref())
    }
}

async fn list(
    State(node): State<Node>,
    Extension(actor): Extension<Actor>,
    Params(which): Params<Which>,
) -> Listed<JobRecord> {
    let book = &node.parts.projects;
    let seen = |job: &JobRecord| actor.may(book, job.project.as_deref(), Role::Reader);
    node.jobs_asked(which.all(), &which.asked()?, seen).await
}

async fn submit(
    State(node): State<Node>,
    headers: HeaderMap,
    Extension(actor): Extension<Actor>,
    Body(request): Body<JobRequest>,
) -> Result<Made<JobRecord>, ApiError> {
    let record = node.submit_for(&actor, fresh_id(&headers)?, request);
    let record = record.await?;
    Ok(Made(record))
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
    node.job(node.meant_job(id).await?).await.map(Json)
}

async fn why(State(node): State<Node>, Place(id): Place<String>) -> Reply<Why> {
    node.why(node.meant_job(id).await?).await.map(Json)
}

async fn cancel(State(node): State<Node>, Place(id): Place<String>) -> Reply<JobRecord> {
    node.cancel(node.meant_job(id).await?).await.map(Json)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Piece {
    /// Rank; 0 without it.
    #[serde(default)]
    rank: u32,
    /// Which stream.
    #[param(inline)]
    stream: Stream,
    /// Offset of the first byte; 0 without it.
    #[serde(default)]
    from: u64,
    /// An earlier attempt; the present one if `None`.
    attempt: Option<u32>,
}

async fn logs(
    State(node): State<Node>,
    Place(id): Place<String>,
    Params(piece): Params<Piece>,
) -> Result<Octets, ApiError> {
    let id = node.meant_job(id).await?;
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
    let answer = (headers, present.map(AppendHeaders), chunk.bytes);
    Ok(Octets(answer.into_response()))
}
