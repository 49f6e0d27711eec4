//! Invitations.

use super::types::{Invite, InviteRequest};
use crate::api::document::Routes;
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("invitations").post(
        "/invitations",
        "Makes an invitation, whose endowment is paid when it is used",
        invite,
    )
}

async fn invite(State(node): State<Node>, Body(request): Body<InviteRequest>) -> Reply<Invite> {
    node.invite(request).await.map(Json)
}
