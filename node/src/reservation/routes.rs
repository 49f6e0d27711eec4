//! Reservations.

use super::types::ReservationWindow;
use crate::api::document::Routes;
use crate::api::extract::{Lines, Whole};
use crate::backend::Node;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("market").get(
        "/reservations",
        "Lists what is free ahead of time and what is booked, by class",
        windows,
    )
}

async fn windows(State(node): State<Node>) -> Whole<ReservationWindow> {
    node.reservations().await.map(Lines)
}
