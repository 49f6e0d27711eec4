//! Plans.

use super::types::PlanView;
use crate::api::document::Routes;
use crate::api::extract::{Lines, Whole};
use crate::backend::Node;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("offers").get(
        "/plans",
        "Lists the plans of offers that take jobs by deadlines",
        plans,
    )
}

async fn plans(State(node): State<Node>) -> Whole<PlanView> {
    node.plans().await.map(Lines)
}
