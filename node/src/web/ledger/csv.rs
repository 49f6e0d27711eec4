//! The last movements as a file: that of `gridbay ledger statement -o csv`, without older ones.

use super::MOST;
use crate::backend::Node;
use crate::ledger::statement::csv;
use crate::web::failure::Failure;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The handler.
pub(in crate::web) async fn download(State(node): State<Node>) -> Result<Response, Failure> {
    let movements = node.latest(None, MOST).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"gridbay-statement.csv\"",
        ),
    ];
    // A statement begins with the oldest one.
    Ok((headers, csv::file(movements.iter().rev())).into_response())
}
