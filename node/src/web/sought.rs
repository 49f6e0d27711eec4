//! Sellers' nodes that fit a query, within a time that a page can wait.

use crate::api::types::{FindReport, FindRequest};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use std::time::Duration;

/// How long a page waits for sellers that are not known here.
const PATIENCE: Duration = Duration::from_secs(4);

/// The nodes, and what each condition of the query did.
pub(super) async fn sought(node: &NodeBackend, query: &str) -> Answer<FindReport> {
    let request = FindRequest {
        query: query.to_owned(),
        limit: None,
        explain: true,
    };
    let late = |_| {
        let why = "the sellers that are not known here take long to answer";
        Err(ApiError::new(
            ErrorCode::Timeout,
            why,
            "ask again in a moment",
        ))
    };
    let report = tokio::time::timeout(PATIENCE, node.find(request)).await;
    report.unwrap_or_else(late)
}
