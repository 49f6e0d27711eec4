//! Alerts.

use super::types::{AlertList, AlertTried};
use crate::api::ApiError;
use crate::api::document::Routes;
use crate::api::document::parts::Parted;
use crate::api::extract::{Lines, Params, Whole};
use crate::api::page::{Page, Window};
use crate::backend::Node;
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

async fn list(
    State(node): State<Node>,
    Params(window): Params<Window>,
) -> Result<Parted<AlertList>, ApiError> {
    let asked = window.of("alerts")?;
    let AlertList { open, ways } = node.parts.alerts.list().await?;
    let Page { lines, next } = asked.of_all(open, |alert| alert.number.to_be_bytes());
    let open = lines;
    Ok(Parted(AlertList { open, ways }, next))
}

async fn test(State(node): State<Node>) -> Whole<AlertTried> {
    node.parts.alerts.test().await.map(Lines)
}
