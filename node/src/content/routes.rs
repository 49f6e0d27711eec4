//! Uploads, which are streamed.

use super::types::Staged;
use super::uploads::Uploads;
use crate::api::document::Routes;
use crate::api::extract::Reply;
use crate::api::intake::announced;
use crate::api::{ApiError, ErrorCode};
use crate::backend::Node;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use futures::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use std::io;

/// Addresses of this noun. Uploads are cut off by their own bound, while they are streamed.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("content")
        .put(
            "/content",
            "Stages a file for a job; its length is announced",
            upload,
        )
        .put(
            "/content/update",
            "Stages an update for an owned node; its length is announced",
            upload_update,
        )
}

/// `PUT /content`.
async fn upload(State(node): State<Node>, headers: HeaderMap, body: Body) -> Reply<Staged> {
    take(&node, &node.uploads, &headers, body).await
}

/// `PUT /content/update`: an update that goes to an appliance.
async fn upload_update(State(node): State<Node>, headers: HeaderMap, body: Body) -> Reply<Staged> {
    take(&node, &node.updates, &headers, body).await
}

/// An upload announces its length, so that no hash is begun over what cannot be kept.
async fn take(node: &Node, uploads: &Uploads, headers: &HeaderMap, body: Body) -> Reply<Staged> {
    let Some(bytes) = announced(headers) else {
        return Err(ApiError::new(
            ErrorCode::Usage,
            "an upload announces its length",
            "send Content-Length",
        ));
    };
    let most = node.parts.limits.content;
    if bytes > most {
        return Err(ApiError::new(
            ErrorCode::TooLarge,
            format!("{bytes} bytes, one file has at most {most}"),
            "split it, or raise limits.content",
        ));
    }
    let pieces = body.into_data_stream().map_err(io::Error::other);
    node.acknowledges()?;
    uploads
        .take(bytes, exactly(bytes, pieces).boxed())
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
