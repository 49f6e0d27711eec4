//! Alerts.

use super::types::{AlertList, AlertTried};
use crate::api::document::Routes;
use crate::api::extract::{Lines, Listed, Reply};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("alerts")
        .get(
            "/alerts",
            "Shows the alerts that are open, and how the ways by which they leave the node fare",
            list,
        )
        .post(
            "/alerts/test",
            "Sends a test by each way once, and tells whether it arrived",
            test,
        )
}

async fn list(State(node): State<Node>) -> Reply<AlertList> {
    node.parts.alerts.list().await.map(Json)
}

async fn test(State(node): State<Node>) -> Listed<AlertTried> {
    node.parts.alerts.test().await.map(Lines)
}
