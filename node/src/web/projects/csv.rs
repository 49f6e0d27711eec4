//! The movements of a project as a file: that of `gridbay ledger statement --project -o csv`.

use super::period::Fields;
use crate::backend::Node;
use crate::ledger::statement::csv;
use crate::web::failure::Failure;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};

/// The handler.
pub(in crate::web) async fn download(
    State(node): State<Node>,
    Path(name): Path<String>,
    Query(fields): Query<Fields>,
) -> Result<Response, Failure> {
    // Its name, which the file has too, is that of a project from here on.
    let name = node.project(&name).await?.name;
    let period = fields.or_this_month().meant()?;
    let times = (Some(period.from_ms), period.to_ms);
    let statement = node.statement_of(None, times, Some(name.clone())).await?;
    let attached = format!("attachment; filename=\"gridbay-{name}.csv\"");
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, attached),
    ];
    Ok((headers, csv::file(statement.movements.iter())).into_response())
}
