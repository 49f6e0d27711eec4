//! Invitations.

use super::types::{Invite, InviteRequest};
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::post;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new().route("/invitations", post(invite))
}

async fn invite(State(node): State<Node>, Body(request): Body<InviteRequest>) -> Reply<Invite> {
    node.invite(request).await.map(Json)
}
