//! Files that a job brought back, which are streamed.

use crate::api::document::parts::Octets;
use crate::api::extract::{Place, parse};
use crate::api::{ApiError, ErrorCode};
use crate::backend::Node;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use futures::stream::{self, Stream};
use gridbay_protocol::job::path_is_inside;
use std::io;
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncReadExt as _;

/// Bytes read from a file at once.
const PIECE: usize = 64 * 1024;

/// `GET /jobs/{id}/files/{rank}/{path}`.
pub(super) async fn file(
    State(node): State<Node>,
    Place((id, rank, path)): Place<(String, String, String)>,
) -> Result<Octets, ApiError> {
    let rank = parse(&rank, "rank")?;
    if !path_is_inside(&path) {
        return Err(ApiError::new(
            ErrorCode::Usage,
            format!("`{path}` leaves the job's folder"),
            "name a file as in the job's outputs",
        ));
    }
    let id = node.meant_job(id).await?;
    let place = node.file(id, rank, path).await?;
    let gone = |error: io::Error| {
        let why = format!("the file cannot be read: {error}");
        ApiError::new(ErrorCode::NotFound, why, "see gridbay job describe")
    };
    // A job can name a link as its result; the target of the link is not its result.
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
    let answer = (headers, Body::from_stream(pieces(file, meta.len())));
    Ok(Octets(answer.into_response()))
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
