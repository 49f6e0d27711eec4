//! Files: uploads before a job, results after it. Both are streamed.

use super::jobs::job_id;
use super::{Reply, Shared};
use crate::api::extract::{Place, parse};
use crate::api::intake::announced;
use crate::api::types::Staged;
use crate::api::{ApiError, Backend, ErrorCode};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use futures::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use gridbay_protocol::job::path_is_inside;
use std::io;
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncReadExt as _;

/// Bytes read from a file at once.
const PIECE: usize = 64 * 1024;

/// `PUT /content`: announces its length, so that no hash is begun over what cannot be kept.
pub(super) async fn upload<B: Backend>(
    State(at): State<Shared<B>>,
    headers: HeaderMap,
    body: Body,
) -> Reply<Staged> {
    let Some(bytes) = announced(&headers) else {
        return Err(ApiError::new(
            ErrorCode::Usage,
            "an upload announces its length",
            "send Content-Length",
        ));
    };
    if bytes > at.content_bytes {
        let most = at.content_bytes;
        return Err(ApiError::new(
            ErrorCode::TooLarge,
            format!("{bytes} bytes, one file has at most {most}"),
            "split it, or raise limits.content",
        ));
    }
    let pieces = body.into_data_stream().map_err(io::Error::other);
    at.backend
        .put_content(bytes, exactly(bytes, pieces).boxed())
        .await
        .map(Json)
}

/// The stream, ended with an error unless it brings exactly `bytes` bytes.
fn exactly(
    bytes: u64,
    pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let wrong = || io::Error::other("another number of bytes than announced");
    stream::try_unfold(
        (Box::pin(pieces), bytes),
        move |(mut pieces, left)| async move {
            match pieces.try_next().await? {
                None if left == 0 => Ok(None),
                None => Err(wrong()),
                Some(piece) => {
                    let left = left.checked_sub(piece.len() as u64).ok_or_else(wrong)?;
                    Ok(Some((piece, (pieces, left))))
                }
            }
        },
    )
}

/// `GET /jobs/{id}/files/{rank}/{path}`.
pub(super) async fn file<B: Backend>(
    State(at): State<Shared<B>>,
    Place((id, rank, path)): Place<(String, String, String)>,
) -> Result<impl IntoResponse, ApiError> {
    let (id, rank) = (job_id(id)?, parse(&rank, "rank")?);
    if !path_is_inside(&path) {
        return Err(ApiError::new(
            ErrorCode::Usage,
            format!("`{path}` leaves the job's folder"),
            "name a file as in the job's outputs",
        ));
    }
    let place = at.backend.file(id, rank, path).await?;
    let gone = |error: io::Error| {
        let why = format!("the file cannot be read: {error}");
        ApiError::new(ErrorCode::NotFound, why, "see gridbay job describe")
    };
    // A job can name a link as its result; what the link points to is not its result.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(place).await.map_err(gone)?;
    let meta = file.metadata().await.map_err(gone)?;
    if !meta.is_file() {
        return Err(gone(io::ErrorKind::InvalidInput.into()));
    }
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, meta.len().to_string()),
    ];
    Ok((headers, Body::from_stream(pieces(file, meta.len()))))
}

fn pieces(file: File, bytes: u64) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold(file.take(bytes), |mut file| async move {
        let mut piece = Vec::with_capacity(PIECE);
        let read = (&mut file)
            .take(PIECE as u64)
            .read_to_end(&mut piece)
            .await?;
        Ok((read > 0).then(|| (Bytes::from(piece), file)))
    })
}
