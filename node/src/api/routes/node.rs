//! The node itself, and invitations.

use super::{Reply, Shared};
use crate::api::extract::Body;
use crate::api::types::{Invite, InviteRequest, NodeStatus};
use crate::api::{ApiError, Backend};
use crate::doctor::Finding;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

pub(super) async fn status<B: Backend>(State(at): State<Shared<B>>) -> Reply<NodeStatus> {
    at.backend.node().await.map(Json)
}

pub(super) async fn drain<B: Backend>(State(at): State<Shared<B>>) -> Reply<NodeStatus> {
    at.backend.drain().await.map(Json)
}

pub(super) async fn stop<B: Backend>(State(at): State<Shared<B>>) -> Result<StatusCode, ApiError> {
    at.backend.stop().await.map(|()| StatusCode::ACCEPTED)
}

pub(super) async fn invite<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<InviteRequest>,
) -> Reply<Invite> {
    at.backend.invite(request).await.map(Json)
}

pub(super) async fn doctor<B: Backend>(State(at): State<Shared<B>>) -> Reply<Vec<Finding>> {
    at.backend.doctor().await.map(Json)
}

/// The process answers.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

pub(super) async fn metrics<B: Backend>(State(at): State<Shared<B>>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, at.backend.metrics().await)
}
