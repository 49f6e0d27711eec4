//! All movements as a file: that of `gridbay ledger statement -o csv`.

use crate::backend::Node;
use crate::ledger::statement::csv;
use crate::web::failure::Failure;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The handler.
pub(in crate::web) async fn download(State(node): State<Node>) -> Result<Response, Failure> {
    let statement = node.statement(None, None, None).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"gridbay-statement.csv\"",
        ),
    ];
    Ok((headers, csv::file(statement.movements.iter())).into_response())
}
